import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import * as z from 'zod'
import type { ShellAnswer } from '../../shared/gates/gate-ports.ts'
import { shellRefusal } from '../../shared/gates/gate-ports.ts'
import { functionHandler } from '../handler.ts'

const CommandSchema = z.strictObject({
  argv: z.array(z.string()).min(1).max(100),
  timeout_ms: z.int().min(1).max(300_000),
})

/** The function of shell gates: it runs what the operator's list allows, with no right but to log. */
export const handler = functionHandler({
  name: 'shell-gate',
  input: CommandSchema,
  run: async (command, { settings }): Promise<ShellAnswer> => {
    const refusal = shellRefusal(settings.shell_gates, command.argv)
    return refusal === undefined ? runCommand(command, settings.shell_gates.path) : { kind: 'refused', reason: refusal }
  },
})

/** Bytes of standard output, and of standard error; a command that writes more is killed. */
const MAX_OUTPUT_BYTES = 65_536
/** A grandchild that left the group may hold the pipes open; they are let go after this. */
const AFTER_END_MS = 500

/**
 * Runs one command: words and no shell, no standard input, no environment (PATH if the operator gave one), in a new
 * folder that is thrown away, in a process group of its own that is killed with it. Never throws for what it does.
 */
export async function runCommand(
  { argv, timeout_ms }: { readonly argv: readonly string[]; readonly timeout_ms: number },
  path: string | undefined,
): Promise<ShellAnswer> {
  if (process.platform === 'win32') return { kind: 'refused', reason: 'shell gates need Linux or macOS' }
  const cwd = await mkdtemp(join(tmpdir(), 'sluice-shell-'))
  try {
    return await run(argv, { cwd, timeout_ms, env: path === undefined ? {} : { PATH: path } })
  } catch (error) {
    return { kind: 'killed', reason: `the command was not started: ${wordsOf(error, argv)}` }
  } finally {
    // What it took the rights away from stays until the operating system clears its temporary files.
    await rm(cwd, { recursive: true, force: true }).catch(() => undefined)
  }
}

interface Limits {
  readonly cwd: string
  readonly timeout_ms: number
  readonly env: Readonly<Record<string, string>>
}

type Child = ChildProcessByStdio<null, Readable, Readable>

function run([file = '', ...words]: readonly string[], { cwd, timeout_ms, env }: Limits): Promise<ShellAnswer> {
  const child: Child = spawn(file, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const killed: { reason?: string } = {}
  const kill = (reason: string): void => {
    killed.reason ??= reason
    killGroup(child)
  }
  const output = [child.stdout, child.stderr].map((stream) => collect(stream, kill))
  const timer = setTimeout(() => kill(`it ran longer than ${timeout_ms} ms`), timeout_ms)
  RUNNING.add(child)
  child.once('exit', () => letGo(child))
  const ended = new Promise<ShellAnswer>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit_code, signal) => {
      const [stdout = '', stderr = ''] = output.map((text) => text())
      if (killed.reason !== undefined) resolve({ kind: 'killed', reason: killed.reason })
      else if (exit_code === null) resolve({ kind: 'killed', reason: `it was ended by ${signal}` })
      else resolve({ kind: 'ended', exit_code, stdout, stderr })
    })
  })
  return ended.finally(() => {
    clearTimeout(timer)
    RUNNING.delete(child)
  })
}

/** A process that ends must not leave a command behind. */
const RUNNING = new Set<Child>()
process.once('exit', () => RUNNING.forEach(killGroup))

/** The command has ended: what it left behind ends too, and nobody waits for pipes that something still holds. */
function letGo(child: Child): void {
  killGroup(child)
  const timer = setTimeout(() => {
    child.stdout.destroy()
    child.stderr.destroy()
  }, AFTER_END_MS)
  child.once('close', () => clearTimeout(timer))
}

/** The command and all it started, those that left its process group apart. */
function killGroup({ pid }: Child): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of the group is left.
  }
}

function collect(stream: Readable, kill: (reason: string) => void): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
    if (bytes > MAX_OUTPUT_BYTES) kill(`it wrote more than ${MAX_OUTPUT_BYTES} bytes`)
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString()
}

function wordsOf(error: unknown, argv: readonly string[]): string {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT') return String(code)
  return `there is no program ${JSON.stringify(argv[0])} here; without shell_gates.path only /bin and /usr/bin are searched`
}
