import { Fault } from '../errors.ts'

interface Asked {
  /** The port this server listens on. */
  readonly port: number
  readonly host: string | undefined
  readonly origin: string | undefined
  /** What the browser says of the page that asks: Sec-Fetch-Site, which no page can set. */
  readonly site: string | string[] | undefined
  /** Of the request, without its query. */
  readonly path: string
}

/**
 * Keeps web pages out of a server that needs no login: a page that reaches it under another name (DNS rebinding) has
 * another Host, 421; a page of another site sends its Origin, 403. There is no CORS. See docs/console.md, "Who may
 * look".
 */
export function guardSite({ port, host: named, origin, site, path }: Asked): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, ...(port === 80 ? ['127.0.0.1', 'localhost'] : [])]
  const host = named?.toLowerCase() ?? ''
  if (!hosts.includes(host)) {
    const message = `Cannot answer for host "${host.slice(0, 100)}": this server is ${hosts.join(' or ')}.`
    throw new Fault('InvalidInput', 'wrong_host', message, { status: 421 })
  }
  guardFetch(path, site)
  if (origin === undefined || hosts.some((name) => origin.toLowerCase() === `http://${name}`)) return
  const message = `Cannot answer a page of "${origin.slice(0, 100)}": only pages of this server may call it.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}

/**
 * A read sends no Origin: a page of another site could still make one, and by its time or size learn of the answer, or show
 * it in a frame. A link to the console itself is no harm. Who is no browser sends no such header.
 */
function guardFetch(path: string, site: Asked['site']): void {
  if (!path.startsWith('/api/') || site === undefined || site === 'same-origin' || site === 'none') return
  const message = `Cannot answer a ${String(site).slice(0, 20)} request: only pages of this server may call its API.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}
