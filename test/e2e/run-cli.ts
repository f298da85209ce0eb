import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CommandLine, Done } from './command-host.ts'

export type { Done }

interface Given {
  readonly stdin?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Of `spawnSluice`; default: the Node that runs the tests. */
  readonly node?: string
}

const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))

const HOST = fileURLToPath(new URL('./command-host.ts', import.meta.url))

/** A process that runs command lines, and what the programs they start write past it to its stderr. */
interface Host {
  readonly child: ChildProcess
  readonly beside: string
}
const resting: Host[] = []

/** Runs a command line of `sluice` in a process that has run others before (command-host.ts). */
export async function sluice(args: readonly string[], { stdin = '', cwd, env }: Given = {}): Promise<Done> {
  const line: CommandLine = {
    args,
    cwd: cwd ?? process.cwd(),
    env: { ...process.env, SLUICE_URL: '', SLUICE_TOKEN: '', ...env },
    stdin,
  }
  const host = resting.pop() ?? newHost()
  const { child, beside } = host
  const before = readFileSync(beside, 'utf8').length
  const done = await new Promise<Done>((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => {
      const words = readFileSync(beside, 'utf8').slice(before)
      reject(new Error(`sluice ${args.join(' ')} ended its process: ${code}. ${words}`))
    })
    child.send(line)
  })
  child.removeAllListeners('exit')
  resting.push(host)
  return { ...done, err: done.err + readFileSync(beside, 'utf8').slice(before) }
}

function newHost(): Host {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-host-'))
  const beside = join(folder, 'stderr')
  const file = openSync(beside, 'a')
  const child = fork(HOST, { stdio: ['ignore', 'inherit', file, 'ipc'] })
  closeSync(file)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { child, beside }
}

/** Runs `sluice ..` as a stranger would: a process of its own, from its first module to its end. */
export async function spawnSluice(args: readonly string[], { stdin = '', cwd, env, node }: Given = {}): Promise<Done> {
  const child = spawn(node ?? process.execPath, [BIN, ...args], {
    stdio: 'pipe',
    env: { ...process.env, SLUICE_URL: '', SLUICE_TOKEN: '', ...env },
    ...(cwd !== undefined && { cwd }),
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.end(stdin)
  const [code] = await once(child, 'close')
  return { code, out, err }
}

/** The lines of an NDJSON answer. */
export function jsonLines(text: string): readonly unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** A command that goes on: its first line of stdout was one JSON object. */
export interface Started {
  readonly first: Readonly<Record<string, unknown>>
  readonly ended: Promise<number | null>
  /** Sends the signal, waits for the end and answers the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** `keep`: what it says on stderr is told only when it does not come up. */
export async function startSluice(
  args: readonly string[],
  cwd: string,
  stderr: 'show' | 'keep' = 'show',
): Promise<Started> {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000)
    if (stderr === 'show') process.stderr.write(text)
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (line === undefined) throw new Error(`sluice ${args.join(' ')} ended with code ${await ended}. ${said}`)
  return {
    first: JSON.parse(line),
    ended,
    stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}
