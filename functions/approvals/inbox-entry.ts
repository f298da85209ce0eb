import type { ApprovalEntry } from '../../shared/api/approval-routes.ts'
import { inboxEntry } from '../../shared/approvals/inbox.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { decisionRefusal } from '../../shared/runs/approval.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { type People, peopleOf } from '../../shared/runs/people.ts'
import { type Asked, shownApprovalStatus } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues } from '../record/projections.ts'

/** A question with the values of these ports (the others are named), and whether the caller may decide. */
export async function describeInboxEntry(
  world: Pick<World, 'runs' | 'objects' | 'settings' | 'clock'>,
  principal: Principal,
  asked: Asked,
  ports: ReadonlySet<string>,
): Promise<ApprovalEntry> {
  const { tenant, run_id } = asked.meta
  const { dag, index, moduleOf } = await readPinned(world, { tenant, run_id })
  const now = world.clock.now()
  const entry = inboxEntry(asked, { dag, places: { index, moduleOf }, routing: world.settings, now })
  const values = Object.entries(asked.item.shown).map(async ([port, stored]): Promise<[string, unknown]> => {
    return [port, ports.has(port) ? await valueOr(world, tenant, stored) : stored]
  })
  return {
    ...entry,
    shown: Object.fromEntries(await Promise.all(values)),
    may_decide: mayDecide(asked, principal, peopleOf(world.settings)),
  }
}

/** What cannot be shown is named: one lost value must not hide all that people are asked. */
async function valueOr(world: Pick<World, 'objects'>, tenant: string, stored: StoredValue): Promise<unknown> {
  try {
    return (await readPortValues(world, tenant, { stored })).stored
  } catch (error) {
    if (error instanceof Fault && UNREADABLE.has(error.code)) return stored
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['object_missing', 'object_corrupt'])

function mayDecide({ item, head, meta }: Asked, principal: Principal, people: People): ApprovalEntry['may_decide'] {
  const status = shownApprovalStatus(head, item.id)
  const approval = head.approvals[item.id]
  if (approval === undefined || status !== 'pending') {
    return { allowed: false, code: 'already_decided', reason: `It is ${status}.` }
  }
  const refusal = decisionRefusal(item, approval, principal, meta.starter_person ?? meta.starter, people)
  return refusal === undefined ? { allowed: true } : { allowed: false, code: refusal.code, reason: refusal.message }
}
