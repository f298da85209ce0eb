import type { RunEvent } from '../../../shared/runs/event.ts'
import { agentItemNames } from '../../../shared/runs/turns-and-calls.ts'
import { durationWords } from '../terminal/format.ts'
import { cut } from '../terminal/text.ts'

interface Span {
  readonly label: string
  /** Block whose item it is an attempt of. */
  readonly items_of?: string | undefined
  readonly from: number
  readonly isWait: boolean
  to: number
  end: string
}

/**
 * The attempts of a run as bars over its duration, in the order they started, waits for a person as `?`: what ran in
 * parallel, what was tried again, where the time went. Of a foreach block with many items only those that went wrong.
 * What is still open lasts until `now` (milliseconds since 1970).
 * Lines fit `columns`.
 */
export function renderTimeline(events: readonly RunEvent[], columns: number, now: number): readonly string[] {
  const from = Date.parse(events[0]?.at ?? '')
  const spans = spansOf(events, now)
  const to = Math.max(Date.parse(events.at(-1)?.at ?? ''), ...spans.map((span) => span.to))
  if (spans.length === 0) return []
  const label = Math.min(Math.max(...spans.map((span) => span.label.length)), 26)
  const bar = Math.max(columns - label - 28, 10)
  return spans.map((span) => {
    const scale = (at: number) => Math.round(((at - from) / Math.max(to - from, 1)) * (bar - 1))
    const start = scale(span.from)
    const mark = span.isWait ? '?' : '━'
    const drawn = `${' '.repeat(start)}${mark.repeat(Math.max(scale(span.to) - start, 0) + 1)}`.padEnd(bar)
    const time = durationWords(span.to - span.from).padStart(9)
    return cut(`  ${cut(span.label, label).padEnd(label)}  ${drawn}  ${time}  ${span.end}`, columns)
  })
}

/** Every attempt has a row, and so has every wait for a person. */
function spansOf(events: readonly RunEvent[], now: number): readonly Span[] {
  const spans: Span[] = []
  const open = new Map<string, Span>()
  const names = agentItemNames()
  for (const event of events) {
    const label = beginning(event, names(event))
    if (label !== undefined) {
      const at = Date.parse(event.at)
      const items_of = event.item === undefined ? undefined : event.block_id
      const span = { label, items_of, from: at, isWait: event.type === 'approval:requested', to: at, end: '' }
      spans.push(span)
      open.set(keyOf(event), span)
    }
    close(open, event)
  }
  for (const span of open.values()) Object.assign(span, { to: now, end: span.isWait ? 'waiting' : 'running' })
  return withoutCrowds(spans)
}

/** More items than this are told by the row of their block; those that did not complete are shown, as many. */
const MOST_ITEMS = 10

function withoutCrowds(spans: readonly Span[]): readonly Span[] {
  const crowds = new Map<string, number>()
  for (const { items_of } of spans) if (items_of !== undefined) crowds.set(items_of, (crowds.get(items_of) ?? 0) + 1)
  const left = new Map<string, number>()
  return spans.filter(({ items_of, end }) => {
    if (items_of === undefined || (crowds.get(items_of) ?? 0) <= MOST_ITEMS) return true
    const shown = left.get(items_of) ?? 0
    if (end === 'completed' || shown >= MOST_ITEMS) return false
    left.set(items_of, shown + 1)
    return true
  })
}

function keyOf(event: RunEvent): string {
  return `${event.block_id ?? ''} ${event.item ?? ''} ${event.type.startsWith('approval:') ? 'approval' : 'attempt'}`
}

/** What a terminal run event leaves open was cancelled by it. */
function close(open: Map<string, Span>, event: RunEvent): void {
  const runEnded = /^run:(?!started)/.test(event.type)
  const end = runEnded ? 'cancelled' : ENDS[event.type]
  if (end === undefined) return
  for (const key of runEnded ? [...open.keys()] : [keyOf(event)]) {
    const span = open.get(key)
    if (span !== undefined) Object.assign(span, { to: Date.parse(event.at), end })
    open.delete(key)
  }
}

function beginning(event: RunEvent, name: string | undefined): string | undefined {
  if (event.type === 'approval:requested') return `${event.block_id} ${name === undefined ? '' : `${name} `}waits`
  if (event.type !== 'block:started') return undefined
  const { attempt = 1, item } = event
  const label = `${event.block_id}${name === undefined ? (item === undefined ? '' : `[${item}]`) : ` ${name}`}`
  return attempt === 1 ? label : `${label} try ${attempt}`
}

const ENDS: Readonly<Record<string, string>> = {
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:retrying': 'retried',
  'approval:decided': 'decided',
  'approval:expired': 'expired',
}
