/** DAGs as plain lists: `upstream[v]` are the indexes v waits for. */
export type Upstream = readonly (readonly number[])[]
type Random = () => number

/** Shapes people draw, and shapes that hurt. Each takes about how many blocks it should have. */
export const FAMILIES: Readonly<Record<string, (blocks: number, random: Random) => Upstream>> = {
  chain: (n) => list(n, (v) => (v === 0 ? [] : [v - 1])),
  'fan out and in': (n) => list(n, (v) => (v === 0 ? [] : v === n - 1 && n > 2 ? range(1, n - 1) : [0])),
  sparse: (n, random) => list(n, (v) => range(0, v).filter(() => random() < 1.6 / n)),
  dense: (n, random) => list(n, (v) => range(0, v).filter(() => random() < 0.4)),
  layered: (n, random) => {
    const width = Math.max(2, Math.round(Math.sqrt(n)))
    const start = (v: number) => (Math.floor(v / width) - 1) * width
    return list(n, (v) => (v < width ? [] : range(start(v), start(v) + width).filter(() => random() < 0.4)))
  },
  'full layers': (n, random) => {
    const width = 1 + below(random, 5)
    const start = (v: number) => (Math.floor(v / width) - 1) * width
    return list(n, (v) => (v < width ? [] : range(start(v), start(v) + width)))
  },
  'series-parallel': (n, random) => seriesParallel(n, random),
  'series-parallel with shortcuts': (n, random) => {
    const base = seriesParallel(n, random)
    return base.map((sources, v) => [...sources, ...range(0, v).filter(() => random() < 1 / n)])
  },
  ladder: (n) => {
    const half = Math.max(1, n >> 1)
    return list(half * 2, (v) => (v < half ? (v === 0 ? [] : [v - 1]) : v === half ? [0] : [v - 1, v - half]))
  },
  grid: (n) => {
    const width = Math.max(2, Math.round(Math.sqrt(n)))
    return list(width * width, (v) => [...(v % width > 0 ? [v - 1] : []), ...(v >= width ? [v - width] : [])])
  },
  comb: (n) => list(n, (v) => (v === 0 ? [] : [v % 2 === 1 ? v - 1 : v - 2])),
  'comb upside down': (n) => list(n, (v) => (v % 2 === 1 || v === 0 ? [] : [v - 1, v - 2])),
  N: (n, random) => nShapes(n, random),
  'nested prefixes': (n, random) => {
    const sources = Math.max(2, n >> 1)
    const pick = (v: number) =>
      v < sources ? (v > 0 && random() < 0.5 ? [0] : []) : range(0, 1 + below(random, sources))
    return list(n, pick)
  },
  'data pipeline': (n, random) => {
    const wide = Math.max(2, n >> 2)
    const some = (v: number) => range(0, 1 + below(random, 3)).map(() => Math.max(0, v - 1 - below(random, wide)))
    return list(n, (v) => (v < wide ? [] : v < 2 * wide ? [v - wide] : some(v)))
  },
  'build and test': (n, random) => buildAndTest(n, random),
}

export interface RandomDag {
  readonly name: string
  readonly upstream: Upstream
}

/** The DAGs of a family that tests share: 125 of up to 40 blocks, small ones first, the same each time. */
export function randomDags(family: string): readonly RandomDag[] {
  return range(0, 125).map((i) => randomDag(family, 2 + Math.round(38 * (i / 124) ** 2), i))
}

export function randomDag(family: string, blocks: number, seed: number): RandomDag {
  const upstream = FAMILIES[family]?.(blocks, randomFrom(seed * 7919 + family.length)) ?? []
  return { name: `${family} #${seed} (${upstream.length})`, upstream }
}

/** A DAG with its edges in another order, and some of them twice. */
export function shuffled(upstream: Upstream, random: Random): Upstream {
  return upstream.map((sources) => {
    const twice = [...sources, ...sources.filter(() => random() < 0.2)]
    return twice
      .map((source) => ({ source, key: random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ source }) => source)
  })
}

/** A small generator of numbers in [0, 1) (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function seriesParallel(n: number, random: Random): Upstream {
  const upstream: number[][] = []
  /** Appends a piece of `size` blocks behind `before`; answers its last blocks. */
  const grow = (size: number, before: readonly number[]): readonly number[] => {
    if (size <= 1) return [upstream.push([...before]) - 1]
    const left = 1 + below(random, size - 1)
    if (random() < 0.5) return grow(size - left, grow(left, before))
    return [...grow(left, before), ...grow(size - left, before)]
  }
  grow(n, [])
  return upstream
}

/** N after N, hung onto one another. */
function nShapes(n: number, random: Random): Upstream {
  const upstream: number[][] = []
  while (upstream.length < n) {
    const a = upstream.length
    const hook = () => (a > 0 && random() < 0.6 ? [below(random, a)] : [])
    upstream.push(hook(), hook(), [a], [a, a + 1])
  }
  return upstream
}

/** Checkout, install, checks, builds, tests of builds, a report, a publication, a deployment. */
function buildAndTest(n: number, random: Random): Upstream {
  const upstream: number[][] = [[], [0]]
  const add = (sources: readonly number[]) => upstream.push([...sources]) - 1
  const wide = Math.max(2, Math.floor(n / 6))
  const one = (from: readonly number[]) => from[below(random, from.length)] ?? 0
  const checks = range(0, wide).map(() => add([random() < 0.8 ? 1 : 0]))
  const builds = range(0, wide).map(() => add([random() < 0.5 ? 1 : one(checks)]))
  const tests: number[] = []
  while (upstream.length < n - 4) {
    const extra = [
      ...(random() < 0.4 ? [one(checks)] : []),
      ...(random() < 0.2 && tests.length > 0 ? [one(tests)] : []),
    ]
    tests.push(add([one(builds), ...extra]))
  }
  const publish = add(builds)
  const report = add([...tests.filter(() => random() < 0.8), ...checks])
  const deploy = add([publish, ...tests.filter(() => random() < 0.5)])
  add([deploy, report])
  return upstream
}

function list(n: number, sources: (v: number) => readonly number[]): Upstream {
  return range(0, n).map(sources)
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
}

function below(random: Random, n: number): number {
  return Math.floor(random() * n)
}
