import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BounceModule, bounceModules, type ModuleBlock } from '../../../shared/dag/bounce-modules.ts'
import { expectLinear } from '../gates/linear.ts'

describe('bounceModules()', () => {
  test('answers no module where no block sends the run back', () => {
    expect(bounceModules(chain(4, []))).toEqual([])
  })

  test('takes everything between route_to, reset_blocks and the block, and nothing beside it', () => {
    // 0 -> 1 -> 2 -> 3 -> 4 with 5 beside 2 (1 -> 5 -> 3) and 6 leaving 2.
    const blocks = [...chain(5, [[3, 1]]), block(5, [1]), block(6, [2])].map((one) =>
      one.index === 3 ? { ...one, upstream: ['b2', 'b5'] } : one,
    )
    expect(bounceModules(blocks)).toEqual([
      {
        key: 0,
        blocks: ['b1', 'b2', 'b3', 'b5'],
        sinks: ['b3'],
        rules: [expect.objectContaining({ key: '3.0', block: 'b3', hull: ['b1', 'b2', 'b3', 'b5'] })],
      },
    ])
  })

  test('a block may send itself back: a module of one', () => {
    expect(bounceModules(chain(3, [[1, 1]]))).toMatchObject([{ key: 0, blocks: ['b1'], sinks: ['b1'] }])
  })

  test('nested and overlapping hulls are one module, each rule with its own hull', () => {
    const nested = bounceModules(
      chain(6, [
        [2, 1],
        [4, 0],
      ]),
    )
    expect(nested.map(({ blocks, rules }) => [blocks, rules.map(({ hull }) => hull)])).toEqual([
      [
        ['b0', 'b1', 'b2', 'b3', 'b4'],
        [
          ['b1', 'b2'],
          ['b0', 'b1', 'b2', 'b3', 'b4'],
        ],
      ],
    ])
    const overlapping = chain(6, [
      [2, 0],
      [4, 2],
    ])
    expect(bounceModules(overlapping)).toMatchObject([{ blocks: ['b0', 'b1', 'b2', 'b3', 'b4'] }])
  })

  test('modules that would wait for each other are one', () => {
    // Two rows a0 -> a1 and c0 -> c1, wired a0 -> c1 and c0 -> a1: as two nodes they would be a cycle.
    const blocks = [
      block(0, []),
      block(1, [0, 2], [[1, 0]]),
      block(2, []),
      block(3, [2, 0], [[3, 2]]),
      block(4, [1, 3]),
    ]
    expect(bounceModules(blocks)).toMatchObject([{ key: 0, blocks: ['b0', 'b1', 'b2', 'b3'], sinks: ['b1', 'b3'] }])
  })

  test('two modules in a row stay two, numbered in document order', () => {
    const modules = bounceModules(
      chain(6, [
        [2, 1],
        [5, 4],
      ]),
    )
    expect(modules.map(({ key, blocks }) => [key, blocks])).toEqual([
      [0, ['b1', 'b2']],
      [1, ['b4', 'b5']],
    ])
  })

  test('refuses a block that does not exist: the document check has done so before', () => {
    expect(() => bounceModules(chain(2, [[1, 7]]))).toThrow(
      expect.objectContaining({ name: 'Bug', code: 'module_unknown_block' }),
    )
  })

  test('10,000 blocks in a row, every tenth with a rule, take linear time', async () => {
    const rules = (count: number) =>
      Array.from({ length: count }, (_, i): readonly [number, number] => [10 * i + 9, 10 * i + 5])
    await expectLinear((size) => {
      expect(bounceModules(chain(size, rules(size / 10)))).toHaveLength(size / 10)
    }, 10_000)
  })
})

