import { describe, expect, test } from 'vitest'
import { decomposeOrder } from '../../../shared/compile/contract-modules.ts'
import type { Steps } from '../../../shared/compile/steps.ts'
import { plainHybrid } from '../../bench/plain-hybrid.ts'
import { firstDaily } from '../../how-much.ts'
import { figuresOf, startsOf } from '../../machines/play-steps.ts'
import { publicDags } from '../../machines/public-dags.ts'
import {
  FAMILIES,
  type RandomDag,
  randomDag,
  randomDags,
  randomFrom,
  shuffled,
  type Upstream,
} from '../../machines/random-dags.ts'
import { reduceTransitively } from './reduce-transitively.ts'

const families = Object.keys(FAMILIES)
const shapes = publicDags().map(({ source, upstream }): RandomDag => ({ name: source, upstream }))

/** Of the 2,095 DAGs, those where cutting knot by knot happens to take one transition less. */
const ONE_MORE = ['layered #82 (19)', 'build and test #60 (11)']

describe('decompose()', () => {
  test('is exact for each of the 4,824 orders of six blocks that are numbered upstream first', {
    tags: ['thorough'],
  }, () => {
    const orders = ordersOf(6)
    expect(orders).toHaveLength(4_824)
    expect(orders.flatMap((upstream, i) => wrong({ name: `#${i}`, upstream }))).toEqual([])
  })

  test('is exact for the DAGs of public workflows', () => {
    expect(new Set(publicDags().map(({ system }) => system)).size).toBeGreaterThanOrEqual(8)
    expect(shapes.length).toBeGreaterThanOrEqual(60)
    expect(shapes.flatMap(wrong)).toEqual([])
  })

  for (const { tags, rows } of firstDaily(families.length - 1, [...families.filter((one) => one !== 'dense'), 'dense']))
    test.each(rows)('%s: is exact for 400 blocks', { tags }, (family) => {
      expect([1, 2, 3].flatMap((seed) => wrong(randomDag(family, 400, seed)))).toEqual([])
    })

  test('lets blocks that wait for the same many and for one more share a join', () => {
    // Twelve; twelve that wait for all of them and for one of their own; one for all; and the same again behind it.
    const half = (from: number, behind: readonly number[]) => [
      ...range(24).map(() => behind),
      ...range(12).map((i) => [...range(12).map((k) => from + k), from + 12 + i]),
      range(12).map((i) => from + 24 + i),
    ]
    const upstream = [...half(0, []), ...half(37, [36])]
    expect(wrong({ name: 'shared', upstream })).toEqual([])
    expect(figuresOf(stepsOf(upstream)).signals).toBeLessThan(100)
  })

  test('makes no join of a series-parallel order', () => {
    const seeds = Array.from({ length: 100 }, (_, seed) => randomDag('series-parallel', 3 + 3 * seed, seed))
    expect(seeds.filter(({ upstream }) => figuresOf(stepsOf(upstream)).joins > 0)).toEqual([])
  })

  test('takes no more transitions or events than cutting knot by knot, with two exceptions', {
    tags: ['thorough'],
  }, () => {
    const worse = [...families.flatMap(randomDags), ...shapes].filter(({ upstream }) => {
      const ours = figuresOf(stepsOf(upstream))
      const hybrid = figuresOf(plainHybrid(reduceTransitively(upstream)))
      return ours.transitions > hybrid.transitions || ours.events > hybrid.events
    })
    expect(worse.map(({ name }) => name)).toEqual(ONE_MORE)
  })

  test('gives the same steps whatever order the edges are written in', () => {
    const random = randomFrom(11)
    const text = (upstream: Upstream) => JSON.stringify(stepsOf(upstream))
    expect(shapes.filter(({ upstream }) => text(upstream) !== text(shuffled(upstream, random)))).toEqual([])
  })

  for (const { tags, rows } of firstDaily(2, [
    'chain',
    'fan out and in',
    'comb',
    'ladder',
    'grid',
    'N',
    'data pipeline',
  ]))
    test.each(rows)('takes 10,000 blocks of family %s without overflowing the stack', { tags }, (family) => {
      const { upstream } = randomDag(family, 10_000, 1)
      expect(figuresOf(stepsOf(upstream)).transitions).toBeGreaterThanOrEqual(upstream.length)
    })
})

