/** Longer ones are refused by most servers. */
const MAX_CHARACTERS = 8_192
/** The characters of RFC 3986, and `%` only with two hex digits. */
const CHARACTERS = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/
/** Schemes whose URLs name a host; the parser would invent the slashes. */
const WITH_HOST = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:'])
const AUTHORITY = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)/

/**
 * Reads a URL only as it is written (printable ASCII, no repaired forms): what
 * the WHATWG parser would mend (spaces, backslashes, missing slashes, hosts like `0x7f.1`) is refused in words.
 */
export function strictUrl(
  text: string,
): { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly message: string } {
  if (text.length > MAX_CHARACTERS) return refused(`has ${text.length} characters, at most ${MAX_CHARACTERS} allowed`)
  if (text === '') return refused('is empty')
  if (!CHARACTERS.test(text)) return refused('has a character that a URL has only percent-encoded')
  const url = URL.parse(text)
  if (url === null) return refused('is not one')
  if (!WITH_HOST.has(url.protocol)) return { ok: true, url }
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined || hostOf(authority) !== url.hostname) return refused('names no host as it is written')
  return { ok: true, url }
}

function hostOf(authority: string): string | undefined {
  // A second @ is one the parser would encode.
  const host = authority.slice(authority.indexOf('@') + 1).toLowerCase()
  // An IPv6 address has many spellings, and the parser accepts only real ones.
  if (host.startsWith('[')) return URL.parse(`http://${host}`)?.hostname
  return host.replace(/:\d*$/, '')
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message }
}
