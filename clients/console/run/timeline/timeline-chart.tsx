import { useState } from 'preact/hooks'
import { durationWords, sentBackWords, timeOfDayWords } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard-shortcuts.tsx'
import { lookOf } from '../../parts/state-mark.tsx'
import { now } from '../../parts/time-view.tsx'
import { changeQuery, route } from '../../route.ts'
import { axisTicks, panWindow, positionIn, type TimeWindow, wholeWindow, zoomWindow } from './time-window.ts'
import type { TimeBar, TimelineRow } from './timeline-rows.ts'

interface ChartProps {
  readonly rows: readonly TimelineRow[]
  /** The moment shown, where that is not now. */
  readonly until: string | undefined
}

/** A row a block, a bar an attempt or a wait for people; what is pointed at or focused is told above. */
export function TimelineChart({ rows, until }: ChartProps) {
  const [part, setPart] = useState<TimeWindow>()
  const [told, setTold] = useState<string>()
  const bars = rows.flatMap((row) => row.bars)
  const end = endOf(bars, until)
  const whole = wholeWindow(bars, end)
  const window = part ?? whole
  const zoom = (factor: number, at = (window.from + window.to) / 2) => {
    const next = zoomWindow(window, factor, at, whole)
    setPart(next.to - next.from >= whole.to - whole.from ? undefined : next)
  }
  const pan = (share: number) => part !== undefined && setPart(panWindow(part, share, whole))
  const shown = bars.find(({ key }) => key === told)
  return (
    <div class="timeline">
      <div class="timeline-top">
        <p class="timeline-told small" aria-hidden="true">
          {shown === undefined ? 'Point at a bar, or move to it with Tab, to read it here.' : barWords(shown, end)}
        </p>
        <TimelineTools zoom={zoom} pan={pan} fit={() => setPart(undefined)} isPart={part !== undefined} />
      </div>
      <TimelineLegend />
      <div class="timeline-grid" onWheel={(event) => zoomByWheel(event, window, zoom)}>
        <TimelineAxis window={window} />
        <ul class="lanes" aria-label="Blocks in the order in which they began">
          {rows.map((row) => (
            <BlockRow key={`${row.block_id} ${row.part}`} row={row} window={window} end={end} onTold={setTold} />
          ))}
        </ul>
      </div>
    </div>
  )
}

/** Now is read only while something goes on: else nothing is drawn anew each second. */
function endOf(bars: readonly TimeBar[], until: string | undefined): number {
  if (until !== undefined) return Date.parse(until)
  if (bars.some(({ to }) => to === undefined)) return now.value
  return bars.reduce((most, { to = 0 }) => Math.max(most, to), 0)
}

interface BlockRowProps {
  readonly row: TimelineRow
  readonly window: TimeWindow
  readonly end: number
  readonly onTold: (key: string | undefined) => void
}

/** Stretches of items are drawn without words, and no more than can be told apart. */
const MOST_ITEMS = 200

function BlockRow({ row: { block_id, part, bars, items }, window, end, onTold }: BlockRowProps) {
  const isChosen = route.value.query.block === block_id
  return (
    <li class={isChosen ? 'lane is-chosen' : 'lane'}>
      <button
        type="button"
        class={part === undefined ? 'lane-name as-link' : 'lane-name as-link is-part'}
        data-block={block_id}
        title={part === undefined ? block_id : `${block_id}: ${part}`}
        aria-pressed={isChosen}
        onClick={() => changeQuery({ block: block_id })}
      >
        {part ?? block_id}
      </button>
      <div class="lane-track">
        {bars.map((bar) => (
          <TimelineBar key={bar.key} bar={bar} window={window} end={end} onTold={onTold} />
        ))}
        {items.slice(0, MOST_ITEMS).map(({ from, to = end, state }, n) => {
          const place = positionIn(window, { from, to: Math.max(from, to) })
          if (place === undefined) return null
          const style = { left: `${place.left}%`, width: `${place.width}%` }
          // Items are told in the order in which they began, and stay in it.
          return <span key={n} class={`item-bar is-${state}`} style={style} aria-hidden="true" />
        })}
      </div>
    </li>
  )
}

