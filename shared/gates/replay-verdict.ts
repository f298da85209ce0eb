import { canonicalJson } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'
import { leavesOf } from './check-parts.ts'
import type { GateFacts, Verdict } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { inputHash, judgeGate } from './judge.ts'
import { gateOf } from './registry.ts'

/** The parts of a recorded verdict that do not depend on the day. */
export type RecordedVerdict = Pick<Verdict, 'status' | 'reason' | 'input_hash'> & { readonly facts: unknown }

/**
 * `same`: judged again, and it came out as recorded. `recorded`: it asks the world, or a person waived it, and its inputs
 * are those of the record, which stands. `other_input`: it is not the verdict of this check on these values. `different`:
 * same inputs, another verdict: the record, or the kind, is wrong.
 */
export type Replay = 'same' | 'recorded' | 'other_input' | 'different'

/** Replays a recorded verdict (ADR 0026); nothing but the isolate is asked. */
export async function replayVerdict(
  recorded: RecordedVerdict,
  use: GateUse,
  facts: GateFacts,
  ports: Pick<GatePorts, 'isolate'>,
): Promise<Replay> {
  if (inputHash(use.check, facts) !== recorded.input_hash) return 'other_input'
  if (recorded.status === 'waived' || asksTheWorld(use.check)) return 'recorded'
  const again = await judgeGate(use, facts, { isolate: ports.isolate }, () => 0)
  return told(again) === told(recorded) ? 'same' : 'different'
}

/** Whether its verdict depends on more than its inputs, as the examples of its kinds say. */
function asksTheWorld(check: GateUse['check']): boolean {
  return leavesOf(check).some(({ type }) => gateOf(type)?.examples.some(({ needs }) => needs !== undefined) === true)
}

function told({ status, reason, facts }: RecordedVerdict): string {
  return canonicalJson({ status, reason, facts })
}
