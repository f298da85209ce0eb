import { compileDag } from '../../shared/compile/compile-dag.ts'
import { decomposeOrder } from '../../shared/compile/contract-modules.ts'
import type { Steps } from '../../shared/compile/steps.ts'
import type { PublicDag } from '../machines/public-dags.ts'
import { randomDag, type Upstream } from '../machines/random-dags.ts'
import { reduceTransitively } from '../unit/compile/reduce-transitively.ts'
import { buildLangGraph } from './build-langgraph.ts'
import { blocksOf } from './machine-bytes.ts'

/** Rounds whose median counts, after the same number that only warm up. */
const ROUNDS = 9
/** Families whose edges grow with their blocks; the others' grow with the square. */
const GROWING = ['chain', 'sparse', 'series-parallel', 'ladder', 'grid', 'N', 'data pipeline', 'build and test']
const GROWTH = [625, 1_250, 2_500, 5_000, 10_000]
const AGAINST = ['chain', 'sparse', 'dense', 'layered', 'series-parallel', 'grid', 'build and test']

/** How long compiling takes: how it grows, and against LangGraph's compile() of the same graph, in turns. */
export async function printTimes(shapes: readonly PublicDag[], print: (line: string) => void): Promise<void> {
  printGrowth('to find the steps', print, (upstream) => () => stepsOf(upstream))
  printGrowth('to compile', print, (upstream) => {
    const blocks = blocksOf(upstream)
    return () => compileDag({ blocks })
  })
  print("\ncompile time against LangGraph's: compile() alone, and with addNode and addEdge")
  const random = AGAINST.flatMap((family) =>
    [100, 1_000].map((n) => ({ name: `${family}, ${n}`, upstream: [randomDag(family, n, 1).upstream] })),
  )
  const all = { name: `the ${shapes.length} public DAGs`, upstream: shapes.map(({ upstream }) => upstream) }
  for (const { name, upstream } of [...random, all]) print(`  ${name.padEnd(24)}${lineOf(await against(upstream))}`)
  for (const inARow of [1, 10]) await printSingly(shapes, inARow, print)
}

/** How many public shapes are named, those we are slowest at, and how often each is compiled: small ones vary most. */
const NAMED = 20
const TURNS = 40

/**
 * Each public shape against LangGraph, all shapes in turns, now the one first, now the other. One compile of each at a
 * time has every cache cold; of several in a row only the first has.
 */
async function printSingly(shapes: readonly PublicDag[], inARow: number, print: (line: string) => void): Promise<void> {
  const rows = shapes.map(({ source, upstream }) => {
    return { source, upstream, blocks: blocksOf(upstream), ours: [] as number[], theirs: [] as number[] }
  })
  for (let turn = 0; turn < 2 * TURNS; turn++) {
    for (const { upstream, blocks, ours, theirs } of rows) {
      const graphs = await Promise.all(Array.from({ length: inARow }, () => buildLangGraph(upstream)))
      const weFirst = turn % 2 === 0
      const compileOurs = () => graphs.forEach(() => void compileDag({ blocks }))
      if (weFirst) ours.push(timed(compileOurs))
      theirs.push(timed(() => graphs.forEach((graph) => void graph.compile({}))))
      if (!weFirst) ours.push(timed(compileOurs))
    }
  }
  printRatios(
    `${shapes.length} public DAGs one by one, ${inARow === 1 ? 'one compile at a time' : `${inARow} compiles in a row`}`,
    rows.map(({ source, upstream, ours, theirs }) => {
      const name = `${String(upstream.length).padStart(4)} blocks  ${source}`
      return { name, ratio: median(ours, TURNS) / median(theirs, TURNS) }
    }),
    print,
  )
}

function printRatios(
  title: string,
  rows: readonly { readonly name: string; readonly ratio: number }[],
  print: (line: string) => void,
): void {
  const over = rows.filter(({ ratio }) => ratio > 0.5).length
  const geometric = Math.exp(rows.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / rows.length)
  print(`\n${title}: geometric mean ${geometric.toFixed(2)}x, ${over} above 0.50x; slowest:`)
  const slowest = rows.toSorted((a, b) => b.ratio - a.ratio).slice(0, NAMED)
  for (const { name, ratio } of slowest) print(`  ${ratio.toFixed(2)}x  ${name}`)
}

function printGrowth(
  what: string,
  print: (line: string) => void,
  prepare: (upstream: Upstream) => () => unknown,
): void {
  print(`\nmilliseconds ${what}, least of three, and the exponent over blocks + edges`)
  print(`  ${''.padEnd(17)}${GROWTH.map((n) => `${n}`.padStart(9)).join('')}  exponent`)
  for (const family of GROWING) {
    const points = GROWTH.map((n) => {
      const { upstream } = randomDag(family, n, 1)
      const run = prepare(upstream)
      const edges = upstream.reduce((sum, sources) => sum + sources.length, 0)
      return { size: upstream.length + edges, ms: Math.min(...[1, 2, 3].map(() => timed(run))) }
    })
    const times = points.map(({ ms }) => ms.toFixed(1).padStart(9)).join('')
    print(`  ${family.padEnd(17)}${times}  ${exponentOf(points).toFixed(2).padStart(8)}`)
  }
}

/** Slope of the line through the logarithms, least squares. */
function exponentOf(points: readonly { readonly size: number; readonly ms: number }[]): number {
  const logs = points.map(({ size, ms }) => [Math.log(size), Math.log(ms)] as const)
  const mean = (at: 0 | 1) => logs.reduce((sum, point) => sum + point[at], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const over = logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0)
  return over / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
}

/** Medians in milliseconds. */
interface Times {
  readonly ours: number
  readonly steps: number
  readonly compile: number
  readonly build: number
}

async function against(graphs: readonly Upstream[]): Promise<Times> {
  const documents = graphs.map(blocksOf)
  const seen = { ours: [] as number[], steps: [] as number[], compile: [] as number[], build: [] as number[] }
  for (let round = 0; round < 2 * ROUNDS; round++) {
    seen.ours.push(timed(() => documents.forEach((blocks) => void compileDag({ blocks }))))
    seen.steps.push(timed(() => graphs.forEach((upstream) => void stepsOf(upstream))))
    const started = performance.now()
    const built = await Promise.all(graphs.map((graph) => buildLangGraph(graph)))
    const compiled = timed(() => built.forEach((graph) => void graph.compile({})))
    seen.compile.push(compiled)
    seen.build.push(performance.now() - started)
  }
  const { ours, steps, compile, build } = seen
  return { ours: median(ours), steps: median(steps), compile: median(compile), build: median(build) }
}

function lineOf({ ours, steps, compile, build }: Times): string {
  const ms = (value: number) => value.toFixed(2).padStart(8)
  const ratios = `sluice / theirs = ${(ours / compile).toFixed(2)}x, built ${(ours / build).toFixed(2)}x`
  return `sluice ${ms(ours)} ms (steps ${ms(steps)})   langgraph ${ms(compile)} ms, built ${ms(build)} ms   ${ratios}`
}

function stepsOf(upstream: Upstream): Steps {
  return decomposeOrder(reduceTransitively(upstream))
}

function timed(run: () => unknown): number {
  const started = performance.now()
  run()
  return performance.now() - started
}

/** Of those after the first ones, which only warm up. */
function median(values: readonly number[], warmUp = ROUNDS): number {
  const sorted = values.slice(warmUp).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
