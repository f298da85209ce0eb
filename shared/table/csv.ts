/** Records of a CSV text, or the first thing wrong with it, with its line. */
export type Csv = { readonly records: readonly (readonly string[])[] } | { readonly problem: string }

/**
 * Reads CSV (RFC 4180: quoted fields, doubled quotes, line breaks inside quotes; CRLF, LF or CR). The separator is
 * the one of `,` `;` tab that occurs most in the first record, quoted fields left out. Blank lines and a byte order mark are skipped; every
 * record must have as many fields as the first. Linear in the text.
 */
export function parseCsv(source: string): Csv {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  const records: (readonly string[])[] = []
  for (const { at, fields } of scan(text)) {
    if (fields === undefined)
      return { problem: `${lineOf(text, at)} has a quote that does not open or close a whole field` }
    if (fields.length === 1 && fields[0] === '') continue
    const width = records[0]?.length ?? fields.length
    if (fields.length !== width) {
      return { problem: `${lineOf(text, at)} has ${fields.length} fields, the first line has ${width}` }
    }
    records.push(fields)
  }
  return { records }
}

/** Each record with the place of its last field; no `fields` = the text is not CSV from there on. */
function* scan(text: string): Generator<{ readonly at: number; readonly fields?: readonly string[] }> {
  const separator = separatorOf(text)
  const field = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, 'y')
  let fields: string[] = []
  let more = text.length > 0
  while (more) {
    const at = field.lastIndex
    const found = field.exec(text)
    if (found === null) return yield { at }
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    const goesOn = found[3] === separator
    more = goesOn || field.lastIndex < text.length
    if (goesOn) continue
    yield { at, fields }
    fields = []
  }
}

function separatorOf(text: string): string {
  const header = unquotedHeader(text)
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: header.split(mark).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).mark
}

/** The first record without its quoted fields, which may have line breaks of their own. */
function unquotedHeader(text: string): string {
  let header = ''
  for (let from = 0; ; ) {
    const open = text.indexOf('"', from)
    const outside = open < 0 ? text.slice(from) : text.slice(from, open)
    const end = outside.search(/[\r\n]/)
    if (end >= 0) return header + outside.slice(0, end)
    header += outside
    const close = open < 0 ? -1 : text.indexOf('"', open + 1)
    if (close < 0) return header
    from = close + 1
  }
}

function lineOf(text: string, at: number): string {
  return `line ${text.slice(0, at).split(/\r\n|\n|\r/).length}`
}
