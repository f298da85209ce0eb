import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { publicDags } from '../machines/public-dags.ts'
import { randomDag, randomFrom, type Upstream } from '../machines/random-dags.ts'
import { ALTERNATIVES } from './alternatives.ts'
import type { Shape } from './shapes.ts'
import { openSluice } from './sluice.ts'

/**
 * Wall clock of whole runs, as a ratio to the critical path: blocks sleep 50 to 250 ms on real timers. The local place
 * with durable events against LangGraph.js and p-graph, in turns, in one process: `npm run bench:makespan`. Goal: mean
 * <= 1.02.
 */
const ROUNDS = 3
const FAMILIES = ['sparse', 'layered', 'ladder', 'grid', 'N', 'data pipeline', 'build and test', 'series-parallel']
const BLOCKS = 24
/** A public DAG of each system, the largest with no more blocks than this. */
const MOST_BLOCKS = 80
/** Its saver only makes LangGraph slower. */
const OTHERS = ALTERNATIVES.filter(({ name }) => name === 'langgraph' || name === 'p-graph')

interface Case {
  readonly shape: Shape
  readonly durations: readonly number[]
  readonly critical_ms: number
}

async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'node_modules'))) {
    process.stderr.write('The alternatives are not installed: npm ci --prefix test/bench\n')
    process.exit(2)
  }
  const cases = [...FAMILIES.map((family) => caseOf(family, randomDag(family, BLOCKS, 3).upstream)), ...publicCases()]
  print(`${cases.length} DAGs, blocks of 50 to 250 ms, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-makespan-'))
  try {
    await compare(cases, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function publicCases(): readonly Case[] {
  const bySystem = new Map<string, Case>()
  for (const { system, upstream } of publicDags()) {
    const known = bySystem.get(system)?.shape.n ?? 0
    if (upstream.length <= MOST_BLOCKS && upstream.length > known) bySystem.set(system, caseOf(system, upstream))
  }
  return [...bySystem.values()]
}

function caseOf(name: string, upstream: Upstream): Case {
  const random = randomFrom(upstream.length)
  const durations = upstream.map(() => 50 + Math.floor(200 * random()))
  const edges = upstream.flatMap((sources, v) => [...new Set(sources)].map((p): [number, number] => [p, v]))
  const ends: number[] = []
  const endOf = (v: number): number => {
    ends[v] ??= (durations[v] ?? 0) + Math.max(0, ...(upstream[v] ?? []).map(endOf))
    return ends[v] ?? 0
  }
  return {
    shape: { name, n: upstream.length, edges },
    durations,
    critical_ms: Math.max(...upstream.map((_, v) => endOf(v))),
  }
}

async function compare(cases: readonly Case[], folder: string): Promise<void> {
  const place = await openSluice(folder)
  const names = ['sluice', ...OTHERS.map(({ name }) => name)]
  print(`  ${''.padEnd(22)}blocks  critical ms${names.map((name) => name.padStart(14)).join('')}`)
  const all = names.map((): number[] => [])
  for (const one of cases) {
    const seen = await ratiosOf(one, folder, async () => (await place.run(one.shape, one.durations)).run_ms)
    for (const [i, ratio] of seen.entries()) all[i]?.push(ratio)
    const { name, n } = one.shape
    print(`  ${name.padEnd(22)}${String(n).padStart(6)}${String(one.critical_ms).padStart(13)}${row(seen)}`)
  }
  await place.close()
  print(
    `  ${'mean'.padEnd(41)}${row(all.map((ratios) => ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length))}`,
  )
}

/** Medians of ROUNDS, after one that warms up, everybody in turn. */
async function ratiosOf(one: Case, folder: string, ours: () => Promise<number>): Promise<readonly number[]> {
  const sleep = (block: number) => setTimeout(one.durations[block] ?? 0)
  const others = await Promise.all(OTHERS.map(({ prepare }) => prepare(one.shape, folder, sleep)))
  const runs = [ours, ...others.map((run) => () => timed(run))]
  const seen = runs.map((): number[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, run] of runs.entries()) {
      const ms = await run()
      if (round > 0) seen[i]?.push(ms / one.critical_ms)
    }
  }
  return seen.map((ratios) => ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? Number.NaN)
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

function row(ratios: readonly number[]): string {
  return ratios.map((ratio) => ratio.toFixed(3).padStart(14)).join('')
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
