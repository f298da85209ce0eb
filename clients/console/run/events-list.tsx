import { useLayoutEffect, useRef } from 'preact/hooks'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { topOf } from '../parts/list-window.ts'
import { useListView } from '../parts/use-list-view.ts'
import type { RunSession } from '../run-session.ts'
import { EventRow } from './event-row.tsx'
import { placeOfSeq } from './events-keys.ts'
import { useOpenRows } from './events-open-rows.ts'
import { useRovingRow } from './events-roving.ts'
import { useRowHeight } from './events-row-height.ts'

interface ListProps {
  readonly session: RunSession
  /** Those that fit the filter, ascending by seq. */
  readonly events: readonly RunEvent[]
}

/** Any number of events: only the rows that are seen are on the page. */
export function EventsList({ session, events }: ListProps) {
  const open = useOpenRows()
  const rowHeight = useRowHeight()
  const shape = { count: events.length, rowHeight, extra: open.extraOf(events) }
  const view = useListView(shape)
  const active = useRovingRow(events, view)
  const shownSeq = session.shownSeq.value
  // A run that was over when it came is read from its start; one that ends meanwhile is followed to its end.
  const isFollowed = useRef(false)
  if (session.answer.value?.run.ended_at === undefined) isFollowed.current = true
  useLayoutEffect(() => {
    if (shownSeq !== undefined) view.reveal(Math.max(0, placeOfSeq(events, shownSeq)), 'middle')
    else if (isFollowed.current && view.isAtEnd.current) view.reveal(events.length - 1)
  }, [shownSeq, events.length])
  return (
    <div class="events-scroll" ref={view.scroller}>
      <ol class="events" aria-label="Events" style={{ height: `${topOf(shape, shape.count)}px` }}>
        {placesShown(view.rows, active).map((index) => {
          const event = events[index]
          return (
            event !== undefined && (
              <EventRow
                key={event.seq}
                event={event}
                index={index}
                count={events.length}
                top={topOf(shape, index)}
                isOpen={open.has(event.seq)}
                isActive={index === active}
                isShown={index === shownPlace(events, shownSeq)}
                isLater={shownSeq !== undefined && event.seq > shownSeq}
                toggle={open.toggle}
                onHeight={open.onHeight}
              />
            )
          )
        })}
      </ol>
    </div>
  )
}

/** The row with the focus stays on the page, or the focus would be lost. In order, for who reads without seeing. */
function placesShown({ from, to }: { readonly from: number; readonly to: number }, active: number): readonly number[] {
  const places = Array.from({ length: to - from }, (_, n) => from + n)
  if (active < from) return [active, ...places]
  return active < to ? places : [...places, active]
}

function shownPlace(events: readonly RunEvent[], shownSeq: number | undefined): number | undefined {
  return shownSeq === undefined ? undefined : placeOfSeq(events, shownSeq)
}
