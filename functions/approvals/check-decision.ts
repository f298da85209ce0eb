import type { Decision } from '../../shared/api/control-routes.ts'
import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { Principal } from '../../shared/principal.ts'
import { refusalOf } from '../../shared/runs/approval-rules.ts'
import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import type { RestartMode } from '../../shared/runs/head.ts'
import { peopleOf } from '../../shared/runs/people.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'
import { checkEdits } from './check-edits.ts'
import { digestChanged } from './digest-changed.ts'
import type { Picked } from './pick-approval.ts'

type CheckWorld = Pick<World, 'runs' | 'objects' | 'settings'>

/** What a decision brings, in the object store. */
export interface StoredDecision {
  readonly feedback_ref?: string
  readonly edits_ref?: string
  readonly edits_hash?: string
  readonly iterate?: RestartMode
}

/**
 * Everything that may be wrong with a decision on an approval that is pending, the most telling first: who decides
 * (Rejected not_an_approver, self_approval; Conflict already_voted), on what (digest_changed), with which word
 * (waive_expected, nothing_to_waive) and with what (reason_required, iterate_not_allowed, invalid_edits).
 */
export async function checkDecision(
  world: CheckWorld,
  run: RunKey,
  principal: Principal,
  decision: Decision,
  { item, approval }: Picked,
): Promise<StoredDecision> {
  const { meta } = await readPinned(world, run)
  const refusal = refusalOf(item, approval, principal, meta.starter_person ?? meta.starter, peopleOf(world.settings))
  if (refusal !== undefined) {
    const name = refusal.code === 'already_voted' ? 'Conflict' : 'Rejected'
    throw new Fault(name, refusal.code, `Cannot decide approval "${item.id}": ${refusal.message}`)
  }
  const { digest, feedback } = decision
  if (digest !== undefined && digest !== item.digest) throw await digestChanged(world, run, item, digest)
  requireWord(item, decision)
  const iterate = iterationOf(item, decision)
  requireReason(item, decision, iterate)
  const isEdited = Object.keys(decision.edits ?? {}).length > 0
  const edits = isEdited ? await checkEdits(world, run, item, decision) : undefined
  const put = (text: string) => world.objects.put(run.tenant, Buffer.from(text))
  return {
    ...(feedback === undefined ? {} : { feedback_ref: (await put(feedback)).ref }),
    ...(edits === undefined ? {} : { edits_ref: (await put(edits)).ref, edits_hash: sha256(edits) }),
    ...(iterate === undefined ? {} : { iterate }),
  }
}

/** A yes to failed gates is a waiver and is called so; every other yes is an approval. */
function requireWord({ id, about = 'dispatch' }: ApprovalItem, { decision }: Decision): void {
  const isGates = asksWaiver({ about })
  if (decision === 'approve' && isGates) {
    const message = `Cannot approve "${id}": it asks to waive gates that failed. Send "waive" with a reason, or reject it.`
    throw new Fault('Conflict', 'waive_expected', message)
  }
  if (decision === 'waive' && !isGates) {
    const message = `Cannot waive "${id}": it asks about ${about === 'budget' ? 'the budget' : 'a dispatch'}, and no gate has failed. Send "approve" or "reject".`
    throw new Fault('Conflict', 'nothing_to_waive', message)
  }
}

function iterationOf({ id, on_reject = 'fail' }: ApprovalItem, given: Decision): RestartMode | undefined {
  const { decision, iterate, restart_mode } = given
  const isAsked = iterate === true || restart_mode !== undefined
  if (isAsked && (on_reject !== 'iterate' || decision !== 'reject' || iterate === false)) {
    const why =
      on_reject === 'iterate'
        ? 'only a rejection does that'
        : `its block has on_reject: ${on_reject}; a rejection makes another run only with on_reject: iterate`
    throw unprocessable('iterate_not_allowed', `Cannot iterate with approval "${id}": ${why}.`)
  }
  if (decision !== 'reject' || on_reject !== 'iterate' || iterate === false) return undefined
  return restart_mode ?? 'refine'
}

/** What somebody else, or a model, is to go on from needs words. */
function requireReason(
  { id, on_reject = 'fail' }: ApprovalItem,
  { decision, feedback }: Decision,
  iterate: RestartMode | undefined,
): void {
  if (feedback !== undefined && feedback.trim() !== '') return
  const isRouted = decision === 'reject' && on_reject === 'route'
  if (decision !== 'waive' && iterate === undefined && !isRouted) return
  const why = decision === 'waive' ? 'a waiver is recorded with its reason' : `on_reject is ${on_reject}`
  throw unprocessable('reason_required', `Cannot ${decision} "${id}" without a reason: ${why}. Send "feedback".`)
}

function unprocessable(code: string, message: string): Fault {
  return new Fault('InvalidInput', code, message, { status: 422 })
}
