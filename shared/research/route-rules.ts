import type { Decoded } from './decode-payload.ts'
import { type PayloadError, payloadError } from './payload-error.ts'
import type { RouteAction } from './route-action.ts'
import { parseDecomposeArgs, parseRetightenArgs, parseWalkSeedsArgs } from './route-args.ts'
import type { RouteDecision } from './route-decision.ts'

/**
 * What is wrong with a router's decision, its args included; empty = it holds. Without candidates there is nothing to
 * synthesize from or to walk from. A decision with errors is asked for once more with them, then routeByDefault().
 */
export function routeErrors(decision: RouteDecision, candidates: number): readonly PayloadError[] {
  const { action } = decision
  if (candidates === 0 && action !== 'retighten' && action !== 'decompose') {
    return [
      payloadError(
        'field_value',
        'action',
        `is "${action}", but there are no candidates: allowed are "retighten", "decompose"`,
      ),
    ]
  }
  const args = ARGS[action](decision)
  return args.ok ? [] : args.errors
}

const ARGS: Readonly<Record<RouteAction, (decision: RouteDecision) => Decoded<unknown>>> = {
  synthesize_directly: () => ({ ok: true, value: {} }),
  retighten: parseRetightenArgs,
  walk_seeds: parseWalkSeedsArgs,
  decompose: parseDecomposeArgs,
}

/** The safe route: decompose with the topic as focus. It finds something for every topic there is something about. */
export function routeByDefault(topic: string): RouteDecision {
  return { action: 'decompose', args: { axes: ['entity_type', 'relationship'], focus: topic } }
}