describe('bounceModules() of random documents', () => {
  const check = (law: (blocks: readonly ModuleBlock[], modules: readonly BounceModule[]) => void) =>
    fc.assert(
      fc.property(documents, (blocks) => law(blocks, bounceModules(blocks))),
      { numRuns: 300 },
    )

  test('modules are disjoint, and every rule stands in one with its whole hull', () => {
    check((blocks, modules) => {
      const all = modules.flatMap((module) => module.blocks)
      expect(new Set(all).size).toBe(all.length)
      expect(modules.flatMap(({ rules }) => rules.map(({ key }) => key)).sort()).toEqual(ruleKeys(blocks))
      for (const { blocks: members, rules } of modules)
        for (const { hull } of rules) expect(members).toEqual(expect.arrayContaining([...hull]))
    })
  })

  test('a hull is what lies between the blocks of its rule', () => {
    check((blocks, modules) => {
      const leadsTo = paths(blocks)
      for (const { block: id, bounce, hull } of modules.flatMap(({ rules }) => rules)) {
        const named = [id, bounce.route_to, ...bounce.reset_blocks]
        const between = blocks.filter(
          (one) => named.some((a) => leadsTo(a, one.id)) && named.some((z) => leadsTo(one.id, z)),
        )
        expect(hull).toEqual(between.map((one) => one.id))
      }
    })
  })

  test('modules are convex and, taken for one node each, wait for each other in no cycle', () => {
    check((blocks, modules) => {
      const leadsTo = paths(blocks)
      for (const { blocks: members } of modules) {
        const inside = new Set(members)
        const between = blocks.filter(
          ({ id }) => members.some((a) => leadsTo(a, id)) && members.some((z) => leadsTo(id, z)),
        )
        expect(between.every(({ id }) => inside.has(id))).toBe(true)
      }
      expect(isAcyclic(contracted(blocks, modules))).toBe(true)
    })
  })

  test('none could be smaller: what a module holds is tied together by its rules', () => {
    check((blocks, modules) => {
      // Merging starts from the hulls and stops as soon as nothing overlaps and nothing waits in a cycle.
      expect(modules.map((module) => module.blocks)).toEqual(mergedStepByStep(blocks, modules))
    })
  })

  test('sinks are the blocks nobody inside waits for; order of wires changes nothing', () => {
    check((blocks, modules) => {
      for (const { blocks: members, sinks } of modules) {
        const inside = blocks.filter(({ id }) => members.includes(id))
        expect(sinks).toEqual(members.filter((id) => inside.every(({ upstream }) => !upstream.includes(id))))
      }
      expect(bounceModules(blocks.map((one) => ({ ...one, upstream: [...one.upstream].reverse() })))).toEqual(modules)
    })
  })
})

function block(
  index: number,
  upstream: readonly number[],
  rules: readonly (readonly [number, number, ...(readonly number[])])[] = [],
): ModuleBlock {
  const on_gate_fail = rules.map(([, to, ...reset]) => ({
    when_gate: 'g',
    route_to: `b${to}`,
    reset_blocks: reset.map((v) => `b${v}`),
    max_bounces: 2,
    feedback_from: 'gate_verdicts' as const,
  }))
  return { id: `b${index}`, index, upstream: upstream.map((v) => `b${v}`), on_gate_fail }
}

/** b0 -> b1 -> ..; a rule is [block, route_to]. */
function chain(blocks: number, rules: readonly (readonly [number, number])[]): ModuleBlock[] {
  const at = Map.groupBy(rules, ([v]) => v)
  return Array.from({ length: blocks }, (_, v) => block(v, v === 0 ? [] : [v - 1], at.get(v) ?? []))
}

/** Up to 14 blocks, wires from earlier ones to later ones, up to four rules that lead back. */
const documents = fc
  .tuple(
    fc.integer({ min: 1, max: 14 }),
    fc.array(fc.tuple(fc.nat(13), fc.nat(13)), { maxLength: 25 }),
    fc.array(fc.tuple(fc.nat(13), fc.nat(13), fc.option(fc.nat(13))), { minLength: 1, maxLength: 4 }),
  )
  .map(([n, wires, rules]) =>
    Array.from({ length: n }, (_, v) => {
      const upstream = wires.flatMap(([a, b]) => (b % n === v && a % n < v ? [a % n] : []))
      const own = rules.flatMap(([at, to, reset]) =>
        at % n === v ? [[v, to % (v + 1), ...(reset === null ? [] : [reset % n])] as const] : [],
      )
      return block(v, [...new Set(upstream)], own)
    }),
  )

