import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectFolder } from './project-folder.ts'

/** Why there is no pseudo terminal here; undefined where there is one. */
export function noTerminal(): string | undefined {
  return spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'no python3 with pty here'
}

interface Size {
  readonly columns: number
  readonly rows?: number
  /** After that long the window gets this many columns. */
  readonly resize?: { readonly after_ms: number; readonly columns: number }
  readonly env?: Readonly<Record<string, string>>
}

/** Everything a line wrote to a terminal of that size, sequences and all. */
export async function onTerminal(project: ProjectFolder, line: string, size: Size): Promise<string> {
  const { columns, rows = 24, resize = { after_ms: 0, columns }, env = {} } = size
  const program = join(project.folder, '..', 'terminal.py')
  writeFileSync(program, PROGRAM)
  const args = [rows, columns, resize.after_ms, resize.columns].join(' ')
  const { out, err } = await project.run(`python3 ${program} ${args} '${line}'`, {
    TERM: 'xterm-256color',
    CI: '',
    NO_COLOR: '',
    FORCE_COLOR: '',
    ...env,
  })
  if (err !== '') throw new Error(err)
  return out
}

const PROGRAM = `import fcntl, os, pty, select, struct, sys, termios, time
rows, columns, after, later = map(int, sys.argv[1:5])

def size(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

pid, fd = pty.fork()
if pid == 0:
    size(0, columns)
    os.execvp("bash", ["bash", "--norc", "-c", sys.argv[5]])
begun = time.time()
while True:
    if after and time.time() - begun > after / 1000:
        size(fd, later)
        after = 0
    try:
        if select.select([fd], [], [], 0.05)[0]:
            sys.stdout.buffer.write(os.read(fd, 65536))
    except OSError:
        break
sys.stdout.flush()
os.waitpid(pid, 0)
`
