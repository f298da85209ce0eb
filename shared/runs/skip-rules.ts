import type { Block } from '../dag/dag.ts'
import { evaluateExpression, parseDepends, parseExpression } from '../dag/expression.ts'
import type { Json } from '../text/json.ts'
import type { EventData } from './event.ts'
import type { Outcome } from './lane.ts'

type Skip = EventData<'block:skipped'>

/** block:skipped names so many upstream blocks at most. */
const NAMED = 20

/**
 * Why a block whose upstreams have all ended is skipped; undefined when it may go on. Blocks its `depends` names may have
 * ended in any way that makes it true, the others must have completed (docs/dag.md, "Depends").
 */
export function upstreamSkipReason(
  { upstream, depends }: Pick<Block, 'upstream' | 'depends'>,
  outcomeOf: (id: string) => Outcome | undefined,
): Skip | undefined {
  const read = depends === undefined ? undefined : parseDepends(depends)
  // The document was checked when it was parsed: an expression that cannot be read names nothing, and all must complete.
  const condition = read?.ok === true ? read : undefined
  const named = condition?.blocks ?? []
  const unmet = (ids: readonly string[]) => ids.filter((id) => outcomeOf(id) !== 'completed').slice(0, NAMED)
  const because = unmet(upstream.filter((id) => !named.includes(id)))
  if (because.length > 0) return { because }
  if (condition === undefined) return undefined
  const outcomes = Object.fromEntries(named.map((id) => [id, factsOf(outcomeOf(id))]))
  const holds = evaluateExpression(condition.expression, outcomes) === true
  return holds ? undefined : { because: unmet(named), condition: 'depends' }
}

/** Whether a block's `when` is exactly true over its inputs; what has no value is unknown, which is not true. */
export function isWhenTrue({ when }: Pick<Block, 'when'>, inputs: Readonly<Record<string, Json>>): boolean {
  if (when === undefined) return true
  const parsed = parseExpression(when)
  return parsed.ok && evaluateExpression(parsed.expression, { inputs }) === true
}

function factsOf(outcome: Outcome | undefined): Readonly<Record<string, boolean>> {
  const completed = outcome === 'completed'
  const [failed, skipped, cancelled] = [outcome === 'failed', outcome === 'skipped', outcome === 'cancelled']
  return { succeeded: completed, completed, failed, skipped, cancelled, done: outcome !== undefined }
}
