import { describe, expect, test } from 'vitest'
import type { Machine } from '../../../shared/compile/asl.ts'
import { type CompiledDag, compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/emit-block.ts'
import { EACH, firstDaily } from '../../how-much.ts'
import { FAMILIES, type RandomDag, randomDag, randomDags, randomFrom, shuffled } from '../../machines/random-dags.ts'
import { structureOf } from '../../machines/structure.ts'
import { simulate } from '../../machines/virtual-time.ts'

/** 16 families of 125: 2,000 DAGs. test/integration/compile validates the same ones, all of them. */
const families = Object.keys(FAMILIES)
/** All of a family in the whole run, else every third. */
const drawn = (family: string) => randomDags(family).filter((_, i) => i % EACH === 0)

describe('compileDag() of 2,000 random DAGs', () => {
  test('are 2,000', () => {
    expect(families.flatMap(randomDags)).toHaveLength(2_000)
  })

  test.each(families)('%s: every block starts exactly when its own upstream has ended', (family) => {
    expect(drawn(family).flatMap(wrongStarts)).toEqual([])
  })

  test.each(families)('%s: each block occurs once, the structure adds no order, no edge is lost', (family) => {
    expect(drawn(family).flatMap(misplaced)).toEqual([])
  })

  test.each(families)('%s: the order in which edges are written changes no byte', (family) => {
    const random = randomFrom(7)
    const moved = ({ name, upstream }: RandomDag) => ({ name, upstream: shuffled(upstream, random) })
    expect(drawn(family).filter((dag) => compile(dag).text !== compile(moved(dag)).text)).toEqual([])
  })
})

test('compileDag() is exact for every DAG of up to five blocks', { tags: ['thorough'] }, () => {
  const edges = [0, 1, 2, 3, 4].flatMap((v) => [0, 1, 2, 3].filter((u) => u < v).map((u) => [u, v] as const))
  const dags = Array.from({ length: 2 ** edges.length }, (_, bits): RandomDag => {
    const drawn = edges.filter((_edge, i) => ((bits >> i) & 1) === 1)
    return { name: `#${bits}`, upstream: [0, 1, 2, 3, 4].map((v) => drawn.flatMap(([u, to]) => (to === v ? [u] : []))) }
  })
  expect(dags.flatMap((dag) => [...wrongStarts(dag), ...misplaced(dag)])).toEqual([])
})

describe('compileDag() of 1,000 blocks', () => {
  for (const { tags, rows } of firstDaily(4, families))
    test.each(rows)('%s: every block starts exactly when its own upstream has ended', { tags }, (family) => {
      expect(wrongStarts(randomDag(family, 1_000, 1))).toEqual([])
    })

  test.each(['comb', 'dense'])('%s: Parallels nest at most 65 deep', (family) => {
    const { definition, parts } = compile(randomDag(family, 1_000, 1))
    expect(structureOf(definition, parts).depth).toBeLessThanOrEqual(65)
  })
})

describe('compileDag()', () => {
  test('keeps a series-parallel order without any join', () => {
    const kinds = ['chain', 'fan out and in', 'full layers', 'series-parallel', 'comb', 'comb upside down']
    expect(kinds.flatMap(drawn).filter((dag) => compile(dag).joins.length > 0)).toEqual([])
  })

  test('lets nothing a user wrote into the machine but block ids', () => {
    const canary = 'canary'
    const block = { id: 'a', upstream: [], name: canary, approval: { timeout_sec: 60, prompt: canary } }
    expect(compileDag({ blocks: [block] }).text).not.toContain(canary)
  })

  test('compiles 10,000 blocks in a row and a comb of 10,000', { tags: ['thorough'] }, () => {
    const chain = Array.from({ length: 10_000 }, (_, v) => (v === 0 ? [] : [v - 1]))
    const comb = chain.map((_, v) => (v === 0 ? [] : [v % 2 === 1 ? v - 1 : v - 2]))
    expect(compile({ name: 'chain', upstream: chain }).figures).toMatchObject({ blocks: 10_000, joins: 0 })
    expect(compile({ name: 'comb', upstream: comb }).figures.blocks).toBe(10_000)
  })

  test('fails on an unknown upstream and on a cycle, which the document check has refused before', () => {
    const blocks = [{ id: 'a', upstream: ['b'] }]
    expect(() => compileDag({ blocks })).toThrow(
      expect.objectContaining({ name: 'Bug', code: 'compile_unknown_block' }),
    )
    const cycle = [...blocks, { id: 'b', upstream: ['a'] }]
    expect(() => compileDag({ blocks: cycle })).toThrow(expect.objectContaining({ name: 'Bug', code: 'compile_cycle' }))
  })
})

/** Each fourth block asks a person first. */
function compile({ upstream }: RandomDag): CompiledDag {
  return compileDag({
    blocks: upstream.map((sources, v): CompiledBlock => {
      const block = { id: `b${v}`, upstream: sources.map((source) => `b${source}`) }
      return v % 4 === 3 ? { ...block, approval: { timeout_sec: 1_800 } } : block
    }),
  })
}

/** Runs the machine with random durations, each fifth block failing once, and compares with the critical path. */
function wrongStarts(dag: RandomDag): readonly string[] {
  const random = randomFrom(dag.upstream.length)
  const times = dag.upstream.map((_, v) => {
    const tries = Array.from({ length: v % 5 === 2 ? 2 : 1 }, () => Math.floor(random() * 1_000))
    return { tries, decision: v % 4 === 3 ? Math.floor(random() * 1_000) : 0 }
  })
  const of = (block: string) => times[Number(block.slice(1))] ?? { tries: [], decision: 0 }
  const secondsToRetry = 10
  const { definition, parts } = compile(dag)
  const durations = {
    tries: (block: string) => of(block).tries,
    decision: (block: string) => of(block).decision,
    secondsToRetry,
  }
  const run = simulate(definition, durations, parts)
  const ends: number[] = []
  const wrong = dag.upstream.flatMap((sources, v) => {
    const { tries, decision } = of(`b${v}`)
    const start = Math.max(0, ...sources.map((source) => ends[source] ?? Number.NaN)) + decision
    ends[v] = start + tries.reduce((sum, ms) => sum + ms, 0) + secondsToRetry * (tries.length - 1)
    const seen = run.started.get(`b${v}`)
    return seen === start ? [] : [`${dag.name}: b${v} started at ${seen}, not at ${start}`]
  })
  const end = { state: '_done', time: Math.max(0, ...ends) }
  if (run.finished?.state === end.state && run.finished.time === end.time) return wrong
  return [...wrong, `${dag.name}: ended ${JSON.stringify(run.finished)}, not ${JSON.stringify(end)}`]
}

function misplaced(dag: RandomDag): readonly string[] {
  const compiled = compile(dag)
  const { blocks, needs, parallels, names } = structureOf(compiled.definition, compiled.parts)
  const ancestors = ancestorsOf(dag)
  const signalled = new Map([...needs.keys()].map((join) => [join, new Set<string>()]))
  for (const { id, signals } of blocks) for (const join of signals) signalled.get(join)?.add(id)
  const wrong: string[] = []
  const hold = (what: string, held: boolean) => {
    if (!held) wrong.push(`${dag.name}: ${what}`)
  }

  const ids = blocks.map(({ id }) => id).sort()
  hold('each block occurs once', ids.join() === [...ancestors.keys()].sort().join())
  hold('state names are unique and short', new Set(names).size === names.length && names.every((n) => n.length <= 80))
  hold(
    'a Parallel has two branches or more',
    parallels.every(({ Branches }) => Branches.length >= 2),
  )
  hold(
    'no branch is one Parallel',
    parallels.every(({ Branches }) => Branches.every((branch) => !isOneParallel(branch))),
  )
  hold(
    'every join needs its signals',
    [...needs].every(([join, need]) => signalled.get(join)?.size === need),
  )
  const listed = compiled.joins.map(({ id, sources }) => `${id}:${[...sources].sort()}`).sort()
  hold(
    'joins are listed as they are',
    listed.join() ===
      [...signalled]
        .map(([id, by]) => `${id}:${[...by].sort()}`)
        .sort()
        .join(),
  )
  for (const { id, before, joins } of blocks) {
    const ordered = new Set([...before, ...[...joins].flatMap((join) => [...(signalled.get(join) ?? [])])])
    const real = ancestors.get(id) ?? new Set()
    hold(
      `${id} waits for its own upstream only`,
      [...ordered].every((other) => real.has(other)),
    )
    // Each ordered block brings what it waits for itself.
    const reached = new Set([...ordered].flatMap((other) => [other, ...(ancestors.get(other) ?? [])]))
    hold(
      `${id} waits for all its upstream`,
      [...real].every((other) => reached.has(other)),
    )
  }
  return wrong
}

function isOneParallel({ States }: Machine): boolean {
  const states = Object.values(States)
  return states.length === 1 && states[0]?.Type === 'Parallel'
}

/** Everything that comes before each block. Sources have lower indexes in every family. */
function ancestorsOf({ upstream }: RandomDag): ReadonlyMap<string, ReadonlySet<string>> {
  const ancestors = new Map<string, ReadonlySet<string>>()
  upstream.forEach((sources, v) => {
    const found = sources.flatMap((source) => [`b${source}`, ...(ancestors.get(`b${source}`) ?? [])])
    ancestors.set(`b${v}`, new Set(found))
  })
  return ancestors
}
