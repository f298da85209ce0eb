import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Durability } from '../../shared/settings/settings.ts'
import { ALTERNATIVES } from './alternatives.ts'
import { type Shape, shapesOf } from './shapes.ts'
import { openSluice } from './sluice.ts'

/**
 * Microseconds a no-op block: the local place with durable events against LangGraph.js (without and with its SQLite
 * saver) and p-graph (in memory, keeps nothing), all in one process and one run. Median of ROUNDS after WARM_UPS
 * (the compiler of the engine needs them), the same for everybody.
 * `node test/bench/overhead.ts [blocks] [normal|full]`: ours and the saver are as durable as each other (SQLite's
 * synchronous NORMAL, or FULL: a commit waits for the disk). Goals: <= 0.35x LangGraph, <= 0.25x LangGraph with its saver.
 */
const ROUNDS = 7
const WARM_UPS = 5

async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'node_modules'))) {
    process.stderr.write('The alternatives are not installed: npm ci --prefix test/bench\n')
    process.exit(2)
  }
  const n = Number(process.argv[2] ?? 1_000)
  const durability = process.argv[3] === 'full' ? 'full' : 'normal'
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`
  process.stdout.write(`${n} no-op blocks, durability ${durability}, ${machine}\n`)
  try {
    for (const shape of shapesOf(n)) await compare(shape, folder, durability)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(shape: Shape, folder: string, durability: Durability): Promise<void> {
  const place = await openSluice(folder, durability)
  const ours = { run: [] as number[], whole: [] as number[] }
  const theirs = await Promise.all(
    ALTERNATIVES.map(async ({ name, prepare, durable }) => ({
      name,
      run: durable === undefined ? await prepare(shape, folder) : await durable(shape, folder, durability),
      seen: [] as number[],
    })),
  )
  // In turns, so that a machine that is slow for a while is slow for everybody.
  for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
    const { run_ms, whole_ms } = await place.run(shape)
    ours.run.push(micros(run_ms, shape))
    ours.whole.push(micros(whole_ms, shape))
    for (const { run, seen } of theirs) seen.push(micros(await timed(run), shape))
  }
  await place.close()
  const run = median(ours.run)
  const whole = median(ours.whole)
  const rows = theirs.map(({ name, seen }) => {
    const value = median(seen)
    return `${name.padEnd(25)} ${figure(value)}   sluice / this = ${(run / value).toFixed(2)}x`
  })
  const first = `sluice (durable)          ${figure(run)}   ${figure(whole)} with parse, check, compile, start`
  process.stdout.write(`\n${shape.name}: microseconds a block\n  ${[first, ...rows].join('\n  ')}\n`)
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

function micros(ms: number, shape: Shape): number {
  return (ms * 1_000) / shape.n
}

/** Of the rounds after the warming ones. */
function median(values: readonly number[]): number {
  const sorted = values.slice(WARM_UPS).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function figure(micros: number): string {
  return micros.toFixed(1).padStart(8)
}

await main()
