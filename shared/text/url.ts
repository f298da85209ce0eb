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

/**
 * Everything in a text that a reader or a browser would follow, as it is written: `scheme:` with slashes of any kind
 * after it, `http:`, `https:`, `ftp:`, `ws:` also without, `javascript:`, `vbscript:`, `blob:`, `data:type/`, `file:/`,
 * `//host` where a link begins, and `www.`. Bare names (`example.com`) are none. One starts at each of those, also inside another one
 * (`?to=https://..`), and ends at a blank, a quote mark, `<`, `>` or the next one: linear.
 */
export function urlsIn(text: string): readonly string[] {
  const starts = [...text.matchAll(START)].map(({ index }) => index)
  return starts.map((start, i) => {
    const next = starts[i + 1] ?? text.length
    END.lastIndex = start
    const end = Math.min(END.exec(text.slice(0, next))?.index ?? next, next)
    return withScheme(trimmed(text.slice(start, end)))
  })
}

const START =
  /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*:[\\/]{2}|(?<![A-Za-z0-9+.-])(?:(?:https?|ftps?|wss?|javascript|vbscript|blob):(?=[^\s"'<>`])|data:(?=[a-z]+\/)|file:(?=[\\/]))|(?<=[("'=])[\\/]{2}(?=[\w[])|(?<![\w.@/:-])www\.(?=\w)/gi

const END = /[\s"'<>`]/g

/** Punctuation and Markdown around a URL is not its own. */
function trimmed(url: string): string {
  let end = url.length
  while (end > 0 && AROUND.has(url[end - 1] ?? '')) end -= 1
  return url.slice(0, end)
}

const AROUND = new Set([...'.,;:!?)]}*_|('])

function withScheme(url: string): string {
  if (/^www\./i.test(url)) return `https://${url}`
  return /^[\\/]{2}/.test(url) ? `https:${url}` : url
}
