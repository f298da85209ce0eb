import { afterEach, describe, expect, test } from 'vitest'
import { describeInboxEntry } from '../../../functions/approvals/inbox-entry.ts'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { ApprovalEntry } from '../../../shared/api/approval-routes.ts'
import { type AuditedApproval, auditLines } from '../../../shared/approvals/audit.ts'
import type { Principal } from '../../../shared/auth/principal.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import { type ApprovalPlace, agent, deploy, openApprovalPlace } from './approval-place.ts'

/** The inbox and the record of decisions, where several people, times and kinds of questions come together. */
let place: ApprovalPlace
let ahead = 0
const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
afterEach(async () => {
  await place.close()
  ahead = 0
})

const GROUPS = { approvals: { groups: { release: ['user:ana', 'user:bo'], leads: ['user:cy'] } } }

/** The one open question as this person sees it in the inbox. */
async function seenBy(name: string): Promise<ApprovalEntry> {
  const { world } = place.place
  const { asked } = await world.runs.inbox('main', { closed: false, limit: 10 })
  const principal: Principal = { kind: 'user', id: name, tenant: 'main', scopes: SCOPES }
  const [one] = asked
  if (one === undefined) throw new Error('nothing is open')
  return describeInboxEntry(world, principal, one, new Set(Object.keys(one.item.shown)))
}

async function record(run_id: string) {
  const { json } = (await place.call('get-run', run_id)) as unknown as {
    json: { run: { dag_name: string; dag_hash: string }; approvals: readonly AuditedApproval[] }
  }
  const events = await place.events(run_id)
  const lines = auditLines(events, { run_id, ...json.run, approvals: json.approvals })
  for (const { seq, hash } of lines) expect(hash).toBe(hashAfter(events.slice(0, seq)))
  return lines
}

describe('the inbox', () => {
  test('tells each person whether they may decide, and how the votes stand', async () => {
    place = await openApprovalPlace(GROUPS)
    const id = await place.start(deploy({ quorum: 2, approvers: ['group:release'], edit: [] }))
    const { digest } = await place.asked(id, 'deploy')
    expect(await seenBy('dee')).toMatchObject({ may_decide: { allowed: false, code: 'not_an_approver' } })
    expect(await seenBy('ana')).toMatchObject({ may_decide: { allowed: true }, quorum: 2, votes: [] })
    await place.decide(id, 'user:ana', { decision: 'approve', digest, feedback: 'fine with me' })
    expect(await seenBy('ana')).toMatchObject({
      may_decide: { allowed: false, code: 'already_voted' },
      votes: [{ by: 'user:ana', via: 'api' }],
      status: 'pending',
    })
    expect((await seenBy('bo')).may_decide).toEqual({ allowed: true })
    await place.decide(id, 'user:bo', { decision: 'approve', digest, feedback: 'go' })
    await place.ended(id)
    expect(await record(id)).toMatchObject([
      { kind: 'requested', quorum: 2, approvers: ['group:release'] },
      { kind: 'vote', who: { id: 'ana' }, why: 'fine with me', have: 1, need: 2, policy: 'group:release' },
      { kind: 'decided', who: { id: 'bo' }, why: 'go', have: 2, need: 2, decision: 'approve' },
    ])
  })

  test('counts reminders apart from the escalation, and shows who may decide since', async () => {
    place = await openApprovalPlace(GROUPS, { clock })
    const escalate = { after_sec: 700, to: ['group:leads'] }
    const id = await place.start(deploy({ approvers: ['user:ana'], timeout_sec: 3_600, remind_sec: 600, escalate }))
    await place.asked(id, 'deploy')
    expect(await seenBy('cy')).toMatchObject({ reminders: 0, may_decide: { code: 'not_an_approver' } })
    ahead = 601_000
    await place.until(id, ({ type }) => type === 'approval:reminded')
    expect(await seenBy('cy')).toMatchObject({ reminders: 1, may_decide: { code: 'not_an_approver' } })
    ahead = 701_000
    await place.until(id, ({ type }) => type === 'approval:escalated')
    const seen = await seenBy('cy')
    expect(seen).toMatchObject({ reminders: 1, escalated_to: ['group:leads'], may_decide: { allowed: true } })
    expect(seen.age_ms).toBeGreaterThanOrEqual(701_000)
    ahead = 3_601_000
    await place.until(id, ({ type }) => type === 'approval:expired')
    const { asked } = await place.place.world.runs.inbox('main', { closed: false, limit: 10 })
    expect(asked).toEqual([])
    expect((await record(id)).map(({ kind }) => kind)).toEqual(['requested', 'reminded', 'escalated', 'expired'])
  })

  test('a question about failed gates is a high risk, names them, and its yes is recorded as a waiver', async () => {
    place = await openApprovalPlace()
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 500 }, on_fail: 'ask' }
    const outputs = { text: { type: 'string' } }
    const id = await place.start({ blocks: [{ id: 'draft', outputs, agent: agent('draft'), post_gates: [gate] }] })
    const { digest } = await place.asked(id, 'draft')
    const seen = await seenBy('ana')
    expect(seen).toMatchObject({ about: 'post_gates', gates: [{ name: 'long', reason: expect.any(String) }] })
    expect(seen.risk).toMatchObject({ level: 'high' })
    expect(seen.risk.because[0]).toBe('a yes waives 1 failed gate: long')
    expect(seen.risk.because).toContain('no block to run after a yes')
    await place.decide(id, 'user:ana', { decision: 'waive', digest, feedback: 'short is right' })
    await place.ended(id)
    expect(await record(id)).toMatchObject([
      { kind: 'requested', about: 'post_gates', gates: [{ name: 'long' }] },
      { kind: 'decided', decision: 'waive', why: 'short is right', about: 'post_gates' },
      { kind: 'waived', gate: 'long', who: 'user:ana', about: 'post_gates' },
    ])
  })

  test('a question about the budget tells the caps a yes would set', async () => {
    place = await openApprovalPlace()
    const outputs = { text: { type: 'string' } }
    const id = await place.start({
      budget: { tokens: 50, on_exceed: 'ask' },
      blocks: [{ id: 'draft', outputs, agent: { ...agent('draft'), model_params: { max_tokens: 60 } } }],
    })
    const { digest } = await place.asked(id, 'draft')
    const seen = await seenBy('ana')
    expect(seen).toMatchObject({ about: 'budget', raise: { tokens: 100 }, risk: { level: 'medium' } })
    expect(seen.risk.because).toContain('a yes raises the budget of the run to 100 tokens')
    await place.decide(id, 'user:ana', { decision: 'approve', digest })
    await place.ended(id)
    expect(await record(id)).toMatchObject([
      { kind: 'requested', about: 'budget', raise: { tokens: 100 } },
      { kind: 'decided', decision: 'approve', about: 'budget' },
    ])
  })
})
