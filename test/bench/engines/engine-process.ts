import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Durability } from '../../../shared/settings/settings.ts'
import type { Served, Told } from './engine.ts'

/** An engine that runs, in a group of processes of its own: Ctrl-C in a terminal reaches the bench alone, which ends it. */
export interface Engine {
  readonly name: string
  readonly served: Served
  /** Processor time of all its processes so far, in milliseconds; undefined where there is no /proc. */
  cpuMs(): number | undefined
  stop(): Promise<void>
}

const START_MS = 120_000
const STOP_MS = 20_000
/** Of the kernel's clock, in which /proc counts. */
const TICK_MS = 10
/** How to stop what is not known to have ended, by its group. */
const begun = new Map<number, () => Promise<void>>()

/** Also those that are still starting. */
export async function stopEngines(): Promise<void> {
  await Promise.all([...begun.values()].map((stop) => stop()))
}

/** At once and without a word: for the end of the bench, however it comes. */
export function killEngines(): void {
  for (const group of begun.keys()) killGroup(group)
}

/** An error says why the engine is not there. */
export async function startEngine(name: string, durability: Durability, parent: string): Promise<Engine> {
  const folder = join(parent, `${name}-${durability}`)
  mkdirSync(folder, { mode: 0o711 })
  const child = fork(join(import.meta.dirname, 'serve.ts'), [name, durability, folder], {
    detached: true,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const pid = child.pid ?? 0
  const stop = () => stopped(child, pid)
  if (pid > 0) begun.set(pid, stop)
  let complaints = ''
  child.stderr?.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-2_000)
  })
  const told = await firstWord(child)
  if ('served' in told) return { name, served: told.served, cpuMs: () => cpuMs(pid), stop }
  await stop()
  throw new Error([told.failed, complaints.trim()].filter((text) => text !== '').join('\n'))
}

async function firstWord(child: ChildProcess): Promise<Told> {
  const word = new Promise<Told>((resolve) => {
    // serve.ts sends nothing else.
    child.once('message', (message) => resolve(message as Told))
    child.once('error', ({ message }) => resolve({ failed: message }))
    child.once('exit', (code, signal) => resolve({ failed: `its process ended with ${signal ?? `code ${code}`}` }))
  })
  const late = pause(START_MS, { failed: `it did not start in ${START_MS / 1_000} s` }, { ref: false })
  return Promise.race([word, late])
}

async function stopped(child: ChildProcess, group: number): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await Promise.race([exit, pause(STOP_MS, undefined, { ref: false })])
  }
  killGroup(group)
  begun.delete(group)
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}

/** Of a process and all below it, those that have ended included. */
function cpuMs(root: number): number | undefined {
  let rows: readonly { pid: number; parent: number; ticks: number }[]
  try {
    rows = readdirSync('/proc').flatMap(stat)
  } catch {
    return undefined
  }
  const within = new Set([root])
  // Children have higher numbers but where numbers began anew: looked through until none is added.
  for (let before = 0; before !== within.size; ) {
    before = within.size
    for (const { pid, parent } of rows) if (within.has(parent)) within.add(pid)
  }
  return rows.filter(({ pid }) => within.has(pid)).reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0)
}

function stat(name: string) {
  if (!/^\d+$/.test(name)) return []
  try {
    // The name of the program, in brackets, may have anything in it.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    return [{ pid: Number(name), parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) }]
  } catch {
    return []
  }
}
