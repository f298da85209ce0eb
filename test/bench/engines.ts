import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Durability } from '../../shared/settings/settings.ts'
import { ENGINES } from './engines/engine.ts'
import { type Engine, killEngines, startEngine } from './engines/engine-process.ts'
import { keptRuns, type Load, measureRound, type Round, TooSlow } from './engines/measure.ts'
import { header, type Measured, rowsOf } from './engines/rows.ts'
import { ENGINE_SHAPES } from './shapes.ts'

/**
 * The local place beside other durable engines, over HTTP: `npm run bench:engines`. Two classes, equally durable within
 * one: `normal` (a commit survives the end of the process, a power cut may take the last ones) and `full` (a commit waits
 * for the disk). Each engine is a process of its own, idle while others are measured; every round measures all of them,
 * and who is first changes. Blocks do nothing. `-- --rounds N --shape diamond,chain --only sluice,dbos --durability full`.
 * Exit code 1: a run was wrong or lost, or the local place did not start.
 */
const LOADS: readonly (readonly [shape: string, clients: number, runs: number])[] = [
  ['diamond', 1, 100],
  ['diamond', 8, 200],
  ['diamond', 32, 320],
  ['chain', 1, 10],
  ['chain', 8, 32],
  ['fan', 1, 6],
  ['fan', 8, 16],
  ['woven', 1, 2],
]
/** Between two engines: what the one before still writes is not the next one's. */
const REST_MS = 200

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    shape: { type: 'string' },
    only: { type: 'string' },
    durability: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const shapes = chosen(
  'shape',
  ENGINE_SHAPES.map(({ name }) => name),
  values.shape,
)
const names = chosen('only', Object.keys(ENGINES), values.only)
const classes = chosen('durability', ['normal', 'full'], values.durability)
const folder = mkdtempSync(join(tmpdir(), 'sluice-engines-'))
// PostgreSQL has an account of its own where this runs as root.
chmodSync(folder, 0o711)
const running = new Set<Engine>()
let failed = false
let interrupted = false

async function main(): Promise<void> {
  if (!(Number.isInteger(rounds) && rounds > 0)) refuse(`--rounds is a whole number above 0, not ${values.rounds}`)
  if (['.', 'engines'].some((path) => !existsSync(join(import.meta.dirname, path, 'node_modules')))) {
    refuse('The engines are not installed: npm ci --prefix test/bench && npm ci --prefix test/bench/engines')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  // The one way out: by itself, by a signal, by an error nobody expected.
  process.on('exit', leaveNothing)
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${rounds} rounds after one to warm up`)
  for (const durability of classes) await compare(durability === 'full' ? 'full' : 'normal')
  process.exitCode = failed ? 1 : 0
}

async function compare(durability: Durability): Promise<void> {
  print(`\n## durability ${durability}\n`)
  const engines = await startAll(durability)
  try {
    const loads = LOADS.flatMap(([name, clients, runs]): Load[] => {
      const shape = ENGINE_SHAPES.find((one) => one.name === name)
      return shape === undefined || !shapes.includes(name) ? [] : [{ shape, clients, runs }]
    })
    const expected = new Map<string, number>()
    await warmUp(engines, expected)
    print(`\n${header()}`)
    for (const load of loads) await compareLoad(engines, load, expected)
    for (const load of loads) await checkKept(engines, load, expected)
  } finally {
    await stopAll()
  }
}

async function stopAll(): Promise<void> {
  await Promise.all([...running].map(({ stop }) => stop()))
  running.clear()
}

/** The second time at once. */
function interrupt(): void {
  if (interrupted) process.exit(130)
  interrupted = true
  void stopAll().finally(() => process.exit(130))
}

async function startAll(durability: Durability): Promise<readonly Engine[]> {
  const engines: Engine[] = []
  for (const name of names.filter((one) => ENGINES[one]?.includes(durability))) {
    try {
      const engine = await startEngine(name, durability, folder)
      engines.push(engine)
      running.add(engine)
      print(`- ${name}: ${engine.served.version}. ${engine.served.durable}`)
    } catch (error) {
      print(`- ${name}: skipped, ${messageOf(error)}`)
      if (name === 'sluice') failed = true
    }
  }
  return engines
}

async function compareLoad(engines: readonly Engine[], load: Load, expected: Map<string, number>): Promise<void> {
  const seen = new Map(engines.map((engine): [Engine, Round[]] => [engine, []]))
  const before = loadavg()[0] ?? 0
  for (let round = 0; round <= rounds; round += 1) {
    for (const engine of inTurn(engines, round)) {
      const kept = seen.get(engine)
      const measured = kept && (await measuredRound(engine, load, expected))
      if (measured === undefined) seen.delete(engine)
      else if (round > 0) kept?.push(measured)
    }
  }
  print(
    rowsOf(
      load,
      [...seen].map(([{ name }, measured]): Measured => ({ name, rounds: measured })),
    ),
  )
  process.stderr.write(`load average ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after\n`)
}

function inTurn(engines: readonly Engine[], round: number): readonly Engine[] {
  const first = round % Math.max(1, engines.length)
  return [...engines.slice(first), ...engines.slice(0, first)]
}

/** Compilers of engines in JavaScript need some hundred runs. */
async function warmUp(engines: readonly Engine[], expected: Map<string, number>): Promise<void> {
  const [shape] = ENGINE_SHAPES
  if (shape === undefined) return
  for (const engine of engines) await measuredRound(engine, { shape, clients: 8, runs: 300 }, expected)
}

/** Undefined: it is measured no further in this load, and that is said. */
async function measuredRound(engine: Engine, load: Load, expected: Map<string, number>): Promise<Round | undefined> {
  try {
    const round = await measureRound(engine, load)
    const key = `${engine.name} ${load.shape.name}`
    expected.set(key, (expected.get(key) ?? 0) + round.runs)
    await pause(REST_MS)
    return round
  } catch (error) {
    // The signal ends this process: what its engines no longer answer is nothing to tell.
    if (interrupted) return new Promise(() => {})
    const slow = error instanceof TooSlow
    if (!slow) failed = true
    print(
      `${engine.name}, ${load.shape.name}, ${load.clients} clients: ${slow ? 'left out' : 'WRONG'}, ${messageOf(error)}`,
    )
    return undefined
  }
}

/** What an engine said had ended is in its store. */
async function checkKept(engines: readonly Engine[], { shape }: Load, expected: Map<string, number>): Promise<void> {
  for (const engine of engines) {
    const runs = expected.get(`${engine.name} ${shape.name}`)
    if (runs === undefined) continue
    expected.delete(`${engine.name} ${shape.name}`)
    const kept = await keptRuns(engine, shape)
    if (kept < runs) failed = true
    print(
      `${engine.name}, ${shape.name}: ${kept} whole runs in its store, ${runs} answered${kept < runs ? ': LOST' : ''}`,
    )
  }
}

function leaveNothing(): void {
  killEngines()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function chosen(option: string, all: readonly string[], text: string | undefined): readonly string[] {
  const wanted = text?.split(',') ?? all
  const unknown = wanted.filter((name) => !all.includes(name))
  if (unknown.length > 0) refuse(`--${option} is some of ${all.join(', ')}, not ${unknown.join(', ')}`)
  return wanted
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
