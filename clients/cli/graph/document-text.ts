import { isUtf8 } from 'node:buffer'
import type { DefaultTreeAdapterTypes } from 'parse5'

/** A file as it is imported. */
export interface ReadDocument {
  /** What it calls itself, where it does. */
  readonly title?: string
  readonly text: string
  /** Where it leads, as written: other files, pages of the web, places in itself. */
  readonly links: readonly string[]
}

/** A reader for each ending. What parses HTML and PDF is loaded with the first file of its kind. */
const READERS: Readonly<Record<string, (bytes: Uint8Array) => ReadDocument | Promise<ReadDocument>>> = {
  md: (bytes) => readMarkdown(utf8(bytes)),
  markdown: (bytes) => readMarkdown(utf8(bytes)),
  txt: (bytes) => readText(utf8(bytes)),
  text: (bytes) => readText(utf8(bytes)),
  html: (bytes) => readHtml(utf8(bytes)),
  htm: (bytes) => readHtml(utf8(bytes)),
  pdf: readPdf,
}

/** Endings of files that can be read. */
export const DOCUMENT_ENDINGS: readonly string[] = Object.keys(READERS)

/** The ending of a path, in small letters; '' for none. */
export function endingOf(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

/** Throws what its parser says where the file is not what its name says. */
export async function readDocument(path: string, bytes: Uint8Array): Promise<ReadDocument> {
  const read = READERS[endingOf(path)]
  if (read === undefined) throw new TypeError(`No reader for "${path}".`)
  return await read(bytes)
}

/** A byte order mark is left out. UTF-16 without a mark may be valid UTF-8: half of it is NUL. */
function utf8(bytes: Uint8Array): string {
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : '\0'
  if (text.includes('\0'))
    throw new TypeError('it is no UTF-8 text (UTF-16, Latin-1 or no text at all); save it as UTF-8')
  return text
}

const MOST_TITLE = 200

function titled(title: string | undefined): Pick<ReadDocument, 'title'> {
  const line = title?.replace(/\s+/g, ' ').trim() ?? ''
  return line === '' ? {} : { title: line.slice(0, MOST_TITLE).toWellFormed() }
}

function readText(text: string): ReadDocument {
  const first = text
    .slice(0, FIRST_LINES)
    .split(LINE_END, 20)
    .find((line) => line.trim() !== '')
  return { ...titled(first), text, links: [] }
}

/** Characters a title is looked for in, of a text that may be one line of many megabytes. */
const FIRST_LINES = 20_000
const LINE_END = /\r\n?|\n/

/**
 * Its title is that of its front matter, else its first heading. Code blocks have neither headings nor links. Every pattern is
 * of one line or of one link, and linear in it.
 */
function readMarkdown(text: string): ReadDocument {
  const { front, rest } = frontMatter(text.split(LINE_END))
  const prose = withoutCode(rest)
  const named = front.find((line) => line.startsWith('title:'))?.slice('title:'.length)
  const written = prose.join('\n')
  const links = [...written.matchAll(LINKS), ...written.matchAll(REFERENCES)]
  return {
    ...titled(unquoted(named) ?? plainMarkdown(headingOf(prose))),
    text,
    links: links.map(([, target = '']) => target),
  }
}

/** `[words](other.md "Title")`: the link ends at the bracket, with its title or without. */
const LINKS = /\]\(\s*<?([^\s()<>]+)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?\s*\)/g
/** `[name]: other.md` */
const REFERENCES = /^ {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s<>]+)>?/gm

interface Front {
  readonly front: readonly string[]
  readonly rest: readonly string[]
}

function frontMatter(lines: readonly string[]): Front {
  const end = lines[0]?.trimEnd() === '---' ? lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---') : -1
  return { front: lines.slice(0, Math.max(end, 0)), rest: lines.slice(end + 1) }
}

function unquoted(title: string | undefined): string | undefined {
  const plain = title?.trim() ?? ''
  const quote = plain[0]
  const isQuoted = plain.length > 1 && (quote === '"' || quote === "'") && plain.endsWith(quote)
  const bare = isQuoted ? plain.slice(1, -1) : plain
  return bare === '' ? undefined : bare
}

