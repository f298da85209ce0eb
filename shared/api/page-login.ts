import { sha256 } from '../canonical.ts'
import { Fault } from '../errors.ts'

/** What a server of 127.0.0.1 made for itself at its start; texts of URL-safe characters. */
export interface PageLogin {
  /** What a page of the console holds afterwards, as a cookie: nothing else makes a call one of the console. */
  readonly session: string
  /** Who has not got it may call nothing. Absent: everybody on this machine may. */
  readonly secret?: string | undefined
}

interface Asked {
  /** The port this server listens on. */
  readonly port: number
  readonly method: string
  /** With its query, as it came. */
  readonly url: string
}

/** The address a person opens: the secret stands in it once, then the browser has the cookie instead. */
export function loginUrl(server: string, secret: string): string {
  return `${server}/?${PARAM}=${secret}`
}

/**
 * Answers an address that holds the secret: the same address without it, and the cookie. Undefined: it holds none. Fault
 * 401 login_needed: it holds another one.
 */
export function enterPage({ port, method, url }: Asked, login: PageLogin) {
  const [path = '/', query = ''] = url.split('?')
  const given = new URLSearchParams(query).get(PARAM)
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

const PARAM = 'login'

/** Browsers send cookies to all ports of a machine: each server has a name of its own. */
function cookieName(port: number): string {
  return `sluice_console_${port}`
}

/** How long it takes says something of the hashes, and so of neither text. */
function isSame(given: string, held: string): boolean {
  return sha256(given) === sha256(held)
}
