import type { IncomingMessage } from 'node:http'
import { Fault } from '../../shared/errors.ts'

/**
 * Reads a request body of at most `maxBytes`; more is Fault 413 body_too_large at the first byte too many (or at once
 * when Content-Length says so). What the client still sends is thrown away, so that it gets to read the answer.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
    let bytes = 0
    const refuse = () => {
      request.removeAllListeners('data').resume()
      const message = `Cannot take the body: at most ${maxBytes} bytes are allowed.`
      reject(new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: maxBytes } }))
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse()
    request.on('data', (chunk: Buffer) => {
      if (bytes + chunk.byteLength > maxBytes) return refuse()
      body = withRoom(body, bytes + chunk.byteLength)
      bytes += chunk.copy(body, bytes)
    })
    request.on('end', () => resolve(body.subarray(0, bytes)))
    request.on('error', reject)
    request.on('close', () => reject(new Error('the client went away')))
  })
}

const FIRST_BYTES = 8_192

/** One buffer that grows, and no list of chunks: a body sent byte by byte would be a million of them. */
function withRoom(body: Buffer, bytes: number): Buffer {
  if (bytes <= body.byteLength) return body
  const larger = Buffer.allocUnsafe(Math.max(bytes, body.byteLength * 2))
  body.copy(larger)
  return larger
}
