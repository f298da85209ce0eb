import { createHmac } from 'node:crypto'

/** The headers Slack signs a body with, at that second; kept apart from the code that checks them. */
export function signedHeaders(
  secret: string,
  body: string | Uint8Array,
  second = Math.floor(Date.now() / 1_000),
): Readonly<Record<string, string>> {
  const hash = createHmac('sha256', secret).update(`v0:${second}:`).update(body).digest('hex')
  return { 'x-slack-request-timestamp': String(second), 'x-slack-signature': `v0=${hash}` }
}
