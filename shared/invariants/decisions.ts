import { isActing } from '../agents/agent-items.ts'
import type { Dag } from '../dag/dag.ts'
import { asksWaiver, listedApprovers } from '../runs/approval.ts'
import { type Pass, passEnd, passesOf, passName } from '../runs/block-passes.ts'
import type { EventData, RunEvent } from '../runs/event.ts'
import { questionNumber } from '../runs/ids.ts'
import { movedBy, stoodSince } from '../runs/pause.ts'
import type { ApprovalItem } from '../runs/run-store-items.ts'
import { readAgentItem } from '../runs/turns-and-calls.ts'
import { defineInvariant } from './invariant.ts'

type Decided = Extract<RunEvent, { readonly type: 'approval:decided' }>

export const decisions = defineInvariant({
  n: 13,
  title:
    'an approval has at most one answer, of as many different people as were asked for, to what was shown, in time',
  of: 'log',
  needs: ['events'],
  check({ events, approvals = [], meta }) {
    const log: Log = { asked: new Map(), answers: new Map(), votes: new Map(), escalated: new Set() }
    const items = new Map(approvals.map((item) => [item.id, item]))
    return events.flatMap((event) => {
      if (event.type === 'approval:requested') return noteQuestion(log, event)
      if (event.type === 'approval:expired') return noteAnswer(log, event)
      if (event.type === 'approval:escalated') log.escalated.add(event.data.approval_id)
      if (event.type !== 'approval:decided') return []
      const item = items.get(event.data.approval_id)
      return [
        ...noteAnswer(log, event),
        ...askedProblems(event, askedWithPauses(events, event, log.asked.get(event.data.approval_id))),
        ...voteProblems(log, event),
        ...(item === undefined ? [] : allowedProblems(event, item, meta?.starter_person ?? meta?.starter ?? '', log)),
      ]
    })
  },
})

/** By approval: what was asked, the event that answered, and who said yes so far. */
interface Log {
  readonly asked: Map<string, EventData<'approval:requested'>>
  readonly answers: Map<string, number>
  readonly votes: Map<string, readonly string[]>
  readonly escalated: Set<string>
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

/** It is open for longer by what its run stood paused until then. */
function askedWithPauses(
  events: readonly RunEvent[],
  { seq, at, data }: Decided,
  asked: EventData<'approval:requested'> | undefined,
): EventData<'approval:requested'> | undefined {
  if (asked === undefined || !events.some(({ type }) => type === 'run:paused')) return asked
  const before = events.filter((event) => event.seq < seq)
  const requested = before.findLast((event) => {
    return event.type === 'approval:requested' && event.data.approval_id === data.approval_id
  })
  const stood = requested === undefined ? 0 : stoodSince(before, requested.at, Date.parse(at))
  return { ...asked, expires_at: movedBy(asked.expires_at, stood) }
}

function askedProblems({ seq, at, data }: Decided, asked: EventData<'approval:requested'> | undefined) {
  if (asked === undefined) return [`event ${seq} decides ${data.approval_id}, which nobody was asked`]
  const wrong: string[] = []
  if (at > asked.expires_at) wrong.push(`event ${seq} decides at ${at} what expired at ${asked.expires_at}`)
  if (data.digest !== asked.digest) wrong.push(`event ${seq} decides something else than was shown (digest)`)
  if (data.need !== asked.quorum) wrong.push(`event ${seq} counts up to ${data.need}, asked were ${asked.quorum}`)
  if (data.decision !== 'reject' && (data.decision === 'waive') !== asksWaiver(asked))
    wrong.push(`event ${seq} is "${data.decision}" to a question about ${asked.about ?? 'dispatch'}`)
  return wrong
}

/** Yeses are counted one by one, each of another person; what goes with them changes nothing for the others. */
function voteProblems({ votes }: Log, { seq, data }: Decided): readonly string[] {
  const { approval_id, decision, by, person, have, need, edits_ref, iterate } = data
  const wrong: string[] = []
  if (edits_ref !== undefined && (decision !== 'approve' || need > 1))
    wrong.push(`event ${seq} edits without being the one yes`)
  if (iterate !== undefined && decision !== 'reject') wrong.push(`event ${seq} iterates, but rejects nothing`)
  if (decision === 'reject') return wrong
  const name = person ?? `${by.kind}:${by.id}`
  const before = votes.get(approval_id) ?? []
  votes.set(approval_id, [...before, name])
  if (before.includes(name)) wrong.push(`event ${seq} counts "${name}" again`)
  if (have !== before.length + 1) wrong.push(`event ${seq} is vote ${have}, ${before.length} came before`)
  return wrong
}

/** By the rule the event names; who was in a group then, only the settings of that moment knew. */
function allowedProblems(
  { seq, data }: Decided,
  item: ApprovalItem,
  starter: string,
  { escalated }: Log,
): readonly string[] {
  const { by, person, policy, approval_id } = data
  const name = `${by.kind}:${by.id}`
  const wrong: string[] = []
  const state = escalated.has(approval_id) ? { escalated: true as const } : {}
  const listed = listedApprovers(item, state)
  const rule = policy.replace(/^alias:/, '').replace(/^people:/, 'user:')
  const holds =
    policy === 'anyone_allowed' || policy.startsWith('default_group:')
      ? item.approvers.length === 0
      : listed.includes(policy === 'approvers' ? name : rule)
  if (!holds) wrong.push(`event ${seq}: "${name}" is not among the approvers (by "${policy}")`)
  if (!item.self_approval && (person ?? name) === starter)
    wrong.push(`event ${seq}: "${name}" started the run and may not decide`)
  return wrong
}

export const decisionEffects = defineInvariant({
  n: 14,
  title: 'a block goes on as was decided, and never without consent',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const asking = new Set(dag.blocks.flatMap(({ id, approval }) => (approval === undefined ? [] : [id])))
    const answers = askAnswers(events)
    const turns = refusedTurns(events, dag)
    return passesOf(events).flatMap((pass) => {
      const wrong = turns.has(passKey(pass)) ? [] : askProblems(pass, answers)
      if (!asking.has(pass.block_id) || pass.item !== undefined || isTakenOver(events, pass)) return wrong
      return [...wrong, ...effectProblems(pass)]
    })
  },
})

