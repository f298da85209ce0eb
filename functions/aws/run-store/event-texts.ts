import { Fault } from '../../../shared/errors.ts'
import type { Append } from '../../../shared/runs/append.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'

const MAX_EVENTS = 24
const MAX_BYTES = 8_192

/**
 * The events of one append as HEAD and pages keep them, one JSON text each: id, time, the event; seq is their place.
 * The first begins with the append's nonce of 8 characters, `w`, by which its writer knows it again. Fault Bug append_too_large past 24
 * events or 8 KiB of UTF-8 JSON together, append_empty without any.
 */
export function eventTexts(
  { lane, ordinal, at, events }: Pick<Append, 'lane' | 'ordinal' | 'at' | 'events'>,
  nonce: string,
): readonly string[] {
  requireSize(events)
  return events.map((event, i) => {
    const mark = i === 0 ? { w: nonce } : {}
    return JSON.stringify({ ...mark, id: `${lane}/${ordinal}/${i}`, at, ...event })
  })
}

/** Where a step (its lane and ordinal) begins in a tail or page, and the nonce of the append that took it. */
export function findStep(
  texts: readonly string[],
  { lane, ordinal }: Pick<Append, 'lane' | 'ordinal'>,
): { readonly index: number; readonly nonce: string } | undefined {
  const id = `","id":${JSON.stringify(`${lane}/${ordinal}/0`)},`
  const index = texts.findIndex((text) => text.startsWith(MARK) && text.startsWith(id, MARK.length + NONCE_CHARS))
  const text = texts[index]
  return text === undefined ? undefined : { index, nonce: text.slice(MARK.length, MARK.length + NONCE_CHARS) }
}

const MARK = '{"w":"'
const NONCE_CHARS = 8

/** The stored events after `base`, as readers get them. */
export function eventsOf(texts: readonly string[], base: number, run_id: string): readonly RunEvent[] {
  return texts.map((text, i) => {
    const { w: _nonce, id, at, ...event } = JSON.parse(text)
    return { seq: base + i + 1, id, run_id, at, ...event }
  })
}

function requireSize(events: readonly NewEvent[]): void {
  if (events.length === 0) {
    throw new Fault('Bug', 'append_empty', 'Cannot append to a run: there is no event in it, an append has 1 to 24.')
  }
  const bytes = events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0)
  if (events.length <= MAX_EVENTS && bytes <= MAX_BYTES) return
  const message = `Cannot append ${events.length} events of ${bytes} bytes to a run (first: ${events[0]?.type}): at most ${MAX_EVENTS} events and ${MAX_BYTES} bytes an append. Store bodies as objects and name them by ref.`
  throw new Fault('Bug', 'append_too_large', message, { facts: { events: events.length, bytes } })
}
