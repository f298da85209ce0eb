import fc from 'fast-check'
import type { EventData, RunEvent } from '../../../shared/runs/event.ts'
import { logOf, type RunEnd, runEnded, runStarted, type Step } from './event-log.ts'

type StageType = 'classified' | 'routed' | 'executed' | 'assessed' | 'synthesized'
const LANES: Readonly<Record<StageType, string>> = {
  classified: 's0',
  routed: 's1',
  executed: 's2',
  assessed: 's3',
  synthesized: 's4',
}

/** A stage that was recorded, at its step of the machine. */
export function staged(stage: StageType, n: number, tokens = 0, usd_micros?: number): Step {
  const data: EventData<'research:routed'> = { n, tokens, ref: `objstore://main/${n}` }
  const told = usd_micros === undefined ? data : { ...data, usd_micros }
  return { lane: LANES[stage], place: 30, event: { type: `research:${stage}`, attempt: n, data: told } }
}

export const requestedResearch: Step = {
  lane: 's0',
  event: { type: 'research:requested', data: { n: 0, tokens: 0, ref: 'objstore://main/asked' } },
}

const continuedResearch = (n: number): Step => ({
  lane: 's5',
  place: 90,
  event: { type: 'research:continued', data: { n, tokens: 0, ref: `objstore://main/${n}` } },
})

/** What a run in the queue begins with. */
export const queuedStart: Step = {
  event: { ...runStarted.event, data: { ...runStarted.event.data, queued: true } } as Step['event'],
}

/** A chain that goes round as the machine may, perhaps queued first, perhaps stopped anywhere. */
export const someChain: fc.Arbitrary<readonly RunEvent[]> = fc
  .tuple(
    fc.boolean(),
    fc.array(fc.tuple(fc.nat(900), fc.option(fc.nat(90), { nil: undefined })), { maxLength: 12 }),
    fc.nat(3),
  )
  .map(([queued, costs, ending]) => {
    const round = ['classified', 'routed', 'executed', 'assessed'] as const
    const stages = costs.map(([tokens, usd], n) => staged(round[n % 4] ?? 'executed', n, tokens, usd))
    const n = stages.length
    const ends: readonly RunEnd[] = ['completed', 'failed', 'cancelled']
    const end = ends[ending]
    const last = end === 'completed' ? [staged('synthesized', n, 5), continuedResearch(n)] : []
    const begun = n === 0 && last.length === 0 ? [] : [requestedResearch]
    return logOf([
      queued ? queuedStart : runStarted,
      ...begun,
      ...stages,
      ...last,
      ...(end === undefined ? [] : [runEnded(end)]),
    ])
  })