/** A block of code goes to a fence like that it begins with, or to the end. */
function withoutCode(lines: readonly string[]): readonly string[] {
  let open: string | undefined
  return lines.filter((line) => {
    const fence = FENCE.exec(line)?.[1]
    if (open === undefined) {
      open = fence
      return fence === undefined
    }
    if (fence?.startsWith(open) === true && line.trim() === fence) open = undefined
    return false
  })
}

/** Marks of code within a line are no fence. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

function headingOf(prose: readonly string[]): string | undefined {
  const marked = prose.find((line) => /^ {0,3}#{1,6}[ \t]+\S/.test(line))
  if (marked !== undefined) {
    const words = marked.trim().replace(/^#+/, '').trim()
    const closed = words.replace(/(?<!#)#+$/, '')
    return closed === words || !/[ \t]$/.test(closed) ? words : closed.trim()
  }
  const under = prose.findIndex((line, at) => at > 0 && /^=+[ \t]*$/.test(line) && prose[at - 1]?.trim() !== '')
  return prose[under - 1]
}

/** A title is short: what is cut off would be cut off anyway. */
const MOST_HEADING = 1_000

function plainMarkdown(heading: string | undefined): string | undefined {
  return heading
    ?.slice(0, MOST_HEADING)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[`*]/g, '')
}

async function readHtml(html: string): Promise<ReadDocument> {
  const { parse } = await import('parse5')
  const found: Found = { parts: [], titles: new Map(), links: [] }
  walk(parse(html), found)
  const text = found.parts
    .join('')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  const title = TITLES.map((_, rank) => found.titles.get(rank) ?? '').find((words) => words.trim() !== '')
  return { ...titled(title), text, links: found.links }
}

interface Found {
  readonly parts: string[]
  /** The page's title before its first headings, by their places in TITLES. */
  readonly titles: Map<number, string>
  readonly links: string[]
}

const UNSAID = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object'])
const TITLES = ['title', 'h1', 'h2']
const BLOCKS = new Set(
  `address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li
  main nav ol p pre section table tr ul`.split(/\s+/),
)

/** On a stack of its own: a page may be nested deeper than calls can be. */
function walk(page: Node, found: Found): void {
  const open: (Node | string)[] = [page]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') found.parts.push(node)
    else pushInOrder(open, partsOf(node, found))
  }
}

type Node = DefaultTreeAdapterTypes.Node

/** What a node says, in its order. */
function partsOf(node: Node, found: Found): readonly (Node | string)[] {
  if ('value' in node) return [node.value]
  if (!('childNodes' in node)) return []
  const { nodeName: name, childNodes } = node
  note(node, found)
  if (UNSAID.has(name)) return []
  const parts = name === 'tr' ? childNodes.flatMap((child) => [child, ' ']) : childNodes
  return BLOCKS.has(name) ? [CLOSE.has(name) ? '\n' : '\n\n', ...parts, '\n'] : parts
}

/** Blocks without a blank line between them. */
const CLOSE = new Set(['tr', 'li', 'br'])

/** What is told of a page besides its text. */
function note(node: DefaultTreeAdapterTypes.ParentNode, { titles, links }: Found): void {
  const { nodeName: name } = node
  const rank = TITLES.indexOf(name)
  if (rank > 0 && !titles.has(rank)) titles.set(rank, wordsIn(node))
  if (name === 'a' && 'attrs' in node) {
    links.push(...node.attrs.flatMap(({ name: attribute, value }) => (attribute === 'href' ? value : [])))
  }
  const title = name === 'head' ? node.childNodes.find(({ nodeName }) => nodeName === 'title') : undefined
  if (title !== undefined) titles.set(0, wordsIn(title))
}

/** The beginning of them: a title has no more. */
function wordsIn(heading: Node): string {
  let words = ''
  const open: Node[] = [heading]
  for (let node = open.pop(); node !== undefined && words.length < MOST_HEADING; node = open.pop()) {
    if ('value' in node) words += node.value
    if ('childNodes' in node) pushInOrder(open, node.childNodes)
  }
  return words
}

/** So that the first is popped first. There may be more than a call has arguments. */
function pushInOrder<T>(stack: T[], items: readonly T[]): void {
  for (const item of items.toReversed()) stack.push(item)
}

async function readPdf(bytes: Uint8Array): Promise<ReadDocument> {
  const { readPdfText } = await import('./read-pdf.ts')
  const { title, text } = await readPdfText(bytes)
  return { ...titled(title), text, links: [] }
}
