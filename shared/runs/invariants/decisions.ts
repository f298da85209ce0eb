import { refusalOf } from '../approval-rules.ts'
import type { EventData, RunEvent } from '../event.ts'
import type { ApprovalItem } from '../run-items.ts'
import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'

type Decided = Extract<RunEvent, { readonly type: 'approval:decided' }>

export const decisions = invariant({
  n: 13,
  title: 'an approval has at most one answer: of somebody allowed, to what was shown, before it expires',
  of: 'log',
  needs: ['events'],
  check({ events, approvals = [], meta }) {
    const log: Log = { asked: new Map(), answers: new Map() }
    const items = new Map(approvals.map((item) => [item.id, item]))
    return events.flatMap((event) => {
      if (event.type === 'approval:requested') return noteQuestion(log, event)
      if (event.type === 'approval:expired') return noteAnswer(log, event)
      if (event.type !== 'approval:decided') return []
      const item = items.get(event.data.approval_id)
      return [
        ...noteAnswer(log, event),
        ...askedProblems(event, log.asked.get(event.data.approval_id)),
        ...(item === undefined ? [] : allowedProblems(event, item, meta?.starter ?? '')),
      ]
    })
  },
})

/** By approval: what was asked, and the event that answered. */
interface Log {
  readonly asked: Map<string, EventData<'approval:requested'>>
  readonly answers: Map<string, number>
}

function noteQuestion(
  { asked }: Log,
  { seq, data }: Extract<RunEvent, { readonly type: 'approval:requested' }>,
): readonly string[] {
  const twice = asked.has(data.approval_id) ? [`event ${seq} asks ${data.approval_id} again`] : []
  asked.set(data.approval_id, data)
  return twice
}

function noteAnswer(
  { answers }: Log,
  event: Extract<RunEvent, { readonly type: 'approval:decided' | 'approval:expired' }>,
): readonly string[] {
  const { approval_id } = event.data
  const earlier = answers.get(approval_id)
  if (isAnswer(event)) answers.set(approval_id, event.seq)
  return earlier === undefined ? [] : [`event ${event.seq} answers ${approval_id}, as event ${earlier} did`]
}

function isAnswer(event: RunEvent): boolean {
  if (event.type !== 'approval:decided') return true
  return event.data.decision === 'reject' || event.data.have >= event.data.need
}

function askedProblems({ seq, at, data }: Decided, asked: EventData<'approval:requested'> | undefined) {
  if (asked === undefined) return [`event ${seq} decides ${data.approval_id}, which nobody was asked`]
  const wrong: string[] = []
  if (at > asked.expires_at) wrong.push(`event ${seq} decides at ${at} what expired at ${asked.expires_at}`)
  if (data.digest !== asked.digest) wrong.push(`event ${seq} decides something else than was shown (digest)`)
  return wrong
}

function allowedProblems({ seq, data }: Decided, item: ApprovalItem, starter: string): readonly string[] {
  const { kind, id } = data.by
  // A principal's kind is open in an event: who may decide is a matter of names.
  const principal = { kind: kind as 'user', id, tenant: '', scopes: [] }
  const refusal = refusalOf(item, principal, starter)
  return refusal === undefined ? [] : [`event ${seq}: ${refusal.message}`]
}

export const decisionEffects = invariant({
  n: 14,
  title: 'a block goes on as was decided, and never without consent',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const asking = new Set(dag.blocks.flatMap(({ id, approval }) => (approval === undefined ? [] : [id])))
    return passesOf(events).flatMap((pass) => {
      if (!asking.has(pass.block_id) || pass.item !== undefined) return []
      return isTakenOver(events, pass) ? [] : effectProblems(pass)
    })
  },
})

/** What a retry took over from an earlier run was approved there, by its digest: nobody is asked again. */
function isTakenOver([first]: readonly RunEvent[], { events }: Pass): boolean {
  if (first?.type !== 'run:started' || first.data.retry_of === undefined) return false
  const isAsked = events.some(({ type }) => type.startsWith('approval:'))
  return !isAsked && events.some(({ type, data }) => type === 'block:completed' && data.cached_from !== undefined)
}

/** Before its dispatch a pre-gate may fail without anybody being asked; what a dispatch made shows as its output. */
function effectProblems(pass: Pass): readonly string[] {
  const answer = pass.events.find((event) => event.type.startsWith('approval:') && isConsent(event) !== undefined)
  const consent = answer === undefined ? undefined : isConsent(answer)
  const dispatched = pass.events.find(({ type }) => type === 'block:output' || type === 'block:completed')
  if (dispatched !== undefined && consent !== true) {
    return [`${nameOf(pass)}: event ${dispatched.seq} ${dispatched.type} without consent`]
  }
  const begun = pass.events.find(({ type, seq }) => type === 'block:started' && seq > (answer?.seq ?? 0))
  if (consent === false && begun !== undefined) return [`${nameOf(pass)}: event ${begun.seq} starts what was refused`]
  const refused = pass.events.find((event) => event.type === 'block:failed' && REFUSED.has(event.data.code))
  if (refused !== undefined && consent !== false)
    return [`${nameOf(pass)}: event ${refused.seq} refuses what nobody did`]
  return []
}

const REFUSED: ReadonlySet<string> = new Set(['approval_rejected', 'approval_expired'])

/** What an answer means; undefined = it is none yet. */
function isConsent(event: RunEvent): boolean | undefined {
  if (event.type === 'approval:expired') return event.data.on_timeout === 'approve'
  if (event.type !== 'approval:decided' || !isAnswer(event)) return undefined
  return event.data.decision === 'approve'
}
