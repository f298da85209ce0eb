import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPortText } from '../read-facts.ts'

const MAX_BYTES = 1_048_576

const ValidXmlSchema = z.strictObject({ port: PortNameSchema })
type ValidXml = z.infer<typeof ValidXmlSchema>

/** Well-formedness; no document type, so nothing to expand. */
export const validXml: Gate<ValidXml> = {
  type: 'valid_xml',
  summary:
    'Passes when the text of the port (at most 1 MiB) is well-formed XML 1.0 with one root; a document type (DOCTYPE) is refused, so only the five entities and character references exist.',
  params: ValidXmlSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'feed' }, outputs: { feed: '<?xml version="1.0"?><a b="1">x &amp; y</a>' }, passes: true },
    { check: { port: 'feed' }, outputs: { feed: '<a><b></a></b>' }, passes: false },
  ],
  check,
}

function check({ port }: ValidXml, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_BYTES)
  if ('unfit' in read) return read.unfit
  const problem = xmlProblem(read.text)
  if (problem === undefined) return { passed: true, reason: 'is well-formed XML', facts: { port } }
  const before = read.text.slice(0, problem.at).split('\n')
  const line = before.length
  const column = [...(before.at(-1) ?? '')].length + 1
  const reason = `port ${port} must be XML: line ${line}, column ${column}: ${problem.message}`
  return { passed: false, reason, facts: { port, line, column } }
}

/** What is wrong with a text as XML, and where (UTF-16 units). */
interface XmlProblem {
  readonly message: string
  readonly at: number
}

/**
 * Whether a text is well-formed XML 1.0 (fifth edition) without a document type, which is refused: tags balanced,
 * attributes quoted and unique, only the five entities and character references, one root. Nothing is expanded or
 * looked up. One walk, each pattern sticks to its place: linear. undefined = well-formed.
 */
function xmlProblem(text: string): XmlProblem | undefined {
  const bad = BAD_CHARACTER.exec(text)
  if (bad !== null) return { message: 'a character that XML does not allow', at: bad.index }
  const state: State = { at: text.startsWith('\ufeff') ? 1 : 0, open: [], hasRoot: false }
  const declared = at(DECLARATION, text, state.at)
  state.at += declared?.[0].length ?? 0
  while (state.at < text.length) {
    const problem = text[state.at] === '<' ? readMarkup(text, state) : readContent(text, state)
    if (problem !== undefined) return { message: problem, at: state.at }
  }
  const unclosed = state.open.at(-1)
  if (unclosed !== undefined) return { message: `<${shown(unclosed)}> is not closed`, at: text.length }
  return state.hasRoot ? undefined : { message: 'no root element', at: text.length }
}

interface State {
  at: number
  /** Names of the elements not yet closed. */
  readonly open: string[]
  hasRoot: boolean
}

const BAD_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const START =
  ':A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\u{10000}-\u{effff}'
