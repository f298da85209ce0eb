import { Fault } from '../../shared/errors.ts'
import { splitLines } from '../../shared/split-lines.ts'

/** Of one answer, unpacked. The longest model answers are a few hundred kilobytes. */
const MAX_BODY_BYTES = 8 * 1_024 * 1_024

/** What of a refusal is read to say why. */
const MAX_ERROR_BYTES = 65_536

/** An answer's body, which is read once, in one of these ways. Fault InvalidInput provider_invalid when it is too large. */
export interface LimitedBody {
  /** The whole text. */
  text(): Promise<string>
  /** The first 64 KiB as text; '' when it cannot be read. */
  start(): Promise<string>
  /** Lines as they arrive. */
  lines(): AsyncIterable<string>
}

export interface BodyParts {
  readonly provider: string
  /** What an error of reading means. */
  readonly translate: (error: unknown) => unknown
  /** Called with each piece that arrives. */
  readonly heard: () => void
}

export function limitBody(stream: ReadableStream<Uint8Array> | null, parts: BodyParts): LimitedBody {
  const pieces = () => decoded(stream, parts)
  return {
    async text() {
      let whole = ''
      for await (const piece of pieces()) whole += piece
      return whole
    },
    async start() {
      let read = ''
      try {
        for await (const piece of pieces()) {
          read += piece
          if (read.length >= MAX_ERROR_BYTES) break
        }
      } catch {
        // What could be read says enough: the status is the failure.
      }
      return read.slice(0, MAX_ERROR_BYTES)
    },
    lines: () => splitLines(pieces()),
  }
}

/** Characters cut in two by a chunk's end are put together again; a wrong byte becomes U+FFFD, as everywhere on the web. */
async function* decoded(stream: ReadableStream<Uint8Array> | null, parts: BodyParts): AsyncGenerator<string> {
  if (stream === null) return
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw parts.translate(error)
      })
      if (done) break
      parts.heard()
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge(parts.provider)
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } finally {
    // Left early, too: nothing more is read. An error here changes nothing any more.
    reader.cancel().catch(() => undefined)
  }
}

function tooLarge(provider: string): Fault {
  const message = `Cannot use the answer of provider "${provider}": it is larger than ${MAX_BODY_BYTES} bytes. Ask for less, or limit it with model_params.`
  return new Fault('InvalidInput', 'provider_invalid', message, { facts: { provider } })
}
