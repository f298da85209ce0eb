import { timeWords } from '../parts/time-words.ts'
import { placeIn, ticksOf } from './timeline-scale.ts'
import type { TimeWindow } from './timeline-window.ts'

/** The axis above the lanes: moments of the reader's clock; below a second, how far from the first of them. */
export function TimelineAxis({ window }: { readonly window: TimeWindow }) {
  const { step, at } = ticksOf(window, innerWidth < NARROW_PX ? MOST_TICKS / 2 : MOST_TICKS)
  return (
    <div class="timeline-axis small soft numbers" aria-hidden="true">
      <div class="lane-track">
        {at.map((moment) => {
          const place = placeIn(window, { from: moment, to: moment })
          if (place === undefined || place.left > 96) return null
          return (
            <span key={moment} class="tick" style={{ left: `${place.left}%` }}>
              {tickWords(moment, step)}
            </span>
          )
        })}
      </div>
    </div>
  )
}

/** Words of so many do not touch each other in a window of usual width. */
const MOST_TICKS = 7
const NARROW_PX = 700

function tickWords(moment: number, step: number): string {
  const words = timeWords(new Date(moment).toISOString())
  if (step >= 60_000) return words.slice(0, -3)
  return step >= 1_000 ? words : `${words.slice(-2)}.${String(moment % 1_000).padStart(3, '0')} s`
}
