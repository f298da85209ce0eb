import { useEffect, useRef } from 'preact/hooks'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { timeWords } from '../parts/time-words.ts'
import { ValueView } from '../parts/value-view.tsx'
import { hrefOf } from '../route.ts'
import { eventWords } from './event-words.ts'
import { toneOfEvent } from './replay-moments.ts'

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
  /** After that moment. */
  readonly isLater: boolean
  readonly toggle: (seq: number) => void
  /** The height its payload takes, when it changes. */
  readonly onHeight: (seq: number, height: number) => void
}

/** One event: a line, and what it carries where it is opened. */
export function EventRow(props: RowProps) {
  const { event, index, count, top, isOpen, isActive, isShown, isLater, toggle, onHeight } = props
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
          {timeWords(at)}
          <span class="soft">.{at.slice(20, 23)}</span>
        </time>
        <span class={`event-type is-${toneOfEvent(event)}`}>{type}</span>
        <Place event={event} />
        <span class="event-words">{eventWords(event)}</span>
      </button>
      {isOpen && <Payload event={event} onHeight={onHeight} />}
    </li>
  )
}

/** Block, item and attempt, where it is about one. */
function Place({ event: { block_id, item, attempt } }: { readonly event: RunEvent }) {
  return (
    <span class="event-block">
      {block_id}
      {item !== undefined && `[${item}]`}
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
