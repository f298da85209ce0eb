import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { STEP_LIMITS, type StepLog } from '../../shared/steps/step-order.ts'
import { redactSecrets, safeOneLine } from '../../shared/text/redact.ts'

/** The log of one attempt, as it grows. */
export interface StepLogBook {
  /** Values that never stand in it. */
  hide(values: readonly string[]): void
  add(level: 'info' | 'warn' | 'error', text: string): void
  /** Takes the lines of a stream of the process. */
  follow(stream: Readable | null): Promise<void>
  /** All that is kept, as a body and as its event tells it; undefined = nothing was said. */
  close(): { readonly body: Uint8Array; readonly told: Omit<StepLog, 'ref' | 'bytes'> } | undefined
}

/** A line that never ends is cut there. */
const LINE_CHARACTERS = 16_384

/** Keeps the first half and the last of what is said, in bytes: why something failed stands at the end, what it was at the start. */
export function openStepLog(): StepLogBook {
  const half = STEP_LIMITS.log_bytes / 2
  const head: string[] = []
  let tail: string[] = []
  let [headBytes, tailBytes, lines, cut] = [0, 0, 0, false]
  let hidden: readonly string[] = []
  const keep = (line: string) => {
    lines += 1
    const clean = redactSecrets(hidden.reduce((text, value) => text.replaceAll(value, '[redacted]'), line))
    const bytes = Buffer.byteLength(clean) + 1
    if (headBytes + bytes <= half && tail.length === 0) {
      head.push(clean)
      headBytes += bytes
      return
    }
    tail.push(clean)
    tailBytes += bytes
    if (tailBytes <= half * 2) return
    // Seldom: half of what was kept goes at once.
    const from = tail.findIndex((_, at) => tail.slice(at).reduce((sum, one) => sum + one.length, 0) <= half)
    tail = tail.slice(Math.max(1, from))
    tailBytes = tail.reduce((sum, one) => sum + Buffer.byteLength(one) + 1, 0)
    cut = true
  }
  const add: StepLogBook['add'] = (level, text) => {
    for (const line of text.split(/\r?\n/)) keep(level === 'info' ? line : `${level}: ${line}`)
  }
  return {
    hide(values) {
      hidden = values.filter((value) => value.length >= 4)
    },
    add,
    async follow(stream) {
      if (stream === null) return
      const decoder = new StringDecoder('utf8')
      let open = ''
      for await (const piece of stream as AsyncIterable<Buffer>) {
        const parts = `${open}${decoder.write(piece)}`.split('\n')
        open = (parts.pop() ?? '').slice(0, LINE_CHARACTERS)
        for (const line of parts) keep(line.slice(0, LINE_CHARACTERS).replace(/\r$/, ''))
      }
      if (open !== '') keep(open)
    },
    close() {
      if (lines === 0) return undefined
      const gap = cut ? ['[..]'] : []
      const last = [...head, ...tail].slice(-STEP_LIMITS.tail_lines)
      return {
        body: Buffer.from(`${[...head, ...gap, ...tail].join('\n')}\n`),
        told: {
          lines,
          ...(cut ? { cut: true as const } : {}),
          tail: last.map((line) => safeOneLine(line, STEP_LIMITS.tail_characters)),
        },
      }
    },
  }
}
