import type { RunEvent } from '../../../../shared/runs/event.ts'
import { type Say, eventWords as wordsOf } from '../../../../shared/runs/event-types.ts'
import { bytesWords, durationWords, momentWords, usdWords } from '../../parts/format.ts'

const SAY: Say = { bytes: bytesWords, duration: durationWords, moment: momentWords, usd: usdWords }

/** One event as one line for people, in the reader's time. */
export function eventWords(event: RunEvent): string {
  return wordsOf(event, SAY)
}
