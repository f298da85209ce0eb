import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import { eventRow } from '../../../../shared/runs/event-types.ts'
import { agentItemWords } from '../../../../shared/runs/turns-and-calls.ts'
import { timeOfDayWords } from '../../parts/format.ts'
import { ValueView } from '../../parts/value-view.tsx'
import { hrefOf } from '../../route.ts'
import { eventWords } from '../session/event-words.ts'
import { indexOfSeq } from '../session/run-events.ts'
import type { RunSession } from '../session/run-session.ts'
import { type ListShape, rowAfterKey, rowsSeen, rowTop, scrollOffsetFor } from './virtual-list.ts'

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
    if (shownSeq !== undefined) view.reveal(Math.max(0, indexOfSeq(events, shownSeq)), 'middle')
    else if (isFollowed.current && view.isAtEnd.current) view.reveal(events.length - 1)
  }, [shownSeq, events.length])
  return (
    <div class="events-scroll" ref={view.scroller}>
      <ol class="events" aria-label="Events" style={{ height: `${rowTop(shape, shape.count)}px` }}>
        {positionsShown(view.rows, active).map((index) => {
          const event = events[index]
          return (
            event !== undefined && (
              <EventRow
                key={event.seq}
                event={event}
                index={index}
                count={events.length}
                top={rowTop(shape, index)}
                isOpen={open.has(event.seq)}
                isActive={index === active}
                isShown={index === shownPosition(events, shownSeq)}
                name={nameOf(session, event)}
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
function positionsShown(
  { from, to }: { readonly from: number; readonly to: number },
  active: number,
): readonly number[] {
  const places = Array.from({ length: to - from }, (_, n) => from + n)
  if (active < from) return [active, ...places]
  return active < to ? places : [...places, active]
}

function shownPosition(events: readonly RunEvent[], shownSeq: number | undefined): number | undefined {
  return shownSeq === undefined ? undefined : indexOfSeq(events, shownSeq)
}

interface RowProps {
  readonly event: RunEvent
  /** Of the list: its place from 0, of how many. */
  readonly index: number
  readonly count: number
  /** Pixels from the top of the list. */
  readonly top: number
  readonly isOpen: boolean
  /** Whether Tab comes to it. */
  readonly isActive: boolean
  /** The newest one of what the rest of the page shows while it is at an earlier moment. */
  readonly isShown: boolean
  /** Of an agent's turn or call. */
  readonly name: string | undefined
  /** After that moment. */
  readonly isLater: boolean
  readonly toggle: (seq: number) => void
  /** The height its payload takes, when it changes. */
  readonly onHeight: (seq: number, height: number) => void
}

/** One event: a line, and what it carries where it is opened. */
function EventRow(props: RowProps) {
  const { event, index, count, top, isOpen, isActive, isShown, name, isLater, toggle, onHeight } = props
  const { seq, at, type } = event
  return (
    <li class="event" style={{ transform: `translateY(${top}px)` }} aria-setsize={count} aria-posinset={index + 1}>
      <button
        type="button"
        class="event-line"
        data-seq={seq}
        data-later={isLater}
        tabIndex={isActive ? 0 : -1}
        aria-expanded={isOpen}
        aria-current={isShown ? 'step' : undefined}
        onClick={() => toggle(seq)}
      >
        <span class="event-seq numbers">{seq}</span>
        <time class="event-at numbers" dateTime={at} title={at}>
          {timeOfDayWords(at)}
          <span class="soft">.{at.slice(20, 23)}</span>
        </time>
        <span class={`event-type is-${eventRow(event)?.tone}`}>{type}</span>
        <EventOwner event={event} name={name} />
        <span class="event-words">{eventWords(event)}</span>
      </button>
      {isOpen && <Payload event={event} onHeight={onHeight} />}
    </li>
  )
}

/** Who acts, and with which tools, the fold of the newest moment knows. */
function nameOf({ fold }: RunSession, { block_id = '', item }: RunEvent): string | undefined {
  const block = item === undefined ? undefined : fold.value.blocks[block_id]
  if (item === undefined || block?.first_turn === undefined) return undefined
  return agentItemWords(item, block.items?.[item]?.tool)
}

/** Block, item and attempt, where it is about one. */
function EventOwner({ event: { block_id, item, attempt }, name }: Pick<RowProps, 'event' | 'name'>) {
  return (
    <span class="event-block" title={name === undefined ? undefined : `${block_id} ${name}`}>
      {block_id}
      {name === undefined ? item !== undefined && `[${item}]` : ` ${name}`}
      {attempt !== undefined && attempt > 1 && <span class="soft"> try {attempt}</span>}
    </span>
  )
}

function Payload({ event, onHeight }: Pick<RowProps, 'event' | 'onHeight'>) {
  const { seq, run_id, block_id, at, id } = event
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const seen = new ResizeObserver(() => onHeight(seq, box.current?.offsetHeight ?? 0))
    if (box.current !== null) seen.observe(box.current)
    return () => seen.disconnect()
  }, [seq, onHeight])
  return (
    <div class="event-payload stack" ref={box}>
      <p>{eventWords(event)}</p>
      <p class="small row">
        <a href={hrefOf(['runs', run_id, 'graph'], { seq: String(seq), block: block_id })}>The run at this event</a>
        <span class="soft">
          {at}, id <code>{id}</code>
        </span>
      </p>
      <ValueView value={event.data} label={`payload of event ${seq}`} />
    </div>
  )
}

/** Which events are opened, and how high their payloads are. */
interface OpenRows {
  has(seq: number): boolean
  readonly toggle: (seq: number) => void
  readonly onHeight: (seq: number, height: number) => void
  /** Heights by the place in a list. */
  extraOf(events: readonly RunEvent[]): ReadonlyMap<number, number>
}

function useOpenRows(): OpenRows {
  const [heights, setHeights] = useState<ReadonlyMap<number, number>>(new Map())
  const toggle = useCallback((seq: number) => {
    setHeights((old) => {
      const next = new Map(old)
      if (!next.delete(seq)) next.set(seq, 0)
      return next
    })
  }, [])
  const onHeight = useCallback((seq: number, height: number) => {
    setHeights((old) => (!old.has(seq) || old.get(seq) === height ? old : new Map(old).set(seq, height)))
  }, [])
  return {
    has: (seq) => heights.has(seq),
    toggle,
    onHeight,
    extraOf: (events) =>
      new Map(
        [...heights].flatMap(([seq, height]) => {
          const place = indexOfSeq(events, seq)
          return events[place]?.seq === seq ? [[place, height] as const] : []
        }),
      ),
  }
}

/**
 * One row of a list takes the Tab key, arrows and their like move it (roving focus). Answers its place: the row that had
 * the focus last, else the first that is seen.
 */
function useRovingRow(events: readonly RunEvent[], view: ListView): number {
  const [active, setActive] = useState<number>()
  const mayFocus = useRef(false)
  const latest = useRef({ events, view })
  latest.current = { events, view }
  useKeys(view.scroller, (key, seq) => {
    const { events: rows, view: now } = latest.current
    const to = rowAfterKey(key, indexOfSeq(rows, seq), { count: rows.length, page: now.page })
    if (to === undefined) return false
    now.reveal(to)
    mayFocus.current = true
    setActive(rows[to]?.seq)
    return true
  })
  useLayoutEffect(() => {
    if (!mayFocus.current) return
    mayFocus.current = false
    view.scroller.current?.querySelector<HTMLElement>(`[data-seq="${active}"]`)?.focus({ preventScroll: true })
  }, [active])
  const place = active === undefined ? -1 : indexOfSeq(events, active)
  return place < 0 ? view.rows.from : place
}

/** Keys pressed on a row's own line, not in what it holds. */
function useKeys(scroller: RefObject<HTMLElement | null>, onKey: (key: string, seq: number) => boolean): void {
  const latest = useRef(onKey)
  latest.current = onKey
  useLayoutEffect(() => {
    const element = scroller.current
    const listen = (event: KeyboardEvent) => {
      const seq = event.target instanceof HTMLElement ? event.target.dataset.seq : undefined
      if (seq !== undefined && latest.current(event.key, Number(seq))) event.preventDefault()
    }
    element?.addEventListener('keydown', listen)
    return () => element?.removeEventListener('keydown', listen)
  }, [scroller])
}

/** Pixels of one line of the list, as events.css draws it: two lines of text where the page is narrow. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const look = () => setNarrow(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow ? 58 : 30
}

const NARROW = '(max-width: 760px)'

/** A long list as it is seen now: where its rows stand, and which of them are to be on the page. */
interface ListView {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly rows: { readonly from: number; readonly to: number }
  /** Whether the reader scrolled to the end last, or has not scrolled: what comes then may be followed. */
  readonly isAtEnd: RefObject<boolean>
  /** Rows that fit. */
  readonly page: number
  /** Scrolls no further than is needed to see the row, or so that a row that is not seen comes to the middle. */
  reveal(index: number, to?: 'middle'): void
}

/** Follows the scroll position and the size of the element `scroller` is given to. */
function useListView(shape: ListShape): ListView {
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [seen, setSeen] = useState({ top: 0, height: 600 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      const { scrollTop, clientHeight } = element
      // Whole rows: less than a row further is the same page.
      const top = scrollTop - (scrollTop % shape.rowHeight)
      setSeen((old) => (old.top === top && old.height === clientHeight ? old : { top, height: clientHeight }))
    }
    const scrolled = () => {
      look()
      isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - shape.rowHeight
    }
    look()
    const size = new ResizeObserver(look)
    size.observe(element)
    element.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      size.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }, [shape.rowHeight])
  return {
    scroller,
    isAtEnd,
    rows: rowsSeen(shape, { ...seen, over: 8 }),
    page: Math.max(1, Math.floor(seen.height / shape.rowHeight) - 1),
    reveal: (index, to) => {
      const element = scroller.current
      if (element === null) return
      const top = scrollOffsetFor(shape, index, { top: element.scrollTop, height: element.clientHeight })
      if (top === undefined) return
      element.scrollTop = to === 'middle' ? rowTop(shape, index) - element.clientHeight / 2 : top
    },
  }
}
