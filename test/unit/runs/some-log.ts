import fc from 'fast-check'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { askedAttempt } from './asked-steps.ts'
import {
  cancelled,
  decided,
  ended,
  escalated,
  expired,
  goalEvaluated,
  judgedEnd,
  logOf,
  output,
  type RunEnd,
  ready,
  reminded,
  requested,
  rerouted,
  retrying,
  runEnded,
  runStarted,
  type Step,
  skipped,
  started,
  verdict,
  waiting,
  woken,
} from './event-log.ts'

/** The steps of one block: perhaps sent back once or twice, and each time as run-block would write them. */
const someBlock = (id: string): fc.Arbitrary<readonly Step[]> =>
  fc.tuple(fc.array(somePass(id), { minLength: 1, maxLength: 3 }), fc.nat(40)).map(([passes, kept]) => {
    const steps = passes.flatMap((pass, epoch) => [
      ...(epoch === 0 ? [] : [rerouted([id], epoch)]),
      ...pass.map((step) => ({ ...step, epoch, event: askedIn(epoch, step.event) })),
    ])
    return steps.slice(0, 1 + kept)
  })

/** A question is asked anew in each epoch. */
function askedIn(epoch: number, event: NewEvent): NewEvent {
  if (!('approval_id' in event.data)) return event
  const { data } = event as Extract<NewEvent, { readonly type: 'approval:requested' }>
  return { ...event, data: { ...data, approval_id: `${data.approval_id}_${epoch}` } } as NewEvent
}

/** One epoch of a block: asked or not, some tries, an end. */
const somePass = (id: string): fc.Arbitrary<readonly Step[]> =>
  fc
    .record({
      asked: fc.constantFrom('no', 'approve', 'reject', 'expired', 'voted', 'half'),
      tries: fc.integer({ min: 1, max: 3 }),
      lost: fc.boolean(),
      waits: fc.constantFrom('no', 'no', 'event', 'time', 'on'),
      priced: fc.boolean(),
      asks: fc.constantFrom(
        'never' as const,
        'never' as const,
        'post' as const,
        'pre' as const,
        'no' as const,
        'expired' as const,
      ),
      end: fc.constantFrom('completed' as const, 'failed' as const, 'skipped' as const, 'cancelled' as const),
    })
    .map(({ asked, tries, lost, waits, priced, asks, end }) => {
      if (end === 'skipped') return [skipped(id, 'other')]
      const asking = asked === 'no' ? [ready(id)] : [ready(id), requested(id), ...answers(id, asked)]
      const tried = Array.from({ length: tries - 1 }, (_, i) => {
        const n = i + 1
        if (lost) return [started(id, n), retrying(id, n, 60, n === 1 ? 'ATTEMPT_LOST' : 'inputs_edited')]
        return [started(id, n), output(id, n, priced ? 250 : null), verdict(id, n, 'failed'), retrying(id, n)]
      })
      const last = endOf(id, tries, end)
      const plain = [
        started(id, tries),
        ...waited(id, tries, waits),
        output(id, tries, priced ? 250 : null),
        verdict(id, tries, 'passed'),
        last,
      ]
      const attempts = [...tried, asks === 'never' ? plain : askedAttempt(id, tries, asks, last)]
      return [...asking, ...attempts.flat()]
    })

/** It waits after its start, and is woken or not. */
function waited(id: string, attempt: number, waits: string): readonly Step[] {
  if (waits === 'no') return []
  const end = waits === 'event' || waits === 'time' ? [woken(id, attempt, waits)] : []
  return [...waiting(id, attempt), ...end]
}

/** One answer, or a vote before it, with reminders and an escalation in between. */
function answers(id: string, asked: string): readonly Step[] {
  const told = [reminded(id, 1), escalated(id), reminded(id, 2)]
  if (asked === 'expired') return [expired(id)]
  if (asked === 'reject') return [...told, decided(id, 'reject', { iterate: 'refine' })]
  if (asked === 'approve') return [decided(id, 'approve', { edits_ref: 'objstore://e' })]
  const vote = decided(id, 'approve', { have: 1, need: 2 })
  const last = decided(id, asked === 'half' ? 'reject' : 'approve', { have: 2, need: 2 })
  return [...told, { ...vote, place: 61 }, last]
}

function endOf(id: string, attempt: number, end: 'completed' | 'failed' | 'cancelled'): Step {
  return end === 'cancelled' ? cancelled(id, attempt) : ended(id, attempt, end)
}

/** Whole logs of some blocks side by side, their steps mixed in any order that keeps each block's own. */
export const someLog: fc.Arbitrary<readonly RunEvent[]> = fc
  .tuple(
    fc.tuple(...['build', 'constructor', 'toString', '7'].map(someBlock)),
    fc.array(fc.nat(3), { maxLength: 160 }),
    fc.option(fc.constantFrom<RunEnd>('completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'), {
      nil: undefined,
    }),
    fc.boolean(),
  )
  .map(([blocks, turns, end, judged]) => {
    const queues = blocks.map((steps) => [...steps])
    const mixed = turns.flatMap((turn) => queues[turn]?.splice(0, 1) ?? [])
    return logOf([runStarted, ...mixed, ...queues.flat(), ...endingOf(end, judged)])
  })

/** Judged by its gates or not; the verdict may also be all there is yet. */
function endingOf(end: RunEnd | undefined, judged: boolean): readonly Step[] {
  if (!judged) return end === undefined ? [] : [runEnded(end)]
  const goal = goalEvaluated('PARTIAL')
  if (end === undefined) return [goal]
  return [goal, end === 'partial' ? judgedEnd(end, 'run_next') : end === 'completed' ? judgedEnd(end) : runEnded(end)]
}
