import { canonicalJson, type Json, sha256 } from '../canonical.ts'
import { withBlocksAfter } from '../dag/blocks-after.ts'
import { blocksBefore } from '../dag/blocks-before.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { parseDepends } from '../dag/depends.ts'
import { upstreamSkip } from '../runs/conditions.ts'
import type { Outcome } from '../runs/ordinal.ts'
import { runInputsRead } from '../runs/run-inputs-read.ts'

/**
 * What a yes lets happen, as far as it is known when a person is asked (docs/approvals.md, "What a decision binds"; ADR
 * 0062): the document, the overrides of the run, the context keys that the governed blocks read, and the outputs they are
 * wired to. The digest of a question is taken over it, and governed blocks work with exactly this context.
 */
export interface Binding {
  /** dag_hash of the run. */
  readonly document: string
  /** `block.port` -> sha256 of the value the caller set. */
  readonly overrides: Readonly<Record<string, string>>
  /** Every context key a governed block reads that has a value; a key it reads that is not here had none. */
  readonly context: Readonly<Record<string, Json>>
  /** `block.output` -> sha256 of the stored value; null = it comes later, and is what that block makes. */
  readonly outputs: Readonly<Record<string, string | null>>
  /** Ids of the blocks, in document order: the asking one first. */
  readonly blocks: readonly string[]
}

/** What is known at the moment of asking. */
export interface BindingFacts {
  readonly dag: Dag
  readonly dag_hash: string
  readonly overrides: Readonly<Record<string, Json>>
  readonly context: Readonly<Record<string, Json>>
  /** `block.output` -> sha256, of blocks that had completed and stand before the asking one. */
  readonly outputs: Readonly<Record<string, string>>
}

/**
 * The blocks that can run only because of this block's decision: itself, and all behind it up to the next block that asks
 * (whose own question binds what it lets happen). The asking block first, then in document order.
 */
export function governedBlocks(dag: Pick<Dag, 'blocks'>, asking: string): readonly Block[] {
  return governance(dag).governed.get(asking) ?? []
}

/** The blocks whose decision, or whose not being asked, lets this one run; not itself. */
export function governorsOf(dag: Pick<Dag, 'blocks'>, id: string): readonly Block[] {
  return governance(dag).governors.get(id) ?? []
}

interface Governance {
  readonly governed: ReadonlyMap<string, readonly Block[]>
  readonly governors: ReadonlyMap<string, readonly Block[]>
}

const known = new WeakMap<object, Governance>()

/** Found once a document: every claim of its blocks asks. */
function governance(dag: Pick<Dag, 'blocks'>): Governance {
  const found = known.get(dag.blocks) ?? findGovernance(dag)
  known.set(dag.blocks, found)
  return found
}

function findGovernance({ blocks }: Pick<Dag, 'blocks'>): Governance {
  const wires = blocks.flatMap((block) => block.upstream.map((source) => ({ source, block })))
  const next = Map.groupBy(wires, ({ source }) => source)
  const asking = blocks.filter(({ approval }) => approval !== undefined)
  const governed = new Map(asking.map((block) => [block.id, behindUpToTheNext(block, blocks, next)]))
  const pairs = asking.flatMap((block) =>
    (governed.get(block.id) ?? []).slice(1).map(({ id }) => ({ id, asking: block })),
  )
  const governors = new Map<string, readonly Block[]>(
    [...Map.groupBy(pairs, ({ id }) => id)].map(([id, found]) => [id, found.map((pair) => pair.asking)]),
  )
  return { governed, governors }
}

function behindUpToTheNext(
  asking: Block,
  blocks: readonly Block[],
  next: ReadonlyMap<string, readonly { readonly block: Block }[]>,
): readonly Block[] {
  const found = new Set([asking.id])
  // A set's iteration also visits what is added to it on the way.
  for (const id of found) {
    for (const { block } of next.get(id) ?? []) if (block.approval === undefined) found.add(block.id)
  }
  return [asking, ...blocks.filter(({ id }) => id !== asking.id && found.has(id))]
}

/** Context keys that a block's inputs come from, overridden ones left out. */
export function contextKeysOf(dag: Dag, block: Block, overrides: Readonly<Record<string, Json>>): readonly string[] {
  const ports = Object.entries(block.inputs).flatMap(([port, { from }]) =>
    from === undefined && !Object.hasOwn(overrides, `${block.id}.${port}`) ? [port] : [],
  )
  return [...new Set([...ports, ...runInputsRead(dag, block)])]
}

/** `block.output` of everything that is wired into these blocks from outside of them. */
export function wiredFrom(blocks: readonly Block[], overrides: Readonly<Record<string, Json>>): readonly string[] {
  const inside = new Set(blocks.map(({ id }) => id))
  const names = blocks.flatMap((block) =>
    Object.entries(block.inputs).flatMap(([port, { from }]) =>
      from === undefined || inside.has(from.block) || Object.hasOwn(overrides, `${block.id}.${port}`)
        ? []
        : [`${from.block}.${from.output}`],
    ),
  )
  return [...new Set(names)].sort()
}

/** What a yes of this block's question binds. */
export function bindingOf(asking: string, facts: BindingFacts): Binding {
  const { dag, overrides, context, outputs } = facts
  const blocks = governedBlocks(dag, asking)
  const keys = [...new Set(blocks.flatMap((block) => contextKeysOf(dag, block, overrides)))].sort()
  const before = blocksBefore(dag, asking)
  const hashIfKnown = (name: string) => {
    const isBefore = before.has(name.split('.')[0] ?? '')
    return isBefore && Object.hasOwn(outputs, name) ? (outputs[name] ?? null) : null
  }
  return {
    document: facts.dag_hash,
    overrides: Object.fromEntries(Object.entries(overrides).map(([port, value]) => [port, hashOf(value)])),
    context: Object.fromEntries(
      keys.flatMap((key) => (Object.hasOwn(context, key) ? [[key, context[key] ?? null]] : [])),
    ),
    outputs: Object.fromEntries(wiredFrom(blocks, overrides).map((name) => [name, hashIfKnown(name)])),
    blocks: blocks.map(({ id }) => id),
  }
}

