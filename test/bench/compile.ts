import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { decomposeOrder } from '../../shared/compile/contract-modules.ts'
import type { Steps } from '../../shared/compile/steps.ts'
import type { Upstream } from '../../shared/compile/topological-order.ts'
import { figuresOf, startsOf } from '../machines/play-steps.ts'
import { publicDags } from '../machines/public-dags.ts'
import { FAMILIES, type RandomDag, randomDag, randomFrom } from '../machines/random-dags.ts'
import { reduceTransitively } from '../unit/compile/reduce-transitively.ts'
import { printTimes } from './compile-times.ts'
import { flatLanes, pathCover } from './flat-lanes.ts'
import { levels } from './levels.ts'
import { bytesPerBlock } from './machine-bytes.ts'
import { plainHybrid } from './plain-hybrid.ts'

/**
 * The compiler against other ways to turn the same DAGs into machines: `npm run bench:compile`. Shapes are random
 * families of 5 to 1,000 blocks and DAGs of public workflows; then how long compiling takes, up to 10,000 blocks.
 * A makespan is virtual time with no overhead and unlimited parallelism over random durations, as a ratio to the
 * critical path. Figures are means over DAGs, a block, without the states every machine has.
 */
const SIZES = [5, 10, 20, 50, 100, 200, 500, 1_000]
const STRATEGIES: readonly (readonly [string, (upstream: Upstream) => Steps])[] = [
  ['sluice', decomposeOrder],
  ['plain hybrid', plainHybrid],
  ['path cover', pathCover],
  ['flat lanes with joins', flatLanes],
  ['a Parallel a level', levels],
]

interface Row {
  readonly makespan: number
  readonly exact: boolean
  readonly transitions: number
  readonly events: number
  readonly joins: number
  readonly parallels: number
  readonly signals: number
}

async function main(): Promise<void> {
  if (!existsSync(join(import.meta.dirname, 'node_modules'))) {
    process.stderr.write('LangGraph is not installed: npm ci --prefix test/bench\n')
    process.exit(2)
  }
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`)
  const families = Object.keys(FAMILIES).flatMap((family) => SIZES.map((n) => randomDag(family, n, n)))
  const shapes = publicDags()
  const systems = new Set(shapes.map(({ system }) => system))
  compare(`${families.length} random DAGs of ${Object.keys(FAMILIES).length} families, 5 to 1,000 blocks`, families)
  compare(
    `${shapes.length} DAGs of public workflows written for ${systems.size} systems`,
    shapes.map(({ source, upstream }) => ({ name: source, upstream })),
  )
  await printTimes(shapes, print)
}

function compare(title: string, dags: readonly RandomDag[]): void {
  print(`\n${title}`)
  print('                         makespan   worst  exact  transitions  events   joins  Parallels  signals')
  const reduced = dags.map(({ upstream }) => reduceTransitively(upstream))
  const all = STRATEGIES.map(([name, strategy]) => ({ name, rows: reduced.map((one) => measure(one, strategy(one))) }))
  for (const { name, rows } of all) {
    const exact = rows.filter((row) => row.exact).length
    const worst = Math.max(...rows.map(({ makespan }) => makespan))
    const head = `${mean(rows, 'makespan').toFixed(3).padStart(10)}${worst.toFixed(2).padStart(8)}${String(exact).padStart(7)}`
    const tail = `${figure(rows, 'transitions', 13)}${figure(rows, 'events', 8)}${figure(rows, 'joins', 8)}`
    print(`  ${name.padEnd(21)}${head}${tail}${figure(rows, 'parallels', 11)}${figure(rows, 'signals', 9)}`)
  }
  const [ours, hybrid] = all
  const ratio = (key: keyof Omit<Row, 'exact'>) => mean(ours?.rows ?? [], key) / mean(hybrid?.rows ?? [], key)
  print(`  sluice / plain hybrid: transitions ${ratio('transitions').toFixed(3)}, events ${ratio('events').toFixed(3)}`)
  const bytes = dags.map(({ upstream }) => bytesPerBlock(upstream))
  print(`  sluice: ${Math.round(bytes.reduce((sum, one) => sum + one, 0) / bytes.length)} bytes a block, ARNs bound`)
  const twoTerminal = all[0]?.rows.filter((_, i) => all[1]?.rows[i]?.joins === 0) ?? []
  print(
    `  series-parallel: ${twoTerminal.length} DAGs, joins ${twoTerminal.reduce((sum, { joins }) => sum + joins, 0)}`,
  )
}

function measure(upstream: Upstream, steps: Steps): Row {
  const random = randomFrom(upstream.length)
  const durations = upstream.map(() => 1 + Math.floor(random() * 1_000))
  const starts = startsOf(steps, durations)
  const best = startsOf(levelsOfOne(upstream), durations)
  const end = (from: readonly number[]) => Math.max(0, ...durations.map((ms, v) => (from[v] ?? Number.NaN) + ms))
  const { transitions, events, joins, parallels, signals } = figuresOf(steps)
  const a = (value: number) => value / upstream.length
  return {
    makespan: end(starts) / end(best),
    exact: best.every((at, v) => starts[v] === at),
    transitions: a(transitions),
    events: a(events),
    joins: a(joins),
    parallels: a(parallels),
    signals: a(signals),
  }
}

/** Every block alone behind a join for all it waits for: by definition the critical path. */
function levelsOfOne(upstream: Upstream): Steps {
  const lane = (block: number, sources: readonly number[]): Steps =>
    sources.length === 0
      ? [{ kind: 'block', block }]
      : [
          { kind: 'wait', join: { before: block, sources } },
          { kind: 'block', block },
        ]
  return [{ kind: 'par', branches: upstream.map((sources, v) => lane(v, sources)) }]
}

function mean(rows: readonly Row[], key: keyof Omit<Row, 'exact'>): number {
  return rows.reduce((sum, row) => sum + row[key], 0) / rows.length
}

function figure(rows: readonly Row[], key: keyof Omit<Row, 'exact'>, width: number): string {
  return mean(rows, key).toFixed(3).padStart(width)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
