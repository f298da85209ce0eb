import { spawn } from 'node:child_process'
import { once } from 'node:events'

interface Typing {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Keys, each once the terminal shows the words before them. */
  readonly types: readonly (readonly [words: string, keys: string])[]
  /** Told all that is shown by then, each time there is more. */
  shows?(shown: string): void
}

/** Keys as a terminal sends them. */
export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'

/** Runs a program on a terminal of 100 columns on which somebody types: its exit code, and all that was shown. */
export async function typeOnTerminal(command: readonly string[], { cwd, env, types, shows }: Typing) {
  const child = spawn('python3', ['-c', PROGRAM, JSON.stringify({ command, types })], {
    cwd,
    env: { ...process.env, TERM: 'xterm-256color', CI: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    shows?.(shown)
  })
  const [code] = await once(child, 'close')
  return { code: Number(code), shown: shown.replaceAll('\r\n', '\n') }
}

const PROGRAM = `import fcntl, json, os, pty, select, struct, sys, termios
told = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    os.execvp(told["command"][0], told["command"])
seen, types = b"", told["types"]
while True:
    try:
        if select.select([fd], [], [], 0.05)[0]:
            part = os.read(fd, 65536)
            seen += part
            sys.stdout.buffer.write(part)
            sys.stdout.flush()
    except OSError:
        break
    if types and types[0][0].encode() in seen:
        seen = seen.split(types[0][0].encode(), 1)[1]
        os.write(fd, types.pop(0)[1].encode())
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
`
