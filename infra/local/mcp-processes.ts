import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import {
  type McpChannel,
  type McpConnection,
  NoAnswer,
  openConnection,
  type Trouble,
} from '../../functions/mcp/connection.ts'
import { withoutSecrets } from '../../functions/mcp/hide-secrets.ts'
import type { McpProcesses } from '../../functions/mcp/mcp-servers.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import { MCP_LIMITS } from '../../shared/tools/mcp-answers.ts'
import type { McpServerSettings } from '../../shared/tools/settings.ts'

interface Place {
  /** The folder of sluice.yaml: commands are started there. */
  readonly cwd: string
  /** Values of the variables that the settings name, by name. */
  readonly held: ReadonlyMap<string, string>
}

/**
 * Servers of stdio: one process each for the whole place, started by the first who asks and once more by the next one
 * after it ended. Of this place's environment it has what the settings name and nothing else. `close` ends them all, with
 * whatever they started in their own group.
 */
export function openMcpProcesses({ cwd, held }: Place): McpProcesses & { close(): Promise<void> } {
  const running = new Map<string, Promise<Running>>()
  let closed = false
  const secretsOf = ({ env }: McpServerSettings) =>
    env.filter((name) => SECRET_NAME.test(name)).flatMap((name) => held.get(name) ?? [])
  const start = (name: string, settings: McpServerSettings): Promise<Running> => {
    const env = Object.fromEntries(settings.env.flatMap((one) => (held.has(one) ? [[one, held.get(one) ?? '']] : [])))
    const starting = startServer(
      { command: settings.command ?? [], cwd, env, secrets: secretsOf(settings) },
      settings.timeout_ms,
    )
    running.set(name, starting)
    // One that did not come up is not kept.
    starting.catch(() => running.delete(name))
    return starting
  }
  return {
    async connection(name, settings) {
      if (closed) throw new NoAnswer({ kind: 'unreachable', words: 'this place is stopping' })
      const kept = running.get(name)
      const standing = kept === undefined ? undefined : (await kept).connection
      if (standing !== undefined && !standing.ended) return standing
      // Another caller may have started it anew meanwhile.
      const next = running.get(name)
      return (await (next === undefined || next === kept ? start(name, settings) : next)).connection
    },
    secrets: secretsOf,
    async close() {
      closed = true
      const all = await Promise.allSettled(running.values())
      running.clear()
      await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)))
    },
  }
}

/** Values of such variables are kept out of results; those of PATH and HOME are words of many. */
const SECRET_NAME = /(token|secret|passw|key|credential|auth|cookie)/i

interface Command {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

interface Running {
  readonly connection: McpConnection
  stop(): Promise<void>
}

/** A server of an earlier revision may end when it is asked what it does not know: then it is started once more. */
async function startServer(command: Command, ms: number): Promise<Running> {
  try {
    return await connect(command, ms, false)
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.trouble.kind !== 'broken') throw error
    return connect(command, ms, true)
  }
}

async function connect(command: Command, ms: number, legacy: boolean): Promise<Running> {
  const channel = new ProcessChannel(command)
  const bounds = { signal: AbortSignal.timeout(ms), ms }
  try {
    const connection = await openConnection(channel, bounds, legacy)
    return { connection, stop: () => channel.transport.close() }
  } catch (error) {
    await channel.transport.close()
    throw error
  }
}

/** Where programs are found, unless the settings name PATH. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'
/** How long a server has to end by itself. */
const END_MS = 1_000
/** What of its standard error is kept, to say why it ended. */
const STDERR_CHARACTERS = 2_000

class ProcessChannel implements McpChannel {
  readonly transport: ProcessTransport
  readonly secrets: readonly string[]

  constructor(command: Command) {
    this.secrets = command.secrets
    this.transport = new ProcessTransport(command)
  }

  trouble(): Trouble | undefined {
    return this.transport.why
  }
}

/** Lines of JSON over a process's standard input and output. */
class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Why it has ended. */
  why: Trouble | undefined
  // The client takes a transport with these two for one of stdio.
  readonly stderr = null
  get pid(): number | null {
    return this.#child?.pid ?? null
  }
  readonly #command: Command
  readonly #buffer = new ReadBuffer({ maxBufferSize: MCP_LIMITS.answer_bytes })
  #child: ChildProcessWithoutNullStreams | undefined
  #said = ''

  constructor(command: Command) {
    this.#command = command
  }

  async start(): Promise<void> {
    const { command, cwd, env } = this.#command
    const [program = '', ...args] = command
    const child = spawn(program, args, {
      cwd,
      env: { PATH: USUAL_PATH, LANG: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // The first of a group of its own: what it starts ends with it.
      detached: true,
    })
    this.#child = child
    child.stdin.on('error', () => undefined)
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString('utf8')}`.slice(-STDERR_CHARACTERS)
    })
    child.on('close', (code, signal) => this.#ended(`its process ended (${signal ?? `exit code ${code}`})`))
    const spawned = Promise.withResolvers<void>()
    child.on('spawn', () => spawned.resolve())
    child.on('error', (error) => {
      const { code } = error as { readonly code?: unknown }
      const missing =
        code === 'ENOENT'
          ? ': there is no such program. Its PATH is /usr/local/bin:/usr/bin:/bin, unless env names PATH'
          : ''
      this.#fail({
        kind: 'unreachable',
        words: `its command "${safeOneLine(program, 100)}" cannot be started (${String(code)})${missing}`,
      })
      spawned.reject(error)
    })
    await spawned.promise
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk)
    } catch {
      this.#fail({
        kind: 'broken',
        words: `it wrote a message larger than ${MCP_LIMITS.answer_bytes} bytes, and was ended`,
      })
      void this.close()
      return
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // A line that is no message: some servers write their log there.
        this.onerror?.(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  #ended(words: string): void {
    const said =
      this.#said.trim() === ''
        ? ''
        : `; it wrote: ${safeOneLine(withoutSecrets(this.#said, this.#command.secrets), 300)}`
    this.#fail({ kind: 'broken', words: `${words}${said}` })
    this.#child = undefined
    this.onclose?.()
  }

  #fail(trouble: Trouble): void {
    this.why ??= trouble
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child
    if (child === undefined) throw new NoAnswer(this.why ?? { kind: 'unreachable', words: 'its process has ended' })
    if (child.stdin.write(serializeMessage(message))) return
    // It reads no more: whoever asked waits no longer than their time.
    await new Promise<void>((resolve) => {
      child.stdin.once('drain', resolve)
      child.once('close', () => resolve())
    })
  }

  /** Its input ends, then it is asked to, then it is ended: it and its group. */
  async close(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    const { pid } = child
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.stdin.end()
    killGroup(pid, 'SIGTERM')
    const timer = setTimeout(() => killGroup(pid, 'SIGKILL'), END_MS)
    await gone
    clearTimeout(timer)
    // What it left behind in its group; what left the group holds its output, and is not waited for.
    killGroup(pid, 'SIGKILL')
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}