/** Agents that fail by the no to what a turn of theirs asked: the turn is what was asked about. */
function refusedTurns(events: readonly RunEvent[], dag: Dag): ReadonlySet<string> {
  const agents = new Set(dag.blocks.flatMap((block) => (isActing(block) ? [block.id] : [])))
  return new Set(
    passesOf(events).flatMap((pass) => {
      const isTurn = pass.item !== undefined && readAgentItem(pass.item).call === undefined && agents.has(pass.block_id)
      const end = isTurn ? passEnd(pass) : undefined
      return end?.type === 'block:failed' && ASK_REFUSED.has(end.data.code)
        ? [passKey({ ...pass, item: undefined })]
        : []
    }),
  )
}

function passKey({ block_id, item, epoch }: Omit<Pass, 'item' | 'events'> & { readonly item?: number | undefined }) {
  return `${epoch}/${item ?? ''}/${block_id}`
}

/** What a retry took over from an earlier run was approved there, by its digest: nobody is asked again. */
function isTakenOver([first]: readonly RunEvent[], { events }: Pass): boolean {
  if (first?.type !== 'run:started' || first.data.retry_of === undefined) return false
  const isAsked = events.some(({ type, data }) => {
    return type === 'approval:requested' && questionNumber(data.approval_id) === undefined
  })
  return !isAsked && events.some(({ type, data }) => type === 'block:completed' && data.cached_from !== undefined)
}

/** Before its dispatch a pre-gate may fail without anybody being asked; what a dispatch made shows as its output. */
function effectProblems(pass: Pass): readonly string[] {
  const answer = pass.events.find((event) => isConsent(event) !== undefined)
  const consent = answer === undefined ? undefined : isConsent(answer)
  const dispatched = pass.events.find(({ type }) => type === 'block:output' || type === 'block:completed')
  if (dispatched !== undefined && consent !== true) {
    return [`${passName(pass)}: event ${dispatched.seq} ${dispatched.type} without consent`]
  }
  const begun = pass.events.find(({ type, seq }) => type === 'block:started' && seq > (answer?.seq ?? 0))
  if (consent === false && begun !== undefined) return [`${passName(pass)}: event ${begun.seq} starts what was refused`]
  const refused = pass.events.find((event) => event.type === 'block:failed' && REFUSED.has(event.data.code))
  if (refused !== undefined && consent !== false)
    return [`${passName(pass)}: event ${refused.seq} refuses what nobody did`]
  return []
}