function ruleKeys(blocks: readonly ModuleBlock[]): readonly string[] {
  return blocks.flatMap(({ index, on_gate_fail = [] }) => on_gate_fail.map((_, i) => `${index}.${i}`)).sort()
}

type Waits = ReadonlyMap<string, ReadonlySet<string>>

function paths(blocks: readonly ModuleBlock[]): (from: string, to: string) => boolean {
  const behind = new Map<string, ReadonlySet<string>>()
  for (const { id, upstream } of blocks)
    behind.set(id, new Set([id, ...upstream.flatMap((source) => [...(behind.get(source) ?? [])])]))
  return (from, to) => behind.get(to)?.has(from) === true
}

function contracted(blocks: readonly ModuleBlock[], modules: readonly Pick<BounceModule, 'blocks'>[]): Waits {
  const nodeOf = new Map(modules.flatMap((module, k) => module.blocks.map((id) => [id, `module ${k}`])))
  const name = (id: string) => nodeOf.get(id) ?? id
  const waits = new Map(blocks.map(({ id }): [string, Set<string>] => [name(id), new Set()]))
  for (const { id, upstream } of blocks)
    for (const source of upstream) if (name(source) !== name(id)) waits.get(name(id))?.add(name(source))
  return waits
}

function isAcyclic(waits: Waits): boolean {
  return knotted(waits).length === 0
}

/** What is left when everything that waits for nothing, or is waited for by nothing, is taken away again and again. */
function knotted(waits: Waits): readonly string[] {
  const left = new Set(waits.keys())
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const node of left) if (![...(waits.get(node) ?? [])].some((source) => left.has(source))) left.delete(node)
  }
  return [...left]
}

/** The definition, literally: hulls; two that share a block, or that wait for each other, become one with what lies between. */
function mergedStepByStep(
  blocks: readonly ModuleBlock[],
  modules: readonly BounceModule[],
): readonly (readonly string[])[] {
  const leadsTo = paths(blocks)
  const closed = (ids: readonly string[]) =>
    blocks.flatMap(({ id }) => (ids.some((a) => leadsTo(a, id)) && ids.some((z) => leadsTo(id, z)) ? [id] : []))
  let sets = modules.flatMap(({ rules }) => rules.map(({ hull }) => hull))
  for (;;) {
    const pair = pairs(sets).find(([a, b]) => a.some((id) => b.includes(id)) || inOneCycle(blocks, sets, a, b))
    if (pair === undefined) break
    sets = [...sets.filter((set) => !pair.includes(set)), closed(pair.flat())]
  }
  const first = (ids: readonly string[]) => blocks.findIndex(({ id }) => id === ids[0])
  return sets.sort((a, b) => first(a) - first(b))
}

function pairs<T>(list: readonly T[]): readonly (readonly [T, T])[] {
  return list.flatMap((a, i) => list.slice(i + 1).map((b) => [a, b] as const))
}

function inOneCycle(
  blocks: readonly ModuleBlock[],
  sets: readonly (readonly string[])[],
  a: readonly string[],
  b: readonly string[],
): boolean {
  const waits = contracted(
    blocks,
    sets.map((members) => ({ blocks: members })),
  )
  const nodes = [a, b].map((set) => `module ${sets.indexOf(set)}`)
  const behind = (node: string) => {
    const found = new Set(waits.get(node) ?? [])
    for (const one of found) for (const source of waits.get(one) ?? []) found.add(source)
    return found
  }
  return behind(nodes[0] ?? '').has(nodes[1] ?? '') && behind(nodes[1] ?? '').has(nodes[0] ?? '')
}