function stepsOf(upstream: Upstream): Steps {
  return decomposeOrder(reduceTransitively(upstream))
}

/** Transitively reduced orders in which whoever comes before has the lower number: each block waits for an antichain. */
function ordersOf(blocks: number): readonly Upstream[] {
  let orders: readonly Upstream[] = [[]]
  for (let v = 0; v < blocks; v++) {
    const subsets = Array.from({ length: 2 ** v }, (_, bits) => range(v).filter((u) => ((bits >> u) & 1) === 1))
    orders = orders.flatMap((upstream) => {
      const before = ancestorsOf(upstream)
      const isAntichain = (set: readonly number[]) => !set.some((a) => set.some((b) => before[b]?.has(a)))
      return subsets.filter(isAntichain).map((sources) => [...upstream, sources])
    })
  }
  return orders
}

/** What breaks the laws: blocks that start too early or late, occur twice or never, or wait for what they need not. */
function wrong({ name, upstream }: RandomDag): readonly string[] {
  const steps = stepsOf(upstream)
  const random = randomFrom(upstream.length)
  const durations = upstream.map(() => 1 + Math.floor(1_000 * random()))
  const starts = startsOf(steps, durations)
  const best: number[] = []
  upstreamFirst(upstream, (v) => {
    best[v] = Math.max(0, ...(upstream[v] ?? []).map((p) => (best[p] ?? Number.NaN) + (durations[p] ?? 0)))
  })
  const late = best.flatMap((at, v) => (starts[v] === at ? [] : [`${name}: ${v} starts at ${starts[v]}, not at ${at}`]))
  const blocks = blocksIn(steps).sort((a, b) => a - b)
  const once = blocks.length === upstream.length && blocks.every((block, i) => block === i)
  return [...late, ...(once ? [] : [`${name}: not each block once`]), ...addedOrder(name, steps, ancestorsOf(upstream))]
}

/** A block may only stand, or wait, behind what comes before it; then it waits for all of that, if it starts in time. */
function addedOrder(name: string, steps: Steps, ancestors: readonly ReadonlySet<number>[]): readonly string[] {
  const found: string[] = []
  const walk = (row: Steps, before: ReadonlySet<number>): ReadonlySet<number> => {
    const passed = new Set(before)
    const pass = (blocks: Iterable<number>) => {
      for (const block of blocks) passed.add(block)
    }
    for (const step of row) {
      if (step.kind === 'wait') pass(step.join.sources)
      else if (step.kind === 'par') step.branches.map((branch) => walk(branch, passed)).forEach(pass)
      else {
        const { block } = step
        found.push(...[...passed].filter((p) => !ancestors[block]?.has(p)).map((p) => `${name}: ${block} behind ${p}`))
        pass([block])
      }
    }
    return passed
  }
  walk(steps, new Set())
  return found
}

function blocksIn(steps: Steps): number[] {
  return steps.flatMap((step) => {
    if (step.kind === 'block') return [step.block]
    return step.kind === 'par' ? step.branches.flatMap(blocksIn) : []
  })
}

function ancestorsOf(upstream: Upstream): readonly ReadonlySet<number>[] {
  const ancestors: Set<number>[] = []
  upstreamFirst(upstream, (v) => {
    ancestors[v] = new Set((upstream[v] ?? []).flatMap((p) => [p, ...(ancestors[p] ?? [])]))
  })
  return ancestors
}

/** Every family and shape here is numbered upstream first. */
function upstreamFirst(upstream: Upstream, visit: (v: number) => void): void {
  for (const v of range(upstream.length)) visit(v)
}

function range(n: number): readonly number[] {
  return Array.from({ length: n }, (_, i) => i)
}