const REFUSED: ReadonlySet<string> = new Set(['approval_rejected', 'approval_expired'])

/** What an answer to the question before the work means; undefined = it is none, or none yet. */
function isConsent(event: RunEvent): boolean | undefined {
  if (event.type !== 'approval:expired' && event.type !== 'approval:decided') return undefined
  if (questionNumber(event.data.approval_id) !== undefined || !isAnswer(event)) return undefined
  return event.type === 'approval:expired' ? event.data.on_timeout === 'approve' : event.data.decision !== 'reject'
}

type Asked = EventData<'block:asked'>

/** Every answer to a question in the middle of an attempt, by its id: whether it was a yes, and when it came. */
type AskAnswers = ReadonlyMap<string, { readonly yes: boolean; readonly seq: number }>

export function askAnswers(events: readonly RunEvent[]): AskAnswers {
  const answers = new Map<string, { readonly yes: boolean; readonly seq: number }>()
  for (const { type, data, seq } of events) {
    const isAnswer = type === 'approval:decided' || type === 'approval:expired'
    if (!isAnswer || questionNumber(data.approval_id) === undefined) continue
    answers.set(data.approval_id, { yes: type === 'approval:decided' && data.decision !== 'reject', seq })
  }
  return answers
}

/** An attempt that was asked about goes on, waives and completes only after a yes, and fails by a no only after one. */
function askProblems(pass: Pass, answers: AskAnswers): readonly string[] {
  const asked = new Map<string, Asked>()
  return pass.events.flatMap((event) => {
    if (event.type === 'block:asked') {
      asked.set(event.data.approval_id, event.data)
      return []
    }
    return problemsOf(pass, event, asked, answers).map((problem) => `${passName(pass)}: event ${event.seq} ${problem}`)
  })
}

function problemsOf(
  pass: Pass,
  event: RunEvent,
  asked: ReadonlyMap<string, Asked>,
  answers: AskAnswers,
): readonly string[] {
  const said = (id: string) => {
    const answer = answers.get(id)
    return answer === undefined || answer.seq > event.seq ? undefined : answer.yes
  }
  const isYes = (id: string) => asked.has(id) && said(id) === true
  switch (event.type) {
    case 'block:resumed':
      return isYes(event.data.approval_id) ? [] : ['goes on without a yes']
    case 'block:gate':
      return event.data.status === 'waived' ? waiverProblems(event.data, asked, isYes) : []
    case 'block:completed': {
      const open = askedIn(pass, event).filter((id) => !isYes(id))
      return open.length === 0 ? [] : [`completes without a yes to ${open.join(', ')}`]
    }
    case 'block:failed': {
      if (!ASK_REFUSED.has(event.data.code)) return []
      const last = askedIn(pass, event).at(-1)
      return last !== undefined && said(last) === false ? [] : ['fails by a no that nobody said']
    }
    default:
      return []
  }
}

const ASK_REFUSED: ReadonlySet<string> = new Set(['ask_rejected', 'ask_expired', 'agent_stopped'])

function waiverProblems(
  { gate, phase, facts }: EventData<'block:gate'>,
  asked: ReadonlyMap<string, Asked>,
  isYes: (id: string) => boolean,
): readonly string[] {
  const isTold = typeof facts === 'object' && facts !== null && 'approval_id' in facts
  const id = isTold && typeof facts.approval_id === 'string' ? facts.approval_id : ''
  if (!isYes(id)) return [`waives gate "${gate}" without a yes`]
  const about = asked.get(id)?.about
  return about === `${phase}_gates` || (about === 'call' && phase === 'pre')
    ? []
    : [`waives gate "${gate}", which was not asked about`]
}

/** Ids of the questions about this attempt, in order. */
function askedIn({ events }: Pass, { attempt, seq }: RunEvent): readonly string[] {
  return events.flatMap((one) => {
    return one.type === 'block:asked' && one.attempt === attempt && one.seq < seq ? [one.data.approval_id] : []
  })
}
