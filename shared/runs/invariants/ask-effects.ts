import { askNumber } from '../ask-id.ts'
import type { EventData, RunEvent } from '../event.ts'
import { nameOf, type Pass } from './passes.ts'

type Asked = EventData<'block:asked'>

/** Every answer to a question in the middle of an attempt, by its id: whether it was a yes, and when it came. */
export type AskAnswers = ReadonlyMap<string, { readonly yes: boolean; readonly seq: number }>

export function askAnswers(events: readonly RunEvent[]): AskAnswers {
  const answers = new Map<string, { readonly yes: boolean; readonly seq: number }>()
  for (const { type, data, seq } of events) {
    const isAnswer = type === 'approval:decided' || type === 'approval:expired'
    if (!isAnswer || askNumber(data.approval_id) === undefined) continue
    answers.set(data.approval_id, { yes: type === 'approval:decided' && data.decision !== 'reject', seq })
  }
  return answers
}

/** An attempt that was asked about goes on, waives and completes only after a yes, and fails by a no only after one. */
export function askProblems(pass: Pass, answers: AskAnswers): readonly string[] {
  const asked = new Map<string, Asked>()
  return pass.events.flatMap((event) => {
    if (event.type === 'block:asked') {
      asked.set(event.data.approval_id, event.data)
      return []
    }
    return problemsOf(pass, event, asked, answers).map((problem) => `${nameOf(pass)}: event ${event.seq} ${problem}`)
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
      if (!REFUSED.has(event.data.code)) return []
      const last = askedIn(pass, event).at(-1)
      return last !== undefined && said(last) === false ? [] : ['fails by a no that nobody said']
    }
    default:
      return []
  }
}

const REFUSED: ReadonlySet<string> = new Set(['ask_rejected', 'ask_expired'])

function waiverProblems(
  { gate, phase, facts }: EventData<'block:gate'>,
  asked: ReadonlyMap<string, Asked>,
  isYes: (id: string) => boolean,
): readonly string[] {
  const isTold = typeof facts === 'object' && facts !== null && 'approval_id' in facts
  const id = isTold && typeof facts.approval_id === 'string' ? facts.approval_id : ''
  if (!isYes(id)) return [`waives gate "${gate}" without a yes`]
  return asked.get(id)?.about === `${phase}_gates` ? [] : [`waives gate "${gate}", which was not asked about`]
}

/** Ids of the questions about this attempt, in order. */
function askedIn({ events }: Pass, { attempt, seq }: RunEvent): readonly string[] {
  return events.flatMap((one) => {
    return one.type === 'block:asked' && one.attempt === attempt && one.seq < seq ? [one.data.approval_id] : []
  })
}