const NAME = `[${START}][${START}\\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*`
const S = '[ \\t\\r\\n]'
const DECLARATION = new RegExp(
  `<\\?xml${S}+version${S}*=${S}*(?:"1\\.\\d+"|'1\\.\\d+')(?:${S}+encoding${S}*=${S}*(?:"[A-Za-z][\\w.-]*"|'[A-Za-z][\\w.-]*'))?(?:${S}+standalone${S}*=${S}*(?:"(?:yes|no)"|'(?:yes|no)'))?${S}*\\?>`,
  'uy',
)
const OPEN = new RegExp(`<(${NAME})`, 'uy')
const CLOSE = new RegExp(`</(${NAME})${S}*>`, 'uy')
const ATTRIBUTE = new RegExp(`${S}+(${NAME})${S}*=${S}*("[^"<]*"|'[^'<]*')`, 'uy')
const TAG_END = new RegExp(`${S}*(/?)>`, 'uy')
const INSTRUCTION = new RegExp(`<\\?(${NAME})(?=${S}|\\?>)`, 'uy')
const REFERENCE = /&(?:amp|lt|gt|quot|apos|#(\d{1,7})|#x([0-9A-Fa-f]{1,6}));/uy

function at(pattern: RegExp, text: string, place: number): RegExpExecArray | null {
  pattern.lastIndex = place
  return pattern.exec(text)
}

function readContent(text: string, state: State): string | undefined {
  const next = text.indexOf('<', state.at)
  const content = text.slice(state.at, next === -1 ? text.length : next)
  if (state.open.length === 0 && /[^ \t\r\n]/.test(content)) return 'text outside the root element'
  if (content.includes(']]>')) return ']]> in text'
  const problem = badReference(content)
  if (problem !== undefined) return problem
  state.at += content.length
  return undefined
}

function readMarkup(text: string, state: State): string | undefined {
  if (text.startsWith('<!--', state.at)) return readComment(text, state)
  if (text.startsWith('<![CDATA[', state.at)) {
    if (state.open.length === 0) return 'CDATA outside the root element'
    return skipTo(text, state, ']]>', state.at + 9, 'CDATA')
  }
  if (text.startsWith('<!DOCTYPE', state.at)) return 'a document type, which is refused'
  if (text.startsWith('<?', state.at)) return readInstruction(text, state)
  return text.startsWith('</', state.at) ? readClose(text, state) : readOpen(text, state)
}

function readComment(text: string, state: State): string | undefined {
  const end = text.indexOf('--', state.at + 4)
  if (end === -1) return 'a comment is not closed'
  if (text[end + 2] !== '>') return '-- in a comment'
  state.at = end + 3
  return undefined
}

function readInstruction(text: string, state: State): string | undefined {
  const name = at(INSTRUCTION, text, state.at)?.[1]
  if (name === undefined) return 'a processing instruction without a name'
  if (name.toLowerCase() === 'xml') return 'an XML declaration that is wrong or not at the start'
  return skipTo(text, state, '?>', state.at + 2, 'a processing instruction')
}

function skipTo(text: string, state: State, mark: string, from: number, what: string): string | undefined {
  const end = text.indexOf(mark, from)
  if (end === -1) return `${what} is not closed`
  state.at = end + mark.length
  return undefined
}

function readClose(text: string, state: State): string | undefined {
  const match = at(CLOSE, text, state.at)
  const name = match?.[1]
  if (match === null || name === undefined) return 'an end tag that is none'
  const open = state.open.pop()
  if (open !== name)
    return `</${shown(name)}> where ${open === undefined ? 'nothing is open' : `<${shown(open)}> is open`}`
  state.at += match[0].length
  return undefined
}

function readOpen(text: string, state: State): string | undefined {
  const name = at(OPEN, text, state.at)?.[1]
  if (name === undefined) return 'a < that starts no tag'
  if (state.open.length === 0 && state.hasRoot) return 'a second root element'
  let place = state.at + 1 + name.length
  const names = new Set<string>()
  for (let match = at(ATTRIBUTE, text, place); match !== null; match = at(ATTRIBUTE, text, place)) {
    const [whole, attribute = '', value = ''] = match
    if (names.has(attribute)) return `attribute ${shown(attribute)} twice`
    const problem = badReference(value)
    if (problem !== undefined) return problem
    names.add(attribute)
    place += whole.length
  }
  const end = at(TAG_END, text, place)
  if (end === null) return `<${shown(name)}> has an attribute that is not name="value", or no end`
  if (end[1] === '') state.open.push(name)
  state.hasRoot = true
  state.at = place + end[0].length
  return undefined
}

function badReference(content: string): string | undefined {
  for (let place = content.indexOf('&'); place !== -1; place = content.indexOf('&', place + 1)) {
    const match = at(REFERENCE, content, place)
    if (match === null) return 'an & that starts no known entity'
    const code = match[1] === undefined ? Number.parseInt(match[2] ?? '', 16) : Number(match[1])
    if (Number.isNaN(code)) continue
    if (code > 0x10ffff || BAD_CHARACTER.test(String.fromCodePoint(code))) return 'a reference to no XML character'
  }
  return undefined
}

function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name
}
