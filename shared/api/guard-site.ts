import { Fault } from '../errors.ts'

interface Asked {
  /** The port this server listens on. */
  readonly port: number
  readonly host: string | undefined
  readonly origin: string | undefined
}

/**
 * Keeps web pages out of a server that needs no login: a page that reaches it under another name (DNS rebinding) has
 * another Host, 421; a page of another site sends its Origin, 403. There is no CORS. Source: spec security, "Local".
 */
export function guardSite({ port, host: named, origin }: Asked): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, ...(port === 80 ? ['127.0.0.1', 'localhost'] : [])]
  const host = named?.toLowerCase() ?? ''
  if (!hosts.includes(host)) {
    const message = `Cannot answer for host "${host.slice(0, 100)}": this server is ${hosts.join(' or ')}.`
    throw new Fault('InvalidInput', 'wrong_host', message, { status: 421 })
  }
  if (origin === undefined || hosts.some((name) => origin.toLowerCase() === `http://${name}`)) return
  const message = `Cannot answer a page of "${origin.slice(0, 100)}": only pages of this server may call it.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}
