import type { IncomingMessage } from 'node:http'
import { Fault } from '../../shared/errors.ts'

/**
 * Keeps web pages out of a server that needs no login: a page that reaches it under another name (DNS rebinding) has
 * another Host, 421; a page of another site sends its Origin, 403. There is no CORS. Source: spec security, "Local".
 */
export function guardOrigin({ headers, socket }: IncomingMessage): void {
  const port = socket.localPort ?? 0
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, ...(port === 80 ? ['127.0.0.1', 'localhost'] : [])]
  const host = headers.host?.toLowerCase() ?? ''
  if (!hosts.includes(host)) {
    const message = `Cannot answer for host "${host.slice(0, 100)}": this server is ${hosts.join(' or ')}.`
    throw new Fault('InvalidInput', 'wrong_host', message, { status: 421 })
  }
  const { origin } = headers
  if (origin === undefined || hosts.some((name) => origin.toLowerCase() === `http://${name}`)) return
  const message = `Cannot answer a page of "${origin.slice(0, 100)}": only pages of this server may call it.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}
