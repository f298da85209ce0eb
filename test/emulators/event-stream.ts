import { crc32 } from 'node:zlib'

/** One message of `application/vnd.amazon.eventstream`: lengths, their checksum, headers, payload, checksum of all. */
export function eventMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)))
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES, 0)
  prelude.writeUInt32BE(head.length, 4)
  const start = Buffer.concat([prelude, checksum(prelude)])
  const message = Buffer.concat([start, head, body])
  return Buffer.concat([message, checksum(message)])
}

/** Two lengths and their checksum. */
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** Type of a header's value: text with a length of two bytes. */
const STRING = 7

function header(name: string, value: string): Buffer {
  const text = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([STRING]), length, text])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(CHECKSUM_BYTES)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
