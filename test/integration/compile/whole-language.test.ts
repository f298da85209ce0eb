import { describe, expect, test } from 'vitest'
import { type CompiledDag, compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/emit-block.ts'
import type { MachineCaps } from '../../../shared/compile/split-machine.ts'
import { atMost, firstDaily } from '../../how-much.ts'
import { aslErrorsOfAll } from '../../machines/asl-validator.ts'
import { FAMILIES, randomDag, randomFrom, shuffled } from '../../machines/random-dags.ts'
import { randomDocument } from '../../machines/random-documents.ts'
import { structureOf } from '../../machines/structure.ts'
import { simulate } from '../../machines/virtual-time.ts'

/** Bounces, fan-out, child runs, approvals and retries over every shape, whole and cut into small parts. */
const FIRST = ['nested prefixes', 'data pipeline', 'series-parallel with shortcuts', 'grid', 'sparse', 'build and test']
const families = [...FIRST, ...Object.keys(FAMILIES).filter((family) => !FIRST.includes(family))]
const SMALL: MachineCaps = { bytes: 14_000, events: 200 }

interface Document {
  readonly name: string
  readonly blocks: readonly CompiledBlock[]
}

function documentsOf(family: string): readonly Document[] {
  // Every size from 2 to 26 in the whole run, two here.
  const many = atMost(25, 2)
  return Array.from({ length: many }, (_, n) => {
    const i = Math.floor((n * 25) / many)
    const dag = randomDag(family, 2 + (i % 25), i)
    return { name: dag.name, blocks: randomDocument(dag, randomFrom(i * 31 + family.length)) }
  })
}

/** Without bounces every document can be cut; a module is never. */
const withoutBounces = ({ name, blocks }: Document): Document => ({
  name,
  blocks: blocks.map(({ on_gate_fail: _, ...block }) => block),
})

const textsOf = ({ text, parts }: CompiledDag) => [text, ...parts.map((part) => part.text)]

for (const { tags, rows } of firstDaily(FIRST.length, families)) describe.each(rows)('%s', { tags }, compiles)

function compiles(family: string): void {
  const documents = documentsOf(family)

  test('every machine and every part is valid, names are unique, each block is there once', () => {
    const all = [
      ...documents.map(({ blocks }) => compileDag({ blocks })),
      ...documents.map(withoutBounces).map(({ blocks }) => compileDag({ blocks }, SMALL)),
    ]
    expect(
      aslErrorsOfAll(all.flatMap(({ definition, parts }) => [definition, ...parts.map((one) => one.definition)])),
    ).toBe('')
    for (const { definition, parts, figures } of all) {
      const { blocks, names } = structureOf(definition, parts)
      expect([new Set(names).size, names.every((name) => name.length <= 80)]).toEqual([names.length, true])
      expect(new Set(blocks.map(({ id }) => id)).size).toBe(figures.blocks)
      expect(blocks).toHaveLength(figures.blocks)
    }
  })

  test('every block starts exactly when what it waits for has ended; a module begins and ends as one', () => {
    expect(documents.flatMap((document) => wrongStarts(document))).toEqual([])
  })

  test('parts add no order and change no start', () => {
    const cut = documents.map(withoutBounces)
    expect(cut.flatMap((document) => wrongStarts(document, SMALL))).toEqual([])
    expect(cut.flatMap(reordered)).toEqual([])
  })

  test('the order in which wires are written changes no byte', () => {
    const random = randomFrom(5)
    const moved = (blocks: readonly CompiledBlock[]) => {
      const upstream = shuffled(
        blocks.map((block) => block.upstream.map((id) => Number(id.slice(1)))),
        random,
      )
      return blocks.map((block, v) => ({ ...block, upstream: (upstream[v] ?? []).map((source) => `b${source}`) }))
    }
    for (const { blocks } of documents) {
      expect(textsOf(compileDag({ blocks: moved(blocks) }))).toEqual(textsOf(compileDag({ blocks })))
    }
  })

  test('nothing a user wrote is in a machine but block ids', () => {
    for (const { blocks } of documents) {
      const marked = blocks.map((block) => ({ ...marks(block), ...block }))
      expect(textsOf(compileDag({ blocks: marked })).join()).not.toContain('canary')
    }
  })
}

test('the documents hold all kinds, and many are cut', () => {
  const all = families.flatMap(documentsOf)
  const compiled = all.map(({ blocks }) => compileDag({ blocks }))
  const blocks = all.flatMap((document) => document.blocks)
  const nested = all.map(withoutBounces).map((one) => compileDag({ blocks: one.blocks }, SMALL).parts)
  const counts = {
    modules: compiled.filter(({ modules }) => modules.length > 0).length,
    'more than one': compiled.filter(({ modules }) => modules.length > 1).length,
    'modules and joins': compiled.filter(({ modules, joins }) => modules.length > 0 && joins.length > 0).length,
    'over-ordered': compiled.filter(({ over_ordered }) => over_ordered.length > 0).length,
    foreach: blocks.filter(({ foreach }) => foreach !== undefined).length,
    children: blocks.filter(({ mode }) => mode === 'dag' || mode === 'research').length,
    cut: nested.filter((parts) => parts.length > 0).length,
    'parts of parts': nested.filter((parts) => parts.some(({ text }) => text.includes('startExecution'))).length,
  }
  expect(Object.entries(counts).filter(([, count]) => count < atMost(50))).toEqual([])
})

/** A document's text in fields the compiler has no business with. */
function marks({ id }: CompiledBlock): object {
  const when_gate = `canary ${id}`
  return { name: 'canary', when: 'canary', prompt: 'canary', dag: { name: 'canary' }, gates: [{ when_gate }] }
}

interface Times {
  readonly tries: readonly number[]
  readonly decision: number
}

const ITEMS = 3
const WAIT = 10

/** Runs the machine with random durations and compares with times made from the document and its modules alone. */
function wrongStarts({ name, blocks }: Document, caps?: MachineCaps): readonly string[] {
  const { definition, parts, modules } = compileDag({ blocks }, caps)
  const random = randomFrom(blocks.length)
  const times = new Map(
    blocks.map(({ id, foreach, retry }): [string, Times] => {
      const tries = foreach === undefined ? (retry?.max_attempts ?? 1) : 1
      const decision = Math.floor(random() * 1_000)
      return [id, { tries: Array.from({ length: tries }, () => Math.floor(random() * 1_000)), decision }]
    }),
  )
  const of = (id: string): Times => times.get(id) ?? { tries: [], decision: 0 }
  const bounces = (module: number) => (module + blocks.length) % 3
  const run = simulate(
    definition,
    {
      tries: (id) => of(id).tries,
      decision: (id) => of(id).decision,
      secondsToRetry: WAIT,
      items: () => ITEMS,
      bounces,
      sinks: (key) => modules.find((module) => module.key === key)?.sinks ?? [],
    },
    parts,
  )
  const { starts, end } = expectedTimes(blocks, modules, of, bounces)
  const wrong = [...starts].flatMap(([id, start]) =>
    run.started.get(id) === start ? [] : [`${name}: ${id} started at ${run.started.get(id)}, not at ${start}`],
  )
  const finished = { state: '_done', time: end }
  if (JSON.stringify(run.finished) === JSON.stringify(finished)) return wrong
  return [...wrong, `${name}: ended ${JSON.stringify(run.finished)}, not ${JSON.stringify(finished)}`]
}

/** First starts and the end, by walking the document: blocks of a module go round it together. */
function expectedTimes(
  blocks: readonly CompiledBlock[],
  modules: CompiledDag['modules'],
  of: (id: string) => Times,
  bounces: (module: number) => number,
) {
  const byId = new Map(blocks.map((block) => [block.id, block]))
  const moduleOf = new Map(modules.flatMap((module) => module.blocks.map((id) => [id, module] as const)))
  const starts = new Map<string, number>()
  const ends = new Map<string, number>()
  const runBlock = (block: CompiledBlock, from: number, known: ReadonlyMap<string, number>): number => {
    const ready = Math.max(from, ...block.upstream.map((source) => known.get(source) ?? from))
    const { tries, decision } = of(block.id)
    const start = ready + (block.approval === undefined ? 0 : decision)
    if (!starts.has(block.id)) starts.set(block.id, start)
    const rounds = block.foreach === undefined ? 1 : Math.ceil(ITEMS / block.foreach.max_concurrency)
    return start + rounds * tries.reduce((sum, ms) => sum + ms, 0) + WAIT * (tries.length - 1)
  }
  const runModule = (module: CompiledDag['modules'][number]): void => {
    const inside = inOrder(module.blocks.flatMap((id) => byId.get(id) ?? []))
    const before = inside.flatMap((block) => block.upstream.filter((source) => !module.blocks.includes(source)))
    let now = Math.max(0, ...before.map(endOf))
    for (let pass = 0; pass <= bounces(module.key); pass++) {
      const known = new Map<string, number>()
      for (const block of inside) known.set(block.id, runBlock(block, now, known))
      now = Math.max(...known.values())
    }
    for (const { id } of inside) ends.set(id, now)
  }
  const endOf = (id: string): number => {
    const block = byId.get(id)
    const module = moduleOf.get(id)
    if (!ends.has(id) && module !== undefined) runModule(module)
    else if (!ends.has(id) && block !== undefined) {
      ends.set(id, runBlock(block, 0, new Map(block.upstream.map((source) => [source, endOf(source)]))))
    }
    return ends.get(id) ?? 0
  }
  return { end: Math.max(...blocks.map(({ id }) => endOf(id))), starts }
}

/** Wires of these shapes may lead from later blocks to earlier ones. */
function inOrder(blocks: readonly CompiledBlock[]): readonly CompiledBlock[] {
  const left = new Map(blocks.map((block) => [block.id, block]))
  const order: CompiledBlock[] = []
  while (left.size > 0) {
    for (const [id, block] of left) {
      if (block.upstream.some((source) => left.has(source))) continue
      left.delete(id)
      order.push(block)
    }
  }
  return order
}

/** What stands before each block, whole and cut: the same blocks, the same joins. */
function reordered({ name, blocks }: Document): readonly string[] {
  const whole = compileDag({ blocks })
  const cut = compileDag({ blocks }, SMALL)
  const orders = [whole, cut].map(({ definition, parts }) =>
    structureOf(definition, parts)
      .blocks.map(({ id, before, joins }) => `${id}: ${[...before].sort()} / ${[...joins].sort()}`)
      .sort()
      .join('\n'),
  )
  return orders[0] === orders[1] ? [] : [name]
}
