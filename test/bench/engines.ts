import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Durability } from '../../shared/settings/settings.ts'
import { ENGINES } from './engines/engine.ts'
import { type Engine, killEngines, startEngine, stopEngines } from './engines/engine-process.ts'
import { keptRuns, type Load, measureRound, type Round, TooSlow, WrongRun } from './engines/measure.ts'
import { header, type Measured, rowsOf } from './engines/rows.ts'
import { ENGINE_SHAPES } from './shapes.ts'

/**
 * The local place beside other durable engines, over HTTP: `npm run bench:engines`. Two classes, equally durable within
 * one: `normal` (a commit survives the end of the process, a power cut may take the last ones) and `full` (a commit waits
 * for the disk). Each engine is a process of its own, idle while others are measured; every round measures all of them,
 * and who is first changes. Blocks do nothing. `-- --rounds N --shape diamond,chain --only sluice,dbos --durability full`.
 * Exit code 1: a run was wrong or lost, or the local place did not start.
 */
/** Short turns and more rounds: what else the machine does meets everybody alike. */
const LOADS: readonly (readonly [shape: string, clients: number, runs: number])[] = [
  ['diamond', 1, 40],
  ['diamond', 8, 80],
  ['diamond', 32, 160],
  ['chain', 1, 5],
  ['chain', 8, 16],
  ['fan', 1, 3],
  ['fan', 8, 8],
  ['woven', 1, 1],
]
/** A server runs for days: what its compiler needs of each load, some hundred runs, is not measured. */
const WARM_MS = 5_000
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
// The one way out: by itself, by a signal, by an error nobody expected.
process.on('exit', leaveNothing)
/** Those that answer. */
const running = new Set<Engine>()
/** Runs that were answered, by engine and shape. */
const answered = new Map<string, number>()
let failed = false
let interrupted = false

async function main(): Promise<void> {
  if (!(Number.isInteger(rounds) && rounds > 0)) refuse(`--rounds is a whole number above 0, not ${values.rounds}`)
  if (['.', 'engines'].some((path) => !existsSync(join(import.meta.dirname, path, 'node_modules')))) {
    refuse('The engines are not installed: npm ci --prefix test/bench && npm ci --prefix test/bench/engines')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  print(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${rounds} rounds of each load after ${WARM_MS / 1_000} s to warm up`,
  )
  for (const durability of classes) await compare(durability === 'full' ? 'full' : 'normal')
  process.exitCode = failed ? 1 : 0
}

async function compare(durability: Durability): Promise<void> {
  print(`\n## durability ${durability}\n`)
  const loads = LOADS.flatMap(([name, clients, runs]): Load[] => {
    const shape = ENGINE_SHAPES.find((one) => one.name === name)
    return shape === undefined || !shapes.includes(name) ? [] : [{ shape, clients, runs }]
  })
  try {
    await startAll(durability)
    print(`\n${header()}`)
    for (const load of loads) await compareLoad(load)
    print('')
    for (const engine of running) await checkKept(engine)
  } finally {
    answered.clear()
    running.clear()
    await stopEngines()
  }
}

/** The second time at once. */
function interrupt(): void {
  if (interrupted) process.exit(130)
  interrupted = true
  void stopEngines().finally(() => process.exit(130))
}

async function startAll(durability: Durability): Promise<void> {
  for (const name of names.filter((one) => ENGINES[one]?.includes(durability))) {
    try {
      const engine = await startEngine(name, durability, folder)
      running.add(engine)
      print(`- ${name}: ${engine.served.version}. ${engine.served.durable}`)
    } catch (error) {
      print(`- ${name}: skipped, ${messageOf(error)}`)
      if (name === 'sluice') failed = true
    }
  }
}

async function compareLoad(load: Load): Promise<void> {
  const engines = await warmedUp(load)
  const seen = new Map(engines.map((engine): [Engine, Round[]] => [engine, []]))
  const before = loadavg()[0] ?? 0
  for (let round = 0; round < rounds; round += 1) {
    for (const engine of inTurn(engines, round)) {
      const kept = seen.get(engine)
      const measured = kept && (await measuredRound(engine, load))
      if (measured === undefined) seen.delete(engine)
      else kept?.push(measured)
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

/** Those that answer as they must. */
async function warmedUp(load: Load): Promise<readonly Engine[]> {
  const warm: Engine[] = []
  for (const engine of [...running]) {
    const end = performance.now() + WARM_MS
    let answers = true
    do answers = (await measuredRound(engine, load)) !== undefined
    while (answers && performance.now() < end)
    if (answers) warm.push(engine)
  }
  return warm
}

function inTurn(engines: readonly Engine[], round: number): readonly Engine[] {
  const first = round % Math.max(1, engines.length)
  return [...engines.slice(first), ...engines.slice(0, first)]
}

/** Undefined: it is measured no further in this load, and that is said. */
async function measuredRound(engine: Engine, load: Load): Promise<Round | undefined> {
  const { name } = engine
  try {
    const round = await measureRound(engine, load)
    const key = `${name} ${load.shape.name}`
    answered.set(key, (answered.get(key) ?? 0) + round.runs)
    await pause(REST_MS)
    return round
  } catch (error) {
    // The signal ends this process: what its engines no longer answer is nothing to tell.
    if (interrupted) return new Promise(() => {})
    print(`${name}, ${load.shape.name}, ${load.clients} clients: left out, ${messageOf(error)}`)
    if (error instanceof WrongRun || name === 'sluice') failed = true
    if (!(error instanceof WrongRun || error instanceof TooSlow)) await leaveOut(engine)
    return undefined
  }
}

/** It does not answer, so it is asked no more. */
async function leaveOut(engine: Engine): Promise<void> {
  running.delete(engine)
  await engine.stop()
}

/** What an engine said had ended is in its store. */
async function checkKept(engine: Engine): Promise<void> {
  for (const shape of ENGINE_SHAPES) {
    const runs = answered.get(`${engine.name} ${shape.name}`)
    if (runs === undefined) continue
    const kept = await keptRuns(engine, shape).catch(() => Number.NaN)
    const whole = kept >= runs
    if (!whole) failed = true
    print(`- ${engine.name}, ${shape.name}: ${runs} runs answered, ${kept} whole in its store${whole ? '' : ': LOST'}`)
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
