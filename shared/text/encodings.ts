/** Encodings a text file can be said to have. UTF-8 and UTF-16 are also known by their byte order mark. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const

export type Encoding = (typeof ENCODINGS)[number]

/** `problem`: what was seen and what to say, without the name of what was read. */
type DecodedText = { readonly text: string } | { readonly problem: string }

/**
 * The text of bytes, without its byte order mark. A mark counts more than what was said, and without either the bytes
 * are UTF-8. Bytes that are none are a problem that names the encodings there are: nothing is replaced in silence.
 */
export function decodeText(bytes: Uint8Array, said?: Encoding): DecodedText {
  const marked = markedEncoding(bytes)
  const encoding = marked ?? said ?? 'utf-8'
  if (marked === undefined && said === undefined && looksLikeUtf16(bytes)) {
    return { problem: `its bytes look like UTF-16 without a byte order mark. ${SAY_SO}` }
  }
  if (encoding === 'windows-1252') return { text: decodeWindows1252(bytes) }
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) }
  } catch {
    return { problem: notOf(encoding, bytes) }
  }
}

const SAY_SO = `Say which encoding it has: encoding: ${ENCODINGS.join(' | ')}.`

function markedEncoding([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** Latin letters as UTF-16 have a zero in every second byte, which no text of UTF-8 has. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 64)
  if (start.length < 4) return false
  const zeros = (odd: number) => start.every((byte, at) => (at % 2 === odd ? byte === 0 : byte !== 0))
  return zeros(0) || zeros(1)
}

function notOf(encoding: Exclude<Encoding, 'windows-1252'>, bytes: Uint8Array): string {
  if (encoding !== 'utf-8') return `its ${bytes.length} bytes are not ${encoding.toUpperCase()}. ${SAY_SO}`
  const at = firstInvalid(bytes)
  const seen = (bytes[at] ?? 0).toString(16).padStart(2, '0').toUpperCase()
  const line = new TextDecoder().decode(bytes.subarray(0, at)).split(/\r\n|\r|\n/).length
  return `its bytes are not UTF-8: byte ${at + 1}, in line ${line}, is 0x${seen}. ${SAY_SO} Files of older Windows programs are mostly windows-1252.`
}

/** Index of the first byte that UTF-8 does not go on with: the longest start that decodes ends before it. */
function firstInvalid(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (startsWell(bytes.subarray(0, middle))) good = middle
    else bad = middle
  }
  return good
}

/** A character that is cut off at the end may still become one. */
function startsWell(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** What windows-1252 has in 0x80 to 0x9f; a byte without a character there keeps its number, as browsers have it. */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Of our own: some versions of Node take windows-1252 for latin1, and would read € as a control character. */
function decodeWindows1252(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const codes = Array.from(bytes.subarray(at, at + CHUNK), (byte) =>
      byte >= 0x80 && byte < 0xa0 ? HIGH.charCodeAt(byte - 0x80) : byte,
    )
    parts.push(String.fromCharCode(...codes))
  }
  return parts.join('')
}

/** Characters made at once: as many arguments as a call may have for sure. */
const CHUNK = 8_192
