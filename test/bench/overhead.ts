import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALTERNATIVES } from './alternatives.ts'
import { type Shape, shapesOf } from './shapes.ts'
import { openSluice } from './sluice.ts'

/**
 * Microseconds a no-op block: the local place with durable events against LangGraph.js (without and with its SQLite
 * saver) and p-graph (in memory, keeps nothing), all in one process and one run. Median of ROUNDS after WARM_UPS
 * (the compiler of the engine needs them), the same for everybody.
 * `node test/bench/overhead.ts [blocks]`; goals: <= 0.35x LangGraph, <= 0.25x LangGraph with its saver.
 */
const ROUNDS = 7
const WARM_UPS = 5

async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'node_modules'))) {
    process.stderr.write('The alternatives are not installed: npm ci --prefix test/bench\n')
    process.exit(2)
  }
  const n = Number(process.argv[2] ?? 1_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  process.stdout.write(`${n} no-op blocks, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`)
  try {
    for (const shape of shapesOf(n)) await compare(shape, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(shape: Shape, folder: string): Promise<void> {
  const ours = await sluice(shape, folder)
  const rows = [
    `sluice (durable)          ${figure(ours.run)}   ${figure(ours.whole)} with parse, check, compile, start`,
  ]
  for (const alternative of ALTERNATIVES) {
    const run = await alternative.prepare(shape, folder)
    const theirs = await median(async () => {
      const started = performance.now()
      await run()
      return (performance.now() - started) * 1_000
    }, shape.n)
    rows.push(`${alternative.name.padEnd(25)} ${figure(theirs)}   sluice / this = ${(ours.run / theirs).toFixed(2)}x`)
  }
  process.stdout.write(`\n${shape.name}: microseconds a block\n  ${rows.join('\n  ')}\n`)
}

async function sluice(shape: Shape, folder: string): Promise<{ readonly run: number; readonly whole: number }> {
  const place = await openSluice(folder)
  const whole: number[] = []
  const run = await median(async () => {
    const measured = await place.run(shape)
    whole.push((measured.whole_ms * 1_000) / shape.n)
    return measured.run_ms * 1_000
  }, shape.n)
  await place.close()
  return { run, whole: middle(whole.slice(WARM_UPS)) }
}

/** Median over ROUNDS of what `once` answers in microseconds, a block; warming calls are left out. */
async function median(once: () => Promise<number>, blocks: number): Promise<number> {
  for (let round = 0; round < WARM_UPS; round += 1) await once()
  const seen: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) seen.push((await once()) / blocks)
  return middle(seen)
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function figure(micros: number): string {
  return micros.toFixed(1).padStart(8)
}

await main()
