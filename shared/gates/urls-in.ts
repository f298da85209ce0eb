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
