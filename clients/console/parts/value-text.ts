import { inexactNumber, inexactNumbers, inexactNumberWords } from '../../../shared/text/strict-json.ts'

/** An object as events and answers name it. */
export interface NamedObject {
  readonly ref: string
  readonly sha256: string
  readonly bytes?: number
}

/** The object a value names: `{ref, sha256, bytes}` and nothing else, or the ref alone. Undefined = it names none. */
export function namedObject(value: unknown): NamedObject | undefined {
  if (typeof value === 'string') {
    const [, sha256] = REF.exec(value) ?? []
    return sha256 === undefined ? undefined : { ref: value, sha256 }
  }
  if (!isTree(value) || !('ref' in value) || typeof value.ref !== 'string') return undefined
  const named = namedObject(value.ref)
  if (named === undefined || Object.keys(value).some((key) => !MEMBERS.includes(key))) return undefined
  return 'bytes' in value && typeof value.bytes === 'number' ? { ...named, bytes: value.bytes } : named
}

const REF = /^objstore:\/\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/([0-9a-f]{64})$/
const MEMBERS = ['ref', 'sha256', 'bytes']

/** Whether it has members of its own to fold out. */
export function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The beginning of what a folded tree holds, on one line: `message: it is 3, outcome: upheld`. */
export function treePreview(value: object, most = 90): string {
  const isList = Array.isArray(value)
  let said = ''
  for (const [name, member] of Object.entries(value)) {
    if (isTree(member) || said.length > most) continue
    said += `${said === '' ? '' : ', '}${isList ? '' : `${name}: `}${String(member).slice(0, most)}`
  }
  const line = said.replace(/\s+/g, ' ')
  return line.length > most ? `${line.slice(0, most).trimEnd()}…` : line
}

/** `12 items`, `1 member`: what a folded tree holds. */
export function treeWords(value: object): string {
  const [count, thing] = Array.isArray(value) ? [value.length, 'item'] : [Object.keys(value).length, 'member']
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

/** Beyond either, a text is folded: its beginning is shown, the rest when it is asked for. */
export interface FoldAt {
  readonly lines: number
  readonly characters: number
}

/** The beginning of a text; `hidden` counts the characters left out. A cut never halves a character. */
export function foldText(
  text: string,
  { lines, characters }: FoldAt,
): { readonly shown: string; readonly hidden: number } {
  const byLines = endOfLine(text, lines)
  const end = wholeCharacter(text, Math.min(byLines, characters))
  // A fold that hides less than it takes to say so helps nobody.
  if (text.length - end < LEAST_HIDDEN) return { shown: text, hidden: 0 }
  return { shown: text.slice(0, end), hidden: text.length - end }
}

const LEAST_HIDDEN = 80

/** Where line number `count` ends. */
function endOfLine(text: string, count: number): number {
  let end = -1
  for (let line = 0; line < count; line += 1) {
    end = text.indexOf('\n', end + 1)
    if (end < 0) return text.length
  }
  return end
}

function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}

/**
 * A long text cut at its line ends into pieces of about `size` characters: each is laid out by the browser only while
 * it is seen. A line that is longer than a piece is cut too. Together they are the text, without the line ends cut at.
 */
export function textPieces(text: string, size = 8_192): readonly string[] {
  const pieces: string[] = []
  let start = 0
  while (text.length - start > size) {
    const lineEnd = text.lastIndexOf('\n', start + size)
    const end = lineEnd > start ? lineEnd : wholeCharacter(text, start + size)
    pieces.push(text.slice(start, end))
    start = text[end] === '\n' ? end + 1 : end
  }
  return [...pieces, text.slice(start)]
}

/** What somebody typed for a port: a value, nothing (left empty), or why it is none of this type. */
type Typed = { readonly value: unknown } | { readonly problem: string } | Record<string, never>

/** Reads a field by the type its port declares; the server checks again. Types: shared/dag/dag.ts, PORT_TYPES. */
export function readTyped(type: string, text: string): Typed {
  if (type === 'string') return text === '' ? {} : { value: text }
  const trimmed = text.trim()
  if (trimmed === '') return {}
  if (type === 'number') return readNumber(trimmed)
  if (type === 'boolean') return trimmed === 'true' || trimmed === 'false' ? { value: trimmed === 'true' } : NO_BOOLEAN
  if (type === 'json') return readJson(trimmed)
  return trimmed.startsWith('objstore://') ? { value: trimmed } : NO_REF
}

/** The text of a field that reads as this value. */
export function typedText(type: string, value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && type !== 'json') return value
  return JSON.stringify(value, null, 2)
}

const NO_BOOLEAN = { problem: 'must be true or false' }
const NO_REF = { problem: 'must be the ref of a stored object: objstore://…' }

function readNumber(text: string): Typed {
  const value = Number(text)
  const changed = inexactNumber(text)
  if (changed !== undefined) return { problem: `cannot be taken: ${inexactNumberWords(changed)}` }
  return Number.isFinite(value) ? { value } : { problem: 'must be a number' }
}

function readJson(text: string): Typed {
  try {
    const value: unknown = JSON.parse(text)
    const [changed] = inexactNumbers(text)
    return changed === undefined ? { value } : { problem: `cannot be taken: ${inexactNumberWords(changed)}` }
  } catch (error) {
    return { problem: `is no JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
