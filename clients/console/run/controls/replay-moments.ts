import type { RunEvent } from '../../../../shared/runs/event.ts'
import { eventRow, type Tone } from '../../../../shared/runs/event-types.ts'
import { eventWords } from '../session/event-words.ts'

/** A moment of a run one jumps to. */
export interface Moment {
  readonly seq: number
  readonly words: string
  readonly tone: Tone
}

/** What a slider over a run marks: its start and end, questions to people, what failed or was sent back, the goal. */
export function replayMoments(events: readonly RunEvent[]): readonly Moment[] {
  return events.flatMap((event) => {
    const tone = eventRow(event)?.tone
    if (tone === undefined) return []
    const where = event.block_id === undefined ? '' : `${event.block_id}: `
    return [{ seq: event.seq, words: `${where}${eventWords(event)}`, tone }]
  })
}

/** The moment before or after `seq`; undefined where there is none. */
export function momentBeside(moments: readonly Moment[], seq: number, side: -1 | 1): Moment | undefined {
  return side > 0 ? moments.find((one) => one.seq > seq) : moments.findLast((one) => one.seq < seq)
}

/** At most `most` of them, those that fall together on the slider as one: the worst tone, all words. */
export function mergeCloseMoments(moments: readonly Moment[], newest: number, most = 200): readonly Moment[] {
  const places = Map.groupBy(moments, ({ seq }) => Math.round((seq / Math.max(1, newest)) * most))
  return [...places.values()].flatMap((group) => {
    const worst = group.toSorted((a, b) => SEVERITY.indexOf(b.tone) - SEVERITY.indexOf(a.tone))[0]
    return worst === undefined ? [] : [worst]
  })
}

const SEVERITY: readonly Moment['tone'][] = ['quiet', 'busy', 'good', 'wait', 'warn', 'bad']
