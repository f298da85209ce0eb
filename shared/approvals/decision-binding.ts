import type { Block, Dag } from '../dag/dag.ts'
import { blocksBefore } from '../dag/order.ts'
import { runInputsRead } from '../runs/block-inputs.ts'
import { childDocumentOf, type Meta } from '../runs/run-store.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { feedingBlocks, governedBlocks } from './governed-blocks.ts'

/**
 * What a yes lets happen, as far as it is known when a person is asked (docs/approvals.md, "What a decision binds"; ADR
 * 0062): the document, the overrides of the run, the context keys that the governed blocks read, the outputs they are
 * wired to, and the documents of the child runs they open. It is the same for every kind of question: before the work of a
 * block, about gates that failed, about the budget, and in a child run, whose questions also bind what the run above them
 * goes on with. The digest of a question is taken over it, and governed blocks work with exactly this context.
 */
export interface Binding {
  /** dag_hash of the run. */
  readonly document: string
  /** `block.port` -> sha256 of the value the caller set. */
  readonly overrides: Readonly<Record<string, string>>
  /** Every context key a governed block, or one that feeds it, reads that has a value; a key it reads that is not here had none. */
  readonly context: Readonly<Record<string, Json>>
  /** `block.output` -> sha256 of the stored value; null = it comes later, and is what that block makes. */
  readonly outputs: Readonly<Record<string, string | null>>
  /** Ids of the blocks, in document order: the asking one first. */
  readonly blocks: readonly string[]
  /** Blocks that may still be at work beside the question and that governed ones wait for: their context is bound too. */
  readonly feeds?: readonly string[]
  /** Block -> hash of what it is once its agent is found in the settings. */
  readonly definitions?: Readonly<Record<string, string>>
  /** Name of a child run's document -> what it is, with all below it (ChildDocument.hash). */
  readonly children?: Readonly<Record<string, string | null>>
  /** Of a question of a child run: sha256 of the binding its parent's block was claimed with. */
  readonly above?: string
}

/** What is known at the moment of asking. */
interface BindingFacts {
  readonly dag: Dag
  readonly meta: Pick<Meta, 'dag_hash' | 'overrides' | 'children'>
  readonly context: Readonly<Record<string, Json>>
  /** `block.output` -> sha256, of blocks that had completed and stand before the asking one. */
  readonly outputs: Readonly<Record<string, string>>
  readonly above?: string | undefined
}

/** Whether a binding says with what context this block works. */
function binds({ blocks, feeds = [] }: Binding, id: string): boolean {
  return blocks.includes(id) || feeds.includes(id)
}

/** Context keys that a block's inputs come from, overridden ones left out. */
export function contextKeysOf(dag: Dag, block: Block, overrides: Readonly<Record<string, Json>>): readonly string[] {
  const ports = Object.entries(block.inputs).flatMap(([port, { from }]) =>
    from === undefined && !Object.hasOwn(overrides, `${block.id}.${port}`) ? [port] : [],
  )
  return [...new Set([...ports, ...runInputsRead(dag, block)])]
}