/** The context as a governed block sees it: what the decision bound over what is there now. */
export function boundContext(
  dag: Dag,
  block: Block,
  { overrides, context }: Pick<BindingFacts, 'overrides' | 'context'>,
  bindings: readonly Binding[],
): Readonly<Record<string, Json>> {
  const seen = { ...context }
  for (const binding of bindings) {
    if (!binding.blocks.includes(block.id)) continue
    for (const key of contextKeysOf(dag, block, overrides)) {
      const bound = Object.hasOwn(binding.context, key) ? binding.context[key] : undefined
      if (bound === undefined) delete seen[key]
      else seen[key] = bound
    }
  }
  return seen
}

/** Of decisions that bind the same block to different values, and of outputs that are not those bound: why it may not run. */
export function staleBecause(
  block: Block,
  bindings: readonly Binding[],
  outputs: Readonly<Record<string, string>>,
): string | undefined {
  const mine = bindings.filter(({ blocks }) => blocks.includes(block.id))
  for (const [name, hash] of mine.flatMap((binding) => Object.entries(binding.outputs))) {
    if (hash !== null && Object.hasOwn(outputs, name) && outputs[name] !== hash) {
      return `output "${name}" is not the one that was approved`
    }
  }
  const [first, ...others] = mine
  const keys = Object.keys(first?.context ?? {})
  const other = keys.find((key) => others.some(({ context }) => differs(context, first?.context ?? {}, key)))
  return other === undefined ? undefined : `two decisions bind context "${other}" to different values`
}

function differs(a: Readonly<Record<string, Json>>, b: Readonly<Record<string, Json>>, key: string): boolean {
  return Object.hasOwn(a, key) && Object.hasOwn(b, key) && hashOf(a[key] ?? null) !== hashOf(b[key] ?? null)
}

function hashOf(value: Json): string {
  return sha256(canonicalJson(value))
}

/** A question that an override could take away, and the block that would then run although nobody was asked. */
export interface UnaskedQuestion {
  readonly override: string
  readonly asking: string
  readonly runs: string
}

/**
 * Overrides that reach a question which, when it is not asked, does not keep everything behind it from running (`depends`
 * that takes a skipped or failed block): with them a run could go past people who are never shown them.
 */
export function unaskedQuestions(dag: Dag, overrides: Readonly<Record<string, Json>>): readonly UnaskedQuestion[] {
  const asking = dag.blocks.filter(({ approval }) => approval !== undefined)
  return Object.keys(overrides).flatMap((override) => {
    const [block = ''] = override.split('.')
    return asking.flatMap(({ id }) => {
      if (block !== id && !blocksBefore(dag, id).has(block)) return []
      const runs = runsWithout(dag, id)
      return runs === undefined ? [] : [{ override, asking: id, runs }]
    })
  })
}

/** The first block behind `asking` that may run although that one did not complete. */
function runsWithout(dag: Pick<Dag, 'blocks'>, asking: string): string | undefined {
  const after = new Set(withBlocksAfter(dag, asking))
  // Blocks that cannot complete when the asking one does not.
  const held = new Set([asking])
  const left = dag.blocks.filter(({ id }) => after.has(id) && id !== asking)
  for (let moved = true; moved; ) {
    moved = false
    for (const block of left) {
      if (held.has(block.id) || !block.upstream.some((id) => held.has(id))) continue
      if (mayRun(block, held)) return block.id
      held.add(block.id)
      moved = true
    }
  }
  return undefined
}

/** More upstreams than this in one condition are not tried one by one: then it may run. */
const MOST_TRIED = 6
const NOT_DONE: readonly Outcome[] = ['skipped', 'failed', 'cancelled']
const ANY: readonly Outcome[] = ['completed', ...NOT_DONE]

function mayRun(block: Block, held: ReadonlySet<string>): boolean {
  const read = block.depends === undefined ? undefined : parseDepends(block.depends)
  if (read?.ok !== true) return false
  if (block.upstream.some((id) => held.has(id) && !read.blocks.includes(id))) return false
  if (read.blocks.length > MOST_TRIED) return true
  const tries = read.blocks.reduce<readonly Readonly<Record<string, Outcome>>[]>(
    (all, id) => all.flatMap((one) => (held.has(id) ? NOT_DONE : ANY).map((outcome) => ({ ...one, [id]: outcome }))),
    [{}],
  )
  return tries.some((outcomes) => upstreamSkip(block, (id) => outcomes[id] ?? 'completed') === undefined)
}

/** Context keys that may not change any more: those that a question which was asked, or passed, bound or stands for. */
export function lockedKeys(
  dag: Dag,
  overrides: Readonly<Record<string, Json>>,
  state: {
    /** The block's question is open or answered, or it ended without one. */
    readonly isAsked: (block: Block) => boolean
    readonly hasEnded: (block: Block) => boolean
  },
): ReadonlyMap<string, string> {
  const locked = new Map<string, string>()
  for (const asking of dag.blocks) {
    if (asking.approval === undefined || !state.isAsked(asking)) continue
    const governed = governedBlocks(dag, asking.id)
    if (governed.every((block) => state.hasEnded(block))) continue
    for (const block of governed) for (const key of contextKeysOf(dag, block, overrides)) locked.set(key, asking.id)
  }
  return locked
}
