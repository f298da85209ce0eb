import { Fault } from '../errors.ts'
import type { Block, Bounce } from './dag.ts'

/** What the module search looks at. */
export type ModuleBlock = Pick<Block, 'id' | 'index' | 'upstream' | 'on_gate_fail'>

/** One rule of a block's `on_gate_fail` with what it sends back. */
export interface ModuleRule {
  /** `<block index>.<position of the rule>`: its key in HEAD. */
  readonly key: string
  readonly block: string
  readonly bounce: Bounce
  /** The hull: route_to, reset_blocks, this block and everything between them; ids in document order. */
  readonly hull: readonly string[]
}

/** Blocks that run again together: overlapping hulls are one module (docs/adr/0023: nested ones too). */
export interface BounceModule {
  /** 0.. in document order of the first block: lane `m<key>`, state `_close_<key>`. */
  readonly key: number
  /** Closed under paths: what lies between two of them belongs to them. Ids in document order. */
  readonly blocks: readonly string[]
  /** Blocks without a successor in the module. */
  readonly sinks: readonly string[]
  readonly rules: readonly ModuleRule[]
}

/**
 * The modules of a document without cycles. They are the smallest disjoint sets that hold every rule's hull and can each
 * be taken for one node without a cycle among them: exactly the strong components of the order with a ring of arrows
 * through the blocks each rule names. Linear, but for the hulls: (rules of a module) * (its blocks and wires).
 */
export function bounceModules(blocks: readonly ModuleBlock[]): readonly BounceModule[] {
  const indexOf = new Map(blocks.map(({ id }, index) => [id, index]))
  const rules = blocks.flatMap(rulesOf).map((rule) => ({ ...rule, seeds: seedsOf(rule, indexOf) }))
  if (rules.length === 0) return []
  const after = downstream(blocks, indexOf)
  const rulesAt = Map.groupBy(rules, ({ seeds }) => seeds[0])
  return strongComponents(withRings(after, rules))
    .map((set) => ({ set: [...set].sort((a, b) => a - b), rules: set.flatMap((v) => rulesAt.get(v) ?? []) }))
    .filter(({ rules }) => rules.length > 0)
    .sort((a, b) => (a.set[0] ?? 0) - (b.set[0] ?? 0))
    .map(({ set, rules }, key) => describeModule(key, set, rules, after, blocks))
}

type Rule = Omit<ModuleRule, 'hull'>
interface SeededRule extends Rule {
  /** Indexes of the blocks the rule names, its own first. */
  readonly seeds: readonly number[]
}

function rulesOf({ id, index, on_gate_fail = [] }: ModuleBlock): readonly Rule[] {
  return on_gate_fail.map((bounce, position) => ({ key: `${index}.${position}`, block: id, bounce }))
}

function seedsOf({ block, bounce }: Rule, indexOf: ReadonlyMap<string, number>): readonly number[] {
  return [block, bounce.route_to, ...bounce.reset_blocks].map((id) => indexAt(indexOf, id, block))
}

function downstream(blocks: readonly ModuleBlock[], indexOf: ReadonlyMap<string, number>): Arrows {
  const after: number[][] = blocks.map(() => [])
  blocks.forEach(({ id, upstream }, v) => {
    for (const source of upstream) after[indexAt(indexOf, source, id)]?.push(v)
  })
  return after
}

function indexAt(indexOf: ReadonlyMap<string, number>, id: string, by: string): number {
  const index = indexOf.get(id)
  if (index !== undefined) return index
  throw new Fault('Bug', 'module_unknown_block', `Cannot find modules: block "${by}" names "${id}", which is no block.`)
}

/** With arrows from each seed of a rule to the next and from the last to the first: a module has them all or none. */
function withRings(after: Arrows, rules: readonly SeededRule[]): Arrows {
  const arrows = after.map((targets) => [...targets])
  for (const { seeds } of rules) seeds.forEach((v, i) => void arrows[v]?.push(seeds[(i + 1) % seeds.length] ?? v))
  return arrows
}

