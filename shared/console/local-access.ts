import { Fault } from '../errors.ts'
import { sha256 } from '../text/hash.ts'

/** What a server of 127.0.0.1 made for itself at its start; texts of URL-safe characters. */
export interface PageLogin {
  /** What a page of the console holds afterwards, as a cookie: nothing else makes a call one of the console. */
  readonly session: string
  /** Who has not got it may call nothing. Absent: everybody on this machine may. */
  readonly secret?: string | undefined
}

interface PageRequest {
  /** The port this server listens on. */
  readonly port: number
  readonly method: string
  /** With its query, as it came. */
  readonly url: string
}

/** The address a person opens: the secret stands in it once, then the browser has the cookie instead. */
export function loginUrl(server: string, secret: string): string {
  return `${server}/?${LOGIN_PARAM}=${secret}`
}

/**
 * Answers an address that holds the secret: the same address without it, and the cookie. Undefined: it holds none. Fault
 * 401 login_needed: it holds another one.
 */
export function exchangeLoginSecret({ port, method, url }: PageRequest, login: PageLogin) {
  const [path = '/', query = ''] = url.split('?')
  const given = new URLSearchParams(query).get(LOGIN_PARAM)
  if (login.secret === undefined || given === null || method !== 'GET' || path.startsWith('/api/')) return undefined
  if (!isSame(given, login.secret)) throw loginNeeded('the secret in the address is of another start')
  // A path that begins with two slashes would name another server.
  const location = path.replace(/^[/\\]+/, '/')
  const headers = { location, 'set-cookie': sessionCookie(port, login), 'cache-control': 'no-store' }
  return { statusCode: 303, headers: { ...headers, 'referrer-policy': 'no-referrer' }, body: '' }
}

/** Scripts of the page cannot read it, and no page of another site makes a browser send it. */
export function sessionCookie(port: number, { session }: PageLogin): string {
  return `${cookieName(port)}=${session}; Path=/api; HttpOnly; SameSite=Strict`
}

export function holdsSession(port: number, cookies: string | undefined, { session }: PageLogin): boolean {
  const sent = (cookies ?? '').split(/; */).find((one) => one.startsWith(`${cookieName(port)}=`))
  return sent !== undefined && isSame(sent.slice(sent.indexOf('=') + 1), session)
}

/** `Authorization: Bearer SECRET`, as commands of the same user send it. */
export function holdsSecret(authorization: string | undefined, { secret }: PageLogin): boolean {
  const [, given] = /^Bearer ([^ ]+)$/i.exec(authorization ?? '') ?? []
  return secret !== undefined && given !== undefined && isSame(given, secret)
}

export function loginNeeded(seen: string): Fault {
  const message = `Cannot answer: ${seen}. Open the address that was printed when this server was started; \`sluice console\` prints that of a place again.`
  return new Fault('Rejected', 'login_needed', message, { status: 401 })
}

const LOGIN_PARAM = 'login'

/** Browsers send cookies to all ports of a machine: each server has a name of its own. */
function cookieName(port: number): string {
  return `sluice_console_${port}`
}

/** How long it takes says something of the hashes, and so of neither text. */
function isSame(given: string, held: string): boolean {
  return sha256(given) === sha256(held)
}

interface SiteRequest {
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
export function requireSite({ port, host: named, origin, site, path }: SiteRequest): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, ...(port === 80 ? ['127.0.0.1', 'localhost'] : [])]
  const host = named?.toLowerCase() ?? ''
  if (!hosts.includes(host)) {
    const message = `Cannot answer for host "${host.slice(0, 100)}": this server is ${hosts.join(' or ')}.`
    throw new Fault('InvalidInput', 'wrong_host', message, { status: 421 })
  }
  requireFetch(path, site)
  if (origin === undefined || hosts.some((name) => origin.toLowerCase() === `http://${name}`)) return
  const message = `Cannot answer a page of "${origin.slice(0, 100)}": only pages of this server may call it.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}

/**
 * A read sends no Origin: a page of another site could still make one, and by its time or size learn of the answer, or show
 * it in a frame. A link to the console itself is no harm. Who is no browser sends no such header.
 */
function requireFetch(path: string, site: SiteRequest['site']): void {
  if (!path.startsWith('/api/') || site === undefined || site === 'same-origin' || site === 'none') return
  const message = `Cannot answer a ${String(site).slice(0, 20)} request: only pages of this server may call its API.`
  throw new Fault('Rejected', 'origin_not_allowed', message)
}
