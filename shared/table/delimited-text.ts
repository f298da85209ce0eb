/** What may stand between two cells, in the order in which equals win. */
export const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const

export type Separator = (typeof SEPARATORS)[keyof typeof SEPARATORS]

const MARKS: readonly Separator[] = Object.values(SEPARATORS)

/** The sign a separator of a document means: it is said by its name or as it is. */
export function separatorSign(said: string): Separator | undefined {
  return Object.entries(SEPARATORS).find(([name, sign]) => said === name || said === sign)?.[1]
}

/** One record: the line it begins in, counted from 1, and its cells without their quotes. */
export interface TextRecord {
  readonly line: number
  readonly cells: readonly string[]
  /** A line without anything in it, not even quotes. */
  readonly blank: boolean
}

/** Where a text stops being CSV. `cell` counts from 1. */
export interface BrokenRecord {
  readonly line: number
  readonly cell: number
  readonly broken: string
}

/**
 * The records of a delimited text, one after the other, by RFC 4180: cells may stand in quotes, with separators, line
 * breaks and doubled quotes inside; \r\n, \n and \r end a record. The first broken one is the last. Linear in the text,
 * and no regular expression goes over a cell: a cell of 10 MiB is no deeper a stack than one of a letter.
 */
export function* scanRecords(text: string, separator: string, line = 1): Generator<TextRecord | BrokenRecord> {
  const scan: Scan = { text, separator: separator.charCodeAt(0), at: 0, line }
  while (scan.at < text.length) {
    const record = nextRecord(scan)
    yield record
    if ('broken' in record) return
  }
}

interface Scan {
  readonly text: string
  readonly separator: number
  at: number
  line: number
}

const QUOTE = 34
const LF = 10
const CR = 13

function nextRecord(scan: Scan): TextRecord | BrokenRecord {
  const { line } = scan
  const cells: string[] = []
  const bare = scan.text.charCodeAt(scan.at) !== QUOTE
  for (;;) {
    const at = scan.line
    const cell = scan.text.charCodeAt(scan.at) === QUOTE ? quotedCell(scan) : bareCell(scan)
    if (cell === undefined) return { line: at, cell: cells.length + 1, broken: QUOTES }
    cells.push(cell)
    const next = scan.text.charCodeAt(scan.at)
    if (next !== scan.separator) {
      if (!endRecord(scan, next)) return { line: at, cell: cells.length, broken: QUOTES }
      return { line, cells, blank: bare && cells.length === 1 && cells[0] === '' }
    }
    scan.at += 1
  }
}

const QUOTES = 'has a quote that does not open or close a whole field'

/** Past the line break, or at the end of the text; false = something else stands there. */
function endRecord(scan: Scan, next: number): boolean {
  if (next === CR) scan.at += scan.text.charCodeAt(scan.at + 1) === LF ? 2 : 1
  else if (next === LF) scan.at += 1
  else return scan.at >= scan.text.length
  scan.line += 1
  return true
}

/** Undefined when the quote is never closed. */
function quotedCell(scan: Scan): string | undefined {
  const { text } = scan
  let end = text.indexOf('"', scan.at + 1)
  while (end >= 0 && text.charCodeAt(end + 1) === QUOTE) end = text.indexOf('"', end + 2)
  if (end < 0) return undefined
  const inside = text.slice(scan.at + 1, end)
  scan.at = end + 1
  scan.line += lineBreaks(inside)
  return inside.includes('"') ? inside.replaceAll('""', '"') : inside
}

function bareCell(scan: Scan): string {
  const { text, separator, at: start } = scan
  for (; scan.at < text.length; scan.at += 1) {
    const char = text.charCodeAt(scan.at)
    if (char === separator || char === LF || char === CR || char === QUOTE) break
  }
  return text.slice(start, scan.at)
}

/** Line breaks of a text, \r\n as one. */
export function lineBreaks(text: string): number {
  let breaks = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === LF ? text.charCodeAt(at - 1) !== CR : char === CR) breaks += 1
  }
  return breaks
}

/**
 * The separator that stands most often in the first record, quoted cells left out; of equals the first of `among`, and
 * that too where there is none. A first record of one cell has none.
 */
export function detectSeparator(text: string, among: readonly Separator[] = MARKS): Separator {
  const header = unquotedHeader(text)
  const counts = among.map((mark) => ({ mark, count: header.split(mark).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best), { mark: SEPARATORS.comma, count: 1 })
    .mark
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

/**
 * The line `sep=;` with which Excel is told the separator, if the text begins with one, and what comes after it. A
 * quoted "sep=;" is a header.
 */
export function separatorLine(text: string): { readonly mark: string; readonly rest: string } | undefined {
  const [line, mark] = /^sep=([^\r\n])(?:\r\n|\r|\n|$)/i.exec(text) ?? []
  return line === undefined || mark === undefined ? undefined : { mark, rest: text.slice(line.length) }
}

/** A cell of RFC 4180: in quotes where a reader could take it for something else. */
export function writeCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? inQuotes(text) : text
}

/** In quotes also where the first cell of a file could be taken for `sep=;`, a byte order mark or JSON. */
export function writeFirstCell(text: string): string {
  return PLAIN_START.test(text) && !/^sep=/i.test(text) ? writeCell(text) : inQuotes(text)
}

/** Every separator there is: a reader may have to find out which one it is. */
const NEEDS_QUOTES = /[",;\t|\r\n]/
const PLAIN_START = /^[\p{L}\p{N}_]/u

function inQuotes(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
