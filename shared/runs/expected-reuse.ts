import { canonicalJson, type Json } from '../canonical.ts'
import type { Block, Dag } from '../dag/dag.ts'
import { topologicalOrder } from '../dag/order.ts'
import { HANDLERS_BEYOND_PORTS } from '../handlers.ts'
import { runInputsRead } from './run-inputs-read.ts'

type Values = Readonly<Record<string, Json>>

/** A run, or the one that retries it: its document and what its blocks are given from outside. */
export interface GivenRun {
  readonly dag: Dag
  readonly context: Values
  readonly overrides: Values
}

/**
 * Blocks of a retry whose results are likely to be taken over, in document order: the same definition, completed, every
 * source of theirs among them, and no value from outside changed. Likely: what counts is the hash of the inputs when a
 * block begins, and whether its gates still hold.
 */
export function expectedReuse(
  before: GivenRun & { readonly completed: ReadonlySet<string> },
  now: GivenRun & { readonly again: readonly string[] },
): readonly string[] {
  const earlier = new Map(before.dag.blocks.map((block) => [block.id, block]))
  const blocks = new Map(now.dag.blocks.map((block) => [block.id, block]))
  const reused = new Set<string>()
  for (const id of topologicalOrder(now.dag)) {
    const block = blocks.get(id)
    if (block === undefined || now.again.includes(id) || !before.completed.has(id)) continue
    if (earlier.get(id)?.hash !== block.hash || isOfItsRun(block)) continue
    if (sourcesOf(block).every((source) => reused.has(source)) && !isChanged(block, before, now)) reused.add(id)
  }
  return now.dag.blocks.map(({ id }) => id).filter((id) => reused.has(id))
}

/** It changes its run's context, or looks at its run, so it is done again. */
function isOfItsRun(block: Block): boolean {
  return block.mode === 'deterministic' && HANDLERS_BEYOND_PORTS[block.handler] === 'run'
}

function sourcesOf({ inputs }: Block): readonly string[] {
  return Object.values(inputs).flatMap(({ from }) => (from === undefined ? [] : [from.block]))
}

function isChanged(block: Block, before: GivenRun, now: GivenRun): boolean {
  const ports = Object.entries(block.inputs).flatMap(([port, { from }]) => (from === undefined ? [port] : []))
  const names = [...ports, ...runInputsRead(now.dag, block), ...runInputsRead(before.dag, block)]
  if (names.some((name) => !isSame(before.context, now.context, name))) return true
  return Object.keys(block.inputs).some((port) => !isSame(before.overrides, now.overrides, `${block.id}.${port}`))
}

function isSame(a: Values, b: Values, key: string): boolean {
  const [one, other] = [Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined]
  return one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other)
}