interface ToolsProps {
  readonly zoom: (factor: number) => void
  readonly pan: (share: number) => void
  readonly fit: () => void
  readonly isPart: boolean
}

function TimelineTools({ zoom, pan, fit, isPart }: ToolsProps) {
  useKeys(
    { key: '+', label: 'Zoom in', run: () => zoom(2) },
    { key: '-', label: 'Zoom out', run: () => zoom(0.5) },
    { key: 'f', label: 'Show the whole time', run: fit },
  )
  const tools = [
    ['Earlier', '←', () => pan(-0.4), !isPart],
    ['Later', '→', () => pan(0.4), !isPart],
    ['Zoom in', '+', () => zoom(2), false],
    ['Zoom out', '−', () => zoom(0.5), !isPart],
  ] as const
  return (
    <div class="timeline-tools">
      {tools.map(([name, sign, act, isOff]) => (
        <button key={name} type="button" aria-label={name} title={name} disabled={isOff} onClick={act}>
          {sign}
        </button>
      ))}
      <button type="button" disabled={!isPart} onClick={fit} title="Show the whole time (f)">
        Fit
      </button>
    </div>
  )
}

function TimelineLegend() {
  return (
    <ul class="graph-legend small soft" aria-label="What the bars mean">
      <li>
        <span class="key-bar is-critical" aria-hidden="true" /> critical path: the chain that determines the end
      </li>
      <li>
        <span class="key-bar is-person" aria-hidden="true" /> waits for a person
      </li>
      <li>
        <span class="key-bar is-open" aria-hidden="true" /> goes on
      </li>
    </ul>
  )
}

/** With ctrl, or a pinch: without, the wheel scrolls the page. */
function zoomByWheel(event: WheelEvent, window: TimeWindow, zoom: (factor: number, at: number) => void): void {
  const track = event.currentTarget instanceof HTMLElement ? event.currentTarget.querySelector('.lane-track') : null
  if (!event.ctrlKey || track === null) return
  event.preventDefault()
  const { left, width } = track.getBoundingClientRect()
  const share = Math.min(1, Math.max(0, (event.clientX - left) / width))
  zoom(Math.exp(-event.deltaY * 0.004), window.from + (window.to - window.from) * share)
}

/** The axis above the rows: moments of the reader's clock; below a second, how far from the first of them. */
function TimelineAxis({ window }: { readonly window: TimeWindow }) {
  const { step, at } = axisTicks(window, innerWidth < NARROW_PX ? MOST_TICKS / 2 : MOST_TICKS)
  return (
    <div class="timeline-axis small soft numbers" aria-hidden="true">
      <div class="lane-track">
        {at.map((moment) => {
          const place = positionIn(window, { from: moment, to: moment })
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
  const words = timeOfDayWords(new Date(moment).toISOString())
  if (step >= 60_000) return words.slice(0, -3)
  return step >= 1_000 ? words : `${words.slice(-2)}.${String(moment % 1_000).padStart(3, '0')} s`
}

interface BarProps {
  readonly bar: TimeBar
  readonly window: TimeWindow
  /** Until when a bar reaches that has no end. */
  readonly end: number
  readonly onTold: (key: string | undefined) => void
}

/** One bar as a button: it chooses its block; its name says all it shows. */
function TimelineBar({ bar, window, end, onTold }: BarProps) {
  const { key, block_id, kind, state, from, to, is_critical } = bar
  const place = positionIn(window, { from, to: Math.max(from, to ?? end) })
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
function barWords(
  { block_id, name, kind, state, from, to, epoch, attempt, is_critical }: TimeBar,
  end: number,
): string {
  const { label } = lookOf(state)
  const [start, stop] = [clock(from), to === undefined ? 'now' : clock(to)]
  const took = durationWords(Math.max(0, (to ?? end) - from))
  const back = epoch === 0 ? '' : `, ${sentBackWords(epoch)}`
  const what = kind === 'person' ? 'waits for a person' : `try ${attempt}${back}`
  return `${block_id}${name === undefined ? '' : `, ${name}`}, ${what}: ${label}, ${took}, ${start} to ${stop}${is_critical ? ', on the critical path' : ''}`
}

function clock(ms: number): string {
  return timeOfDayWords(new Date(ms).toISOString())
}
