import { useMemo } from 'preact/hooks'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunSession } from '../run-session.ts'
import { eventWords } from './event-words.ts'
import { ReplayButtons } from './replay-buttons.tsx'
import { ReplayMarks } from './replay-marks.tsx'
import { replayMoments } from './replay-moments.ts'
import { useReplaySeq } from './replay-seq.ts'
import './replay.css'

/** The run at any of its events: a slider with marks of what mattered, buttons for each step, a clock that plays it. */
export function ReplayBar({ session }: { readonly session: RunSession }) {
  const events = session.events.value
  const newest = events.length
  const { seq, go } = useReplaySeq(session)
  const moments = useMemo(() => replayMoments(events), [events])
  const event = events[seq - 1]
  const words = event === undefined ? 'before the first event' : lineOf(event)
  return (
    <section class="replay card" aria-label="Replay">
      <div class="replay-slider">
        <input
          type="range"
          aria-label="Event shown"
          aria-valuetext={`event ${seq} of ${newest}: ${words}`}
          min={0}
          max={newest}
          value={seq}
          onInput={({ currentTarget }) => go(currentTarget.valueAsNumber)}
        />
        <ReplayMarks moments={moments} newest={newest} />
      </div>
      <div class="row">
        <ReplayButtons {...{ seq, newest, moments, go }} />
        <p class="replay-words small" title={event?.at}>
          <strong class="numbers">
            {seq.toLocaleString('en')} of {newest.toLocaleString('en')}
          </strong>{' '}
          <span class={seq < newest ? 'replay-past' : 'soft'}>{placeWords(session, seq < newest)}</span> {words}
        </p>
      </div>
    </section>
  )
}

/** What of the run the page shows. */
function placeWords({ isLive, isEnded }: RunSession, isPast: boolean): string {
  if (isPast) return 'the page shows this moment'
  if (isEnded.value) return 'the end'
  return isLive.value ? 'live' : 'the newest known'
}

function lineOf(event: RunEvent): string {
  return event.block_id === undefined ? eventWords(event) : `${event.block_id}: ${eventWords(event)}`
}