function describeModule(
  key: number,
  set: readonly number[],
  rules: readonly SeededRule[],
  after: Arrows,
  blocks: readonly ModuleBlock[],
): BounceModule {
  const members = new Set(set)
  const inside = new Map(set.map((v) => [v, (after[v] ?? []).filter((to) => members.has(to))]))
  const idsOf = (indexes: readonly number[]) => indexes.flatMap((v) => blocks[v]?.id ?? [])
  const inDocumentOrder = [...rules].sort((a, b) => (a.seeds[0] ?? 0) - (b.seeds[0] ?? 0))
  return {
    key,
    blocks: idsOf(set),
    sinks: idsOf(set.filter((v) => inside.get(v)?.length === 0)),
    rules: inDocumentOrder.map(({ seeds, ...rule }) => ({
      ...rule,
      hull: idsOf(set.filter(betweenAny(inside, seeds))),
    })),
  }
}

type Inside = ReadonlyMap<number, readonly number[]>

/** Whether a block comes after one of the named blocks (or is it) and before one of them. */
function betweenAny(inside: Inside, named: readonly number[]): (v: number) => boolean {
  const before = new Map([...inside.keys()].map((v): [number, number[]] => [v, []]))
  for (const [v, targets] of inside) for (const to of targets) before.get(to)?.push(v)
  const later = reach(inside, named)
  const earlier = reach(before, named)
  return (v) => later.has(v) && earlier.has(v)
}

function reach(arrows: Inside, from: readonly number[]): ReadonlySet<number> {
  const found = new Set(from)
  for (const v of found) for (const to of arrows.get(v) ?? []) found.add(to)
  return found
}

/** A graph on plain indexes: `next[v]` lists where arrows lead from v. */
type Arrows = readonly (readonly number[])[]

interface Search {
  readonly next: Arrows
  /** When a node was first seen (from 1; 0 = not yet), and the earliest open node it leads back to. */
  readonly seen: Uint32Array
  readonly low: Uint32Array
  /** How many of a node's arrows were followed. */
  readonly followed: Uint32Array
  /** Nodes whose component is not closed yet. */
  readonly open: number[]
  readonly isOpen: Uint8Array
  readonly components: number[][]
  clock: number
}

/**
 * The largest sets of nodes that all lead to each other (Tarjan 1972), as a loop: chains of 10,000 are no recursion.
 * Linear; later components lead to earlier ones only.
 */
function strongComponents(next: Arrows): readonly (readonly number[])[] {
  const search: Search = {
    next,
    seen: new Uint32Array(next.length),
    low: new Uint32Array(next.length),
    followed: new Uint32Array(next.length),
    open: [],
    isOpen: new Uint8Array(next.length),
    components: [],
    clock: 0,
  }
  for (let v = 0; v < next.length; v++) if (search.seen[v] === 0) visit(search, v)
  return search.components
}

function visit(search: Search, root: number): void {
  const path = [root]
  enter(search, root)
  for (let v = path.at(-1); v !== undefined; v = path.at(-1)) {
    const to = search.next[v]?.[search.followed[v] ?? 0]
    if (to === undefined) {
      path.pop()
      leave(search, v, path.at(-1))
      continue
    }
    search.followed[v] = (search.followed[v] ?? 0) + 1
    if (search.seen[to] === 0) {
      enter(search, to)
      path.push(to)
    } else if (search.isOpen[to] === 1) lower(search, v, search.seen[to] ?? 0)
  }
}

function enter(search: Search, v: number): void {
  search.clock += 1
  search.seen[v] = search.clock
  search.low[v] = search.clock
  search.open.push(v)
  search.isOpen[v] = 1
}

function lower({ low }: Search, v: number, seen: number): void {
  low[v] = Math.min(low[v] ?? 0, seen)
}

/** A node that leads back to nothing earlier closes a component: all that was opened since. */
function leave(search: Search, v: number, parent: number | undefined): void {
  const { seen, low, open, isOpen, components } = search
  if (parent !== undefined) lower(search, parent, low[v] ?? 0)
  if (low[v] !== seen[v]) return
  const component = open.splice(open.lastIndexOf(v))
  for (const member of component) isOpen[member] = 0
  components.push(component)
}
