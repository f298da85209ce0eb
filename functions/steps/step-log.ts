import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { STEP_LIMITS, type StepLog } from '../../shared/steps/step-order.ts'
import { redactSecrets, safeOneLine } from '../../shared/text/redact.ts'

/** The log of one attempt, as it grows. */
export interface StepLogBook {
  /** Values that never stand in it. */
  hide(values: readonly string[]): void
  /** A text without those values. */
  withoutHidden(text: string): string
  add(level: 'info' | 'warn' | 'error', text: string): void
  /** Whether these words stand in what is kept. */
  holds(words: string): boolean
  /** Takes the lines of a stream of the process. */
  follow(stream: Readable | null): Promise<void>
  /** All that is kept, as a body and as its event tells it; undefined = nothing was said. */
  close(): { readonly body: Uint8Array; readonly told: Omit<StepLog, 'ref' | 'bytes'> } | undefined
}

/** A line that never ends is cut there. */
const LINE_CHARACTERS = 16_384
/** Shorter ones stand everywhere. */
const LEAST_HIDDEN = 4
const HALF = STEP_LIMITS.log_bytes / 2

/** Keeps the first half and the last of what is said, in bytes: why something failed stands at the end, what it was at the start. */
export function openStepLog(): StepLogBook {
  const head = openHead()
  const tail = openTail()
  let lines = 0
  let hidden: readonly string[] = []
  const withoutHidden = (text: string) => hidden.reduce((left, value) => left.replaceAll(value, '[redacted]'), text)
  /** Whole lines, as they come: who says gigabytes is not looked at line by line. */
  const keep = (text: string, count: number) => {
    lines += count
    const rest = head.take(text)
    if (rest !== '') tail.put(rest)
  }
  return {
    hide(values) {
      hidden = values.filter((value) => value.length >= LEAST_HIDDEN)
    },
    withoutHidden,
    add(level, text) {
      const told = text
        .split(/\r?\n/)
        .map((line) => (level === 'info' ? line : `${level}: ${line}`).slice(0, LINE_CHARACTERS))
      keep(`${told.join('\n')}\n`, told.length)
    },
    holds: (words) => head.text().includes(words) || tail.text().text.includes(words),
    follow: (stream) => followLines(stream, keep),
    close() {
      if (lines === 0) return undefined
      const end = tail.text()
      // As one text: a key may stand on several lines.
      const said = redactSecrets(withoutHidden(`${head.text()}${end.cut ? '[..]\n' : ''}${end.text}`))
      const short = said
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(0, LINE_CHARACTERS).replace(/\r$/, ''))
      const last = short.filter((line) => line !== '[..]').slice(-STEP_LIMITS.tail_lines)
      const told = last.map((line) => safeOneLine(line, STEP_LIMITS.tail_characters))
      return {
        body: Buffer.from(`${short.join('\n')}\n`),
        told: {
          lines,
          ...(end.cut ? { cut: true as const } : {}),
          tail: withinBytes(told),
        },
      }
    },
  }
}

/** The last of them that an event has room for. */
function withinBytes(lines: readonly string[]): string[] {
  let left: number = STEP_LIMITS.tail_bytes
  const fits = lines.toReversed().findIndex((line) => {
    left -= Buffer.byteLength(JSON.stringify(line)) + 1
    return left < 0
  })
  return fits < 0 ? [...lines] : lines.slice(lines.length - fits)
}

/** The first half: whole lines, until one does not fit any more. */
function openHead() {
  const kept: string[] = []
  let room = HALF
  return {
    /** Answers what it has no room for. */
    take(text: string): string {
      const bytes = Buffer.byteLength(text)
      if (bytes <= room) {
        kept.push(text)
        room -= bytes
        return ''
      }
      const from = text.lastIndexOf('\n', Math.max(0, Math.floor(room / MOST_BYTES_A_CHARACTER) - 1)) + 1
      const fits = room === 0 ? '' : text.slice(0, from)
      kept.push(fits)
      room = 0
      return text.slice(fits.length)
    },
    text: () => kept.join(''),
  }
}

/** In UTF-8, of one UTF-16 unit. */
const MOST_BYTES_A_CHARACTER = 3

/** The last half: pieces that came first leave as others come. */
function openTail() {
  let pieces: { readonly text: string; readonly bytes: number }[] = []
  let first = 0
  let held = 0
  let cut = false
  return {
    put(text: string) {
      const piece = { text, bytes: Buffer.byteLength(text) }
      pieces.push(piece)
      held += piece.bytes
      for (let oldest = pieces[first]; oldest !== undefined && held - oldest.bytes >= HALF; oldest = pieces[first]) {
        held -= oldest.bytes
        first += 1
        cut = true
      }
      if (first > 1_000 && first * 2 > pieces.length) {
        pieces = pieces.slice(first)
        first = 0
      }
    },
    text() {
      const all = Buffer.from(
        pieces
          .slice(first)
          .map(({ text }) => text)
          .join(''),
      )
      if (all.length <= HALF) return { text: all.toString('utf8'), cut }
      const from = all.indexOf('\n', all.length - HALF - 1) + 1
      return { text: all.subarray(from).toString('utf8'), cut: true }
    },
  }
}

const NEW_LINE = 10

/** Whole lines of a stream, many at once; the last one need not have an end. */
async function followLines(stream: Readable | null, keep: (text: string, lines: number) => void): Promise<void> {
  if (stream === null) return
  const decoder = new StringDecoder('utf8')
  let open = ''
  for await (const piece of stream as AsyncIterable<Buffer>) {
    const count = countLines(piece)
    const text = decoder.write(piece)
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) keep(`${open}${text.slice(0, end)}`, count)
    const rest = end > 0 ? text.slice(end) : `${open}${text}`
    open = rest.slice(0, LINE_CHARACTERS)
  }
  if (open !== '') keep(`${open}\n`, 1)
}

function countLines(piece: Buffer): number {
  let count = 0
  for (let at = 0; at < piece.length; at += 1) if (piece[at] === NEW_LINE) count += 1
  return count
}