/** `block.output` of everything that is wired into these blocks from outside of them. */
export function outputsWiredInto(
  blocks: readonly Block[],
  overrides: Readonly<Record<string, Json>>,
): readonly string[] {
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
  const { dag, context, outputs, above } = facts
  const { overrides, dag_hash, children } = facts.meta
  const blocks = governedBlocks(dag, asking)
  const feeds = feedingBlocks(dag, asking)
  const all = [...blocks, ...feeds]
  const keys = [...new Set(all.flatMap((block) => contextKeysOf(dag, block, overrides)))].sort()
  const before = blocksBefore(dag, asking)
  const hashIfKnown = (name: string) => {
    const isBefore = before.has(name.split('.')[0] ?? '')
    return isBefore && Object.hasOwn(outputs, name) ? (outputs[name] ?? null) : null
  }
  const opened = all.flatMap((block) => (block.mode === 'dag' ? [[block.dag.name, block] as const] : []))
  return {
    document: dag_hash,
    overrides: overrideHashes(overrides),
    context: Object.fromEntries(
      keys.flatMap((key) => (Object.hasOwn(context, key) ? [[key, context[key] ?? null]] : [])),
    ),
    outputs: Object.fromEntries(outputsWiredInto(blocks, overrides).map((name) => [name, hashIfKnown(name)])),
    blocks: blocks.map(({ id }) => id),
    ...(feeds.length === 0 ? {} : { feeds: feeds.map(({ id }) => id) }),
    definitions: Object.fromEntries(all.map(({ id, hash }) => [id, hash])),
    ...(opened.length === 0 || children === undefined
      ? {}
      : {
          children: Object.fromEntries(
            opened.map(([name, block]) => [name, childDocumentOf(block, children)?.hash ?? null]),
          ),
        }),
    ...(above === undefined ? {} : { above }),
  }
}

/** As a binding has them. */
export function overrideHashes(overrides: Readonly<Record<string, Json>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(overrides).map(([port, value]) => [port, hashOf(value)]))
}

/** The context as a governed block sees it: what the decision bound over what is there now. */
export function boundContext(
  dag: Dag,
  block: Block,
  { overrides, context }: { readonly overrides: Meta['overrides']; readonly context: BindingFacts['context'] },
  bindings: readonly Binding[],
): Readonly<Record<string, Json>> {
  const seen = { ...context }
  for (const binding of bindings) {
    if (!binds(binding, block.id)) continue
    for (const key of contextKeysOf(dag, block, overrides)) {
      const bound = Object.hasOwn(binding.context, key) ? binding.context[key] : undefined
      if (bound === undefined) delete seen[key]
      else seen[key] = bound
    }
  }
  return seen
}

/** Of decisions that bind the same block to different values, and of outputs that are not those bound: why it may not run. */
export function staleReason(
  block: Block,
  bindings: readonly Binding[],
  outputs: Readonly<Record<string, string>>,
): string | undefined {
  const mine = bindings.filter((binding) => binds(binding, block.id))
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

/** In what two bindings of one block differ, in words. */
export function bindingDifferences(then: Binding, now: Binding): readonly string[] {
  const differing = (word: string, a: Readonly<Record<string, Json>> = {}, b: Readonly<Record<string, Json>> = {}) =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .filter(
        (name) =>
          Object.hasOwn(a, name) !== Object.hasOwn(b, name) || hashOf(a[name] ?? null) !== hashOf(b[name] ?? null),
      )
      .map((name) => `${word} "${name}"`)
  return [
    ...(then.document === now.document ? [] : ['the document']),
    ...differing('override', then.overrides, now.overrides),
    ...differing('context', then.context, now.context),
    ...differing('output', then.outputs, now.outputs),
    ...differing('the definition of block', then.definitions, now.definitions),
    ...differing('the child document', then.children, now.children),
    ...(then.above === now.above ? [] : ['what the run above goes on with']),
  ]
}

/** Context keys that may not change any more: those that a question which was asked, or passed, bound or stands for. */
export function lockedContextKeys(
  dag: Dag,
  overrides: Readonly<Record<string, Json>>,
  state: {
    /** A question of the block is open or answered, or may come of the child run it has opened, or it ended without one. */
    readonly isAsked: (block: Block) => boolean
    readonly hasEnded: (block: Block) => boolean
  },
): ReadonlyMap<string, string> {
  const locked = new Map<string, string>()
  for (const asking of dag.blocks) {
    if (!state.isAsked(asking)) continue
    const governed = governedBlocks(dag, asking.id)
    if (governed.every((block) => state.hasEnded(block))) continue
    const feeding = feedingBlocks(dag, asking.id).filter((block) => !state.hasEnded(block))
    for (const block of [...governed, ...feeding]) {
      for (const key of contextKeysOf(dag, block, overrides)) locked.set(key, asking.id)
    }
  }
  return locked
}
