import type { Bounce } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { brokenInvariants } from '../integration/check-invariants.ts'

/** What is wrong with the events of an ended run of this document (spec reliability); empty = nothing. */
export function problemsOf(events: readonly RunEvent[], document: string): readonly string[] {
  const parsed = parseDag(document, { name: 'checked', providers: ['local'] })
  if (!parsed.ok) return parsed.errors.map(({ message }) => message)
  const blocks = parsed.dag.blocks.map(({ id, upstream, post_gates, retry, approval, on_gate_fail = [] }) => ({
    id,
    upstream,
    gates: post_gates.length,
    tries: retry.max_attempts,
    ...(on_gate_fail[0] === undefined ? {} : { bounce: bounceOf(on_gate_fail[0]) }),
    ...(approval === undefined ? {} : { asks: approval.on_timeout }),
  }))
  return brokenInvariants(events, blocks)
}

/** Of several rules the first: the checks count no more than that one's bounces. */
function bounceOf({ when_gate, route_to, max_bounces }: Bounce) {
  return { gate: when_gate, to: route_to, max: max_bounces }
}
