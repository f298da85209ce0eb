import { useState } from 'preact/hooks'
import { now } from '../parts/moment.tsx'
import { useKeys } from '../place/keys.ts'
import { changeQuery, route } from '../route.ts'
import { TimelineAxis } from './timeline-axis.tsx'
import { barWords, TimelineBar } from './timeline-bar.tsx'
import type { TimeBar, TimeLane } from './timeline-lanes.ts'
import { placeIn } from './timeline-scale.ts'
import { panWindow, type TimeWindow, wholeWindow, zoomWindow } from './timeline-window.ts'

interface ChartProps {
  readonly lanes: readonly TimeLane[]
  /** The moment shown, where that is not now. */
  readonly until: string | undefined
}

/** A lane a block, a bar an attempt or a wait for people; what is pointed at or focused is told above. */
export function TimelineChart({ lanes, until }: ChartProps) {
  const [part, setPart] = useState<TimeWindow>()
  const [told, setTold] = useState<string>()
  const bars = lanes.flatMap((lane) => lane.bars)
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
          {lanes.map((lane) => (
            <Lane key={lane.block_id} lane={lane} window={window} end={end} onTold={setTold} />
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

interface LaneProps {
  readonly lane: TimeLane
  readonly window: TimeWindow
  readonly end: number
  readonly onTold: (key: string | undefined) => void
}

/** Stretches of items are drawn without words, and no more than can be told apart. */
const MOST_ITEMS = 200

function Lane({ lane: { block_id, bars, items }, window, end, onTold }: LaneProps) {
  const isChosen = route.value.query.block === block_id
  return (
    <li class={isChosen ? 'lane is-chosen' : 'lane'}>
      <button
        type="button"
        class="lane-name as-link"
        data-block={block_id}
        title={block_id}
        aria-pressed={isChosen}
        onClick={() => changeQuery({ block: block_id })}
      >
        {block_id}
      </button>
      <div class="lane-track">
        {bars.map((bar) => (
          <TimelineBar key={bar.key} bar={bar} window={window} end={end} onTold={onTold} />
        ))}
        {items.slice(0, MOST_ITEMS).map(({ from, to = end, state }, n) => {
          const place = placeIn(window, { from, to: Math.max(from, to) })
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
