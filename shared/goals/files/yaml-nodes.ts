import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml'
import { LIMITS } from '../../dag/limits.ts'

/** A value of a YAML text and where it stands: `end` is the offset behind its last character. */
export interface YamlNode {
  readonly start: number
  end: number
  readonly flow: boolean
  /** Of a mapping, in document order. */
  readonly entries?: YamlEntry[]
}

export interface YamlEntry {
  readonly key: string
  readonly start: number
  /** Behind the colon. */
  readonly colon: number
  readonly value: YamlNode
}

/** The root of a text that readYaml() accepts: one document without aliases. */
export function yamlNodes(text: string): YamlNode | undefined {
  const walk: Walk = { text, cursor: 0, frames: [], root: undefined }
  for (const event of parseEvents(text, { maxDepth: LIMITS.depth })) step(walk, event)
  return walk.root
}

interface Walk {
  readonly text: string
  /** End of the last token. */
  cursor: number
  readonly frames: Frame[]
  root: YamlNode | undefined
}

interface Frame {
  /** undefined: the document. */
  readonly node: YamlNode | undefined
  readonly braced: boolean
  key: Omit<YamlEntry, 'value'> | undefined
}

function step(walk: Walk, event: Event): void {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      walk.frames.push({ node: undefined, braced: false, key: undefined })
      return
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE: {
      const flow = event.style === COLLECTION_STYLE.FLOW
      const entries = event.type === EVENT_ID.MAPPING ? { entries: [] } : {}
      const node = { start: event.start, end: event.start, flow, ...entries }
      // `[a: 1]` has a mapping without braces.
      const braced = flow && '{['.includes(walk.text[event.start] ?? '')
      attach(walk, node, undefined)
      walk.cursor = event.start + (braced ? 1 : 0)
      walk.frames.push({ node, braced, key: undefined })
      return
    }
    case EVENT_ID.SCALAR: {
      const node = scalarNode(walk, event)
      walk.cursor = Math.max(walk.cursor, node.end, event.tagEnd, event.anchorEnd)
      attach(walk, node, event)
      return
    }
    case EVENT_ID.ALIAS:
      // readYaml() has refused it.
      return
    case EVENT_ID.POP: {
      const frame = walk.frames.pop()
      if (frame?.braced === true) walk.cursor = skip(walk.text, /(?:[\s,:?]|#[^\r\n]*)*[\]}]/y, walk.cursor)
      if (frame?.node !== undefined) frame.node.end = walk.cursor
    }
  }
}

/** A node is the root, the next key, the value of the key before it, or an item, which nobody asks for. */
function attach(walk: Walk, node: YamlNode, scalar: ScalarEvent | undefined): void {
  const frame = walk.frames.at(-1)
  if (frame?.node === undefined) walk.root ??= node
  const entries = frame?.node?.entries
  if (frame === undefined || entries === undefined) return
  if (frame.key === undefined) {
    const key = scalar === undefined ? '' : getScalarValue(walk.text, scalar)
    const colon = skip(walk.text, /(?:\s|#[^\r\n]*)*:?/y, node.end)
    frame.key = { key, start: node.start, colon }
    walk.cursor = colon
  } else {
    entries.push({ ...frame.key, value: node })
    frame.key = undefined
  }
}

function scalarNode({ text, cursor }: Walk, { valueStart, valueEnd, style }: ScalarEvent): YamlNode {
  if (valueStart < 0) return { start: cursor, end: cursor, flow: false }
  const quoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
  if (quoted) return { start: valueStart - 1, end: valueEnd + 1, flow: false }
  // A block scalar has the line breaks behind it, which may be content.
  const end = valueStart + text.slice(valueStart, valueEnd).trimEnd().length
  return { start: valueStart, end, flow: false }
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}
