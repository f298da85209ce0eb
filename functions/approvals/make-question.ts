import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { ApprovalPolicy } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { holdsWhen } from '../../shared/runs/conditions.ts'
import { costOf } from '../../shared/runs/event-cost.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { World } from '../../shared/world.ts'
import type { BlockCall } from '../blocks/block-call.ts'
import { putBack } from '../blocks/call-meter.ts'
import { storeInputs } from '../blocks/item-inputs.ts'
import { attemptInputs, judgePre } from '../blocks/judge-pre.ts'
import { takenOver } from '../blocks/taken-over.ts'
import { describeQuestion } from './describe-question.ts'
import { questionChanges } from './question-changes.ts'

/** What a person is asked about a block; undefined when its inputs or pre-gates would refuse it anyway, or an earlier result stands in for it. */
export async function makeQuestion(call: BlockCall, id: string): Promise<ApprovalItem | undefined> {
  const { block, world } = call
  const policy = block.approval
  if (policy === undefined) return undefined
  const inputs = await attemptInputs(call).catch(whenRefused)
  if (inputs === undefined || inputs.problems.length > 0 || !holdsWhen(block, inputs.values)) return undefined
  const { values } = inputs
  const attempt = call.resumed?.ask.attempt ?? readOrdinal(call.lane ?? 0).attempt + 1
  const pre = await judgePre(call, attempt, inputs).catch(whenRefused)
  // A judge that may not be asked refuses the block, which records it; of a run that is stopped nobody asks.
  if (pre === undefined || pre.refusal !== undefined || !pre.composed.passed) return undefined
  for (const event of pre.events) putBack(call.meter, costOf(event))
  const open = { attempt, values, inputs_hash: sha256(canonicalJson(values)) }
  if ((await takenOver(call, open)) !== undefined || call.meter.refusal !== undefined) return undefined
  const { prompt, shown, digest, binding_ref, context_version } = await describeQuestion(call, policy, values)
  // What is shown and what is bound are of one moment: when the context moved in between, the machine calls again.
  if (call.resumed === undefined && context_version !== inputs.context_version) return undefined
  const inputs_ref = await storeInputs(call, inputs)
  const question = { prompt, shown, digest, inputs_ref, binding_ref, ...(await questionChanges(call)) }
  return { id, block: block.index, block_id: block.id, ...question, ...terms(world, policy) }
}

/** The block state tells why. A store that is away for a moment refuses nothing: the machine calls again. */
function whenRefused(error: unknown): undefined {
  if (error instanceof Fault && error.name === 'Unavailable') throw error
  return undefined
}

/** Who may decide, until when, and what follows. A document that was pinned by an earlier version lacks what came since. */
function terms(world: World, policy: ApprovalPolicy) {
  const now = world.clock.now()
  const { approvers, self_approval, on_timeout, remind_sec, escalate } = policy
  const { quorum = 1, edit = [], on_reject = 'fail' } = policy
  return {
    requested_at: new Date(now).toISOString(),
    expires_at: new Date(now + policy.timeout_sec * 1_000).toISOString(),
    on_timeout,
    approvers,
    self_approval,
    quorum,
    ...(remind_sec === undefined ? {} : { remind_sec }),
    ...(escalate === undefined ? {} : { escalate }),
    edit,
    on_reject,
  }
}
