import type { EventData } from '../../../shared/runs/event.ts'
import { PHASE } from '../../../shared/runs/lane.ts'
import { decided, expired, output, requested, type Step, started, verdict } from './event-log.ts'

type About = EventData<'block:asked'>['about']

/** A question in the middle of an attempt, on a leg of its own. */
export function asked(block_id: string, attempt: number, about: About): Step {
  const data = { approval_id: `apr_${block_id}_ask`, about, gates: ['length'], reason: 'too short' }
  return { lane: block_id, place: PHASE.asked, event: { type: 'block:asked', block_id, attempt, data } }
}

export function resumed(block_id: string, attempt: number): Step {
  const data = { approval_id: `apr_${block_id}_ask`, holder: 'boot/2', lease_until: '2026-01-01T01:00:00.000Z' }
  return { lane: block_id, place: 100 + PHASE.claimed, event: { type: 'block:resumed', block_id, attempt, data } }
}

/** What follows block:asked, up to the answer. */
export function answeredAsk(block_id: string, about: About, answer: 'waive' | 'reject' | 'expired'): readonly Step[] {
  const approval_id = `apr_${block_id}_ask`
  const ask = requested(block_id)
  const question: Step = {
    ...ask,
    event: { ...ask.event, data: { ...ask.event.data, approval_id, about } } as Step['event'],
  }
  const end = answer === 'expired' ? expired(block_id) : decided(block_id, answer === 'waive' ? 'approve' : 'reject')
  const decision = answer === 'waive' ? { decision: about === 'budget' ? 'approve' : 'waive' } : {}
  const told: Step = {
    ...end,
    event: { ...end.event, data: { ...end.event.data, approval_id, ...decision } } as Step['event'],
  }
  return [question, told].map((step) => ({ ...step, lane: `q_${block_id}` }))
}

/** The last attempt of a pass, with a question in it. */
export function askedAttempt(
  id: string,
  n: number,
  kind: 'post' | 'pre' | 'no' | 'expired',
  end: Step,
): readonly Step[] {
  const last = { ...end, place: 100 + (end.place ?? 0) }
  const failed = verdict(id, n, 'failed')
  const waived: Step = { ...verdict(id, n, 'waived'), place: 100 + PHASE.answered }
  if (kind === 'pre') {
    const answer = answeredAsk(id, 'pre_gates', 'waive')
    return [
      started(id, n),
      failed,
      asked(id, n, 'pre_gates'),
      ...answer,
      waived,
      resumed(id, n),
      { ...output(id, n), place: 100 + PHASE.output },
      last,
    ]
  }
  const [answer, tail] = kind === 'post' ? (['waive', [waived]] as const) : ([ANSWERS[kind], []] as const)
  return [
    started(id, n),
    output(id, n),
    failed,
    asked(id, n, 'post_gates'),
    ...answeredAsk(id, 'post_gates', answer),
    ...tail,
    last,
  ]
}

const ANSWERS = { no: 'reject', expired: 'expired' } as const
