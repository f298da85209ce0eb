import { lookOf } from '../parts/state-mark.tsx'
import { durationWords, timeWords } from '../parts/time-words.ts'
import { changeQuery } from '../route.ts'
import { backWords } from './back-words.ts'
import type { TimeBar } from './timeline-lanes.ts'
import { placeIn } from './timeline-scale.ts'
import type { TimeWindow } from './timeline-window.ts'

interface BarProps {
  readonly bar: TimeBar
  readonly window: TimeWindow
  /** Until when a bar reaches that has no end. */
  readonly end: number
  readonly onTold: (key: string | undefined) => void
}

/** One bar as a button: it chooses its block; its name says all it shows. */
export function TimelineBar({ bar, window, end, onTold }: BarProps) {
  const { key, block_id, kind, state, from, to, is_critical } = bar
  const place = placeIn(window, { from, to: Math.max(from, to ?? end) })
  if (place === undefined) return null
  const { sign, tone } = lookOf(state)
  const names = [
    'bar-of-time',
    kind === 'person' ? 'is-person' : `tone-${tone}`,
    ...(is_critical ? ['is-critical'] : []),
    ...(to === undefined ? ['is-open'] : []),
  ]
  return (
    <button
      type="button"
      class={names.join(' ')}
      style={{ left: `${place.left}%`, width: `${place.width}%` }}
      aria-label={barWords(bar, end)}
      onClick={() => changeQuery({ block: block_id })}
      onPointerEnter={() => onTold(key)}
      onFocus={() => onTold(key)}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  )
}

/** `plan, try 2: failed after 12 ms, 20:04:46 to 20:04:47, on the critical path`. */
export function barWords(
  { block_id, kind, state, from, to, epoch, attempt, is_critical }: TimeBar,
  end: number,
): string {
  const { label } = lookOf(state)
  const [start, stop] = [clock(from), to === undefined ? 'now' : clock(to)]
  const took = durationWords(Math.max(0, (to ?? end) - from))
  const back = epoch === 0 ? '' : `, ${backWords(epoch)}`
  const what = kind === 'person' ? 'waits for a person' : `try ${attempt}${back}`
  return `${block_id}, ${what}: ${label}, ${took}, ${start} to ${stop}${is_critical ? ', on the critical path' : ''}`
}

function clock(ms: number): string {
  return timeWords(new Date(ms).toISOString())
}
