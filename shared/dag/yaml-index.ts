import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml'
import { changedNumber, changedWords } from '../exact-numbers.ts'
import { isReserved } from './name.ts'
import type { Problem } from './report.ts'
import type { Path, Spot } from './source.ts'
import { quoted } from './wording.ts'

/**
 * Where everything stands in a YAML text, from the parser's events, and what we refuse in it: aliases, tags other than
 * the core ones, duplicate, complex and prototype keys, a second document. All of them, not only the first.
 */
export function indexEvents(text: string, events: readonly Event[]): { spot?: Spot; problems: readonly Problem[] } {
  const walk: Walk = { text, cursor: 0, frames: [], problems: [], root: undefined, documents: 0 }
  for (const event of events) {
    step(walk, event)
    if (walk.documents > 1) break
  }
  return { ...(walk.root === undefined ? {} : { spot: walk.root }), problems: walk.problems }
}

interface Walk {
  readonly text: string
  /** End of the last token: what has no offset of its own is looked for from here. */
  cursor: number
  readonly frames: Frame[]
  readonly problems: Problem[]
  root: Spot | undefined
  documents: number
}

interface Frame {
  readonly path: Path
  readonly keys?: Map<string, { readonly at: number; readonly value: Spot }>
  readonly items?: Spot[]
  /** The key whose value comes next; its name is absent when it cannot be a key of JSON. */
  key: { readonly name: string | undefined; readonly at: number } | undefined
}

function step(walk: Walk, event: Event): void {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      walk.documents += 1
      if (walk.documents > 1) refuseDocument(walk)
      return
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE: {
      checkTag(walk, event)
      const part = event.type === EVENT_ID.MAPPING ? { keys: new Map() } : { items: [] }
      const path = pathOf(walk)
      attach(walk, { at: event.start, ...part }, undefined)
      walk.frames.push({ path, ...part, key: undefined })
      walk.cursor = event.start
      return
    }
    case EVENT_ID.SCALAR:
      checkTag(walk, event)
      attachScalar(walk, event)
      return
    case EVENT_ID.ALIAS: {
      const say = () => ({
        text: `"*${walk.text.slice(event.anchorStart, event.anchorEnd).slice(0, 80)}" is an alias`,
        hint: 'Aliases are not allowed: write the value out.',
      })
      walk.problems.push({ code: 'alias', path: pathOf(walk), at: event.anchorStart - 1, say })
      attach(walk, { at: event.anchorStart - 1 }, undefined)
      walk.cursor = event.anchorEnd
      return
    }
    case EVENT_ID.POP:
      walk.frames.pop()
  }
}

function attachScalar(walk: Walk, event: ScalarEvent): void {
  const at = event.valueStart < 0 ? emptyAt(walk, event) : scalarAt(walk, event)
  checkNumber(walk, event, at)
  attach(walk, { at }, getScalarValue(walk.text, event))
  if (event.valueStart >= 0) walk.cursor = event.valueEnd + (isQuoted(event) ? 1 : 0)
  // Also past what an empty value has: else each of many would look through the same text again.
  else walk.cursor = Math.max(walk.cursor, event.tagEnd, event.anchorEnd)
}

/** A number that would be read as another one; in quotes, or with the tag of a text, it is none. */
function checkNumber(walk: Walk, event: ScalarEvent, at: number): void {
  const tag = event.tagStart < 0 ? '' : walk.text.slice(event.tagStart, event.tagEnd)
  const mayBe = tag === '' ? event.style === SCALAR_STYLE.PLAIN : tag === '!!int' || tag === '!!float'
  const text = mayBe && event.valueStart >= 0 ? getScalarValue(walk.text, event) : ''
  const changed = NUMBER.test(text) ? changedNumber(text) : undefined
  if (changed === undefined) return
  const say = () => ({ text: changedWords(changed) })
  walk.problems.push({ code: 'number_inexact', path: pathOf(walk), at, say })
}

