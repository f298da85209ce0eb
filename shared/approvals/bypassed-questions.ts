import type { Block, Dag } from '../dag/dag.ts'
import { parseDepends } from '../dag/expression.ts'
import { blocksBefore, withBlocksAfter } from '../dag/order.ts'
import type { Outcome } from '../runs/lane.ts'
import { childDocumentOf, type Meta } from '../runs/run-store.ts'
import { upstreamSkipReason } from '../runs/skip-rules.ts'
import type { Json } from '../text/json.ts'
import { contextKeysOf } from './decision-binding.ts'
import { asksPeople, governedBlocks } from './governed-blocks.ts'

/** What somebody sets that the document does not ask for: an override (`block.port`), or a key of the context. */
interface SetValue {
  readonly override?: string
  readonly key?: string
}

/** A question that a set value could take away, and the block that would then run although nobody was asked. */
export interface BypassedQuestion extends SetValue {
  readonly asking: string
  readonly runs: string
}

/**
 * Values that reach a question which, when it is not asked, does not keep everything behind it from running (`depends` that
 * takes a skipped or failed block, a child run that may end without asking), or that reach what would then run: with them
 * a run could go past people who are never shown them. By the shape of the document alone.
 */
export function bypassedQuestions(
  dag: Dag,
  { overrides, children }: Pick<Meta, 'overrides' | 'children'>,
  set: readonly SetValue[],
  isMeant: (asking: Block) => boolean = () => true,
): readonly BypassedQuestion[] {
  if (set.length === 0) return []
  const asking = dag.blocks.filter((block) => asksPeople(block, children) && isMeant(block))
  return asking.flatMap((block) => {
    const running = runsWithout(dag, block, children)
    const [runs] = running
    if (runs === undefined) return []
    const reaches = new Set([block.id, ...running])
    for (const id of [...reaches]) for (const before of blocksBefore(dag, id)) reaches.add(before)
    return set
      .filter((value) => touchedBy(dag, value, overrides).some((id) => reaches.has(id)))
      .map((value) => ({ ...value, asking: block.id, runs }))
  })
}

/** Keys among these that the document neither declares nor cannot be run without. */
export function undeclaredKeys(dag: Dag, keys: readonly string[]): readonly string[] {
  const needed = new Set(
    dag.blocks.flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([port, { from, required, default: fallback }]) =>
        required && from === undefined && fallback === undefined ? [port] : [],
      ),
    ),
  )
  return keys.filter((key) => !Object.hasOwn(dag.inputs, key) && !needed.has(key))
}

/** Ids of the blocks that work with a set value. */
function touchedBy(
  dag: Dag,
  { override, key }: SetValue,
  overrides: Readonly<Record<string, Json>>,
): readonly string[] {
  if (override !== undefined) return [override.split('.')[0] ?? '']
  return dag.blocks.flatMap((block) =>
    key !== undefined && contextKeysOf(dag, block, overrides).includes(key) ? [block.id] : [],
  )
}

/** The blocks that may run although the question of `asking` was not asked, in document order. */
function runsWithout(dag: Dag, asking: Block, children: Meta['children']): readonly string[] {
  if (asking.approval === undefined && childDocumentOf(asking, children)?.skippable === true) {
    return governedBlocks(dag, asking.id).map(({ id }) => id)
  }
  const after = new Set(withBlocksAfter(dag, asking.id))
  // Blocks that cannot complete when the asking one does not.
  const held = new Set([asking.id])
  const left = dag.blocks.filter(({ id }) => after.has(id) && id !== asking.id)
  for (let moved = true; moved; ) {
    moved = false
    for (const block of left) {
      if (held.has(block.id) || !block.upstream.some((id) => held.has(id)) || mayRun(block, held)) continue
      held.add(block.id)
      moved = true
    }
  }
  return left.filter(({ id }) => !held.has(id)).map(({ id }) => id)
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
  return tries.some((outcomes) => upstreamSkipReason(block, (id) => outcomes[id] ?? 'completed') === undefined)
}
