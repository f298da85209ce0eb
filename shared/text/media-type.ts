/**
 * What bytes are, by how they begin; undefined where they are a text: of no known format, and without a zero byte. Anything
 * else is `application/octet-stream`. Known are the images, documents, sounds and films that models are shown.
 */
export function binaryMediaType(bytes: Uint8Array): string | undefined {
  const found = MAGIC.find(({ at, signs }) => signs.every((sign, n) => sign === undefined || bytes[at + n] === sign))
  if (found !== undefined) return found.type
  return bytes.includes(0) ? 'application/octet-stream' : undefined
}

interface Magic {
  readonly type: string
  readonly at: number
  /** undefined = any. */
  readonly signs: readonly (number | undefined)[]
}

const ascii = (text: string) => [...text].map((sign) => (sign === '.' ? undefined : sign.charCodeAt(0)))

/** Source: the formats' own specifications, as the WHATWG's MIME Sniffing Standard and IANA list them. */
const MAGIC: readonly Magic[] = [
  { type: 'image/png', at: 0, signs: [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', at: 0, signs: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, signs: ascii('GIF8') },
  { type: 'image/webp', at: 0, signs: ascii('RIFF....WEBP') },
  { type: 'application/pdf', at: 0, signs: ascii('%PDF-') },
  { type: 'audio/wav', at: 0, signs: ascii('RIFF....WAVE') },
  { type: 'audio/mpeg', at: 0, signs: ascii('ID3') },
  { type: 'audio/ogg', at: 0, signs: ascii('OggS') },
  { type: 'audio/flac', at: 0, signs: ascii('fLaC') },
  { type: 'video/mp4', at: 4, signs: ascii('ftyp') },
  { type: 'video/webm', at: 0, signs: [0x1a, 0x45, 0xdf, 0xa3] },
]
