import type { IncomingMessage } from 'node:http'
import { Fault } from '../../shared/errors.ts'

/**
 * Reads a request body of at most `maxBytes`; more is Fault 413 body_too_large at the first byte too many (or at once
 * when Content-Length says so). What the client still sends is thrown away, so that it gets to read the answer.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = Number(request.headers['content-length'] ?? 0) > maxBytes ? maxBytes + 1 : 0
    const refuse = () => {
      request.removeAllListeners('data').resume()
      const message = `Cannot take the body: at most ${maxBytes} bytes are allowed.`
      reject(new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: maxBytes } }))
    }
    if (bytes > maxBytes) return refuse()
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes > maxBytes) refuse()
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => reject(new Error('the client went away')))
  })
}