/** As the core schema has integers (decimal, octal, hexadecimal) and floats. */
const NUMBER = /^[-+]?(?:0x[\da-f]+|0o[0-7]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i

/** A node is the next item, the next key, or the value of the key before it. */
function attach(walk: Walk, spot: Spot, name: string | undefined): void {
  const frame = walk.frames.at(-1)
  if (frame === undefined) walk.root = spot
  else if (frame.items !== undefined) frame.items.push(spot)
  else if (frame.key === undefined) {
    checkKey(walk, frame, spot.at, name)
    frame.key = { name, at: spot.at }
  } else {
    const { name: key, at } = frame.key
    if (key !== undefined && frame.keys?.has(key) === false) frame.keys.set(key, { at, value: spot })
    frame.key = undefined
  }
}

function checkKey(walk: Walk, frame: Frame, at: number, name: string | undefined): void {
  const refuse = (code: string, text: string, hint: string) =>
    walk.problems.push({
      code,
      path: [...frame.path, ...(name === undefined ? [] : [name])],
      at,
      say: () => ({ text, hint }),
    })
  if (name === undefined) refuse('complex_key', 'a key is not a plain text', 'Use a word as the key.')
  else if (isReserved(name) || !name.isWellFormed())
    refuse('forbidden_key', `the key ${quoted(name)} is not allowed`, 'Rename it.')
  else if (frame.keys?.has(name)) {
    refuse('duplicate_key', `the key ${quoted(name)} is given twice in one mapping`, 'Remove one of the two.')
  }
}

function checkTag(walk: Walk, event: { readonly tagStart: number; readonly tagEnd: number }): void {
  if (event.tagStart < 0) return
  const tag = walk.text.slice(event.tagStart, event.tagEnd)
  if (CORE_TAGS.has(tag)) return
  const text = `the tag ${quoted(tag)} is not known`
  const hint = 'Only plain YAML values are allowed: remove the tag.'
  walk.problems.push({ code: 'unknown_tag', path: pathOf(walk), at: event.tagStart, say: () => ({ text, hint }) })
}

const CORE_TAGS = new Set(['!', '!!str', '!!int', '!!float', '!!bool', '!!null', '!!seq', '!!map'])

function refuseDocument(walk: Walk): void {
  const rest = walk.text.slice(walk.cursor)
  const marker = rest.search(/^---/m)
  const at = walk.cursor + Math.max(0, marker >= 0 ? marker : rest.search(/^\.\.\./m))
  const text = 'the text holds more than one YAML document'
  const hint = 'Give one DAG at a time.'
  walk.problems.push({ code: 'several_documents', path: [], at, say: () => ({ text, hint }) })
}

/** The path of the node that comes next. */
function pathOf(walk: Walk): Path {
  const frame = walk.frames.at(-1)
  if (frame === undefined) return []
  if (frame.items !== undefined) return [...frame.path, frame.items.length]
  return frame.key?.name === undefined ? frame.path : [...frame.path, frame.key.name]
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
}

function scalarAt(walk: Walk, event: ScalarEvent): number {
  if (isQuoted(event)) return event.valueStart - 1
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart
  // A block scalar's event begins at its first line of content; people look at its `|` or `>`.
  return skip(walk.text, /(?:[\s:?-]|#[^\r\n]*)*/y, Math.max(walk.cursor, event.tagEnd, event.anchorEnd))
}

/** An absent value stands at its key, an absent item at its tag or anchor, else at its dash. */
function emptyAt(walk: Walk, event: ScalarEvent): number {
  const frame = walk.frames.at(-1)
  if (frame?.key !== undefined) return frame.key.at
  if (event.tagStart >= 0) return event.tagStart
  if (event.anchorStart >= 0) return event.anchorStart
  if (frame?.items === undefined) return walk.cursor
  const dash = skip(walk.text, /(?:[\s\]},:?]|#[^\r\n]*)*/y, walk.cursor)
  if (walk.text[dash] !== '-') return walk.cursor
  walk.cursor = dash + 1
  return dash
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}
