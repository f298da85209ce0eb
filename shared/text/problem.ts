import { LIMITS } from '../limits.ts'
import type { Json } from './canonical.ts'
import { quoted } from './wording.ts'

/** One thing wrong with a document. Line and column are 1-based and absent when the document came as an object. */
export interface DagError {
  readonly code: string
  /** `blocks[1].inputs.plan.from`; empty for the whole document. */
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  readonly hint?: string
}

/** What a problem is about, for its sentence: `block "plan"`, and `retry.max_attempts of block "plan"`. */
export interface Subject {
  readonly who: string
  readonly place: string
}

/** A problem as the checks leave it. Its text is made only for those that are shown: suggestions cost time. */
export interface Problem {
  readonly code: string
  readonly path: Path
  /** Where it stands; without it, where the path leads. */
  readonly at?: number
  readonly on?: 'key'
  /** `text` ends without a full stop; `hint` is a sentence. */
  readonly say: (subject: Subject) => { readonly text: string; readonly hint?: string | undefined }
}

/** The first 100 problems by position in the document, as errors. */
export function listErrors(problems: readonly Problem[], source: Partial<Source>, name: string): readonly DagError[] {
  const root = source.spot ?? { at: 0 }
  const found = problems.map((problem) => ({
    problem,
    at: problem.at ?? locate(root, problem.path, problem.on ?? 'value'),
  }))
  const first = found.toSorted((a, b) => a.at - b.at).slice(0, LIMITS.errors)
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  return first.map(({ problem, at }) => {
    const { text, hint } = problem.say(subjectOf(problem.path, source.value))
    return {
      code: problem.code,
      path: pathText(problem.path),
      ...place?.(at),
      message: `Cannot compile DAG ${quoted(name)}: ${text}.${hint === undefined ? '' : ` ${hint}`}`,
      ...(hint === undefined ? {} : { hint }),
    }
  })
}

function subjectOf(path: Path, value: Json | undefined): Subject {
  const [list, index] = path
  const inList = (list === 'blocks' || list === 'edges') && typeof index === 'number'
  const id = list === 'blocks' && inList ? idOf(value, index) : undefined
  const who = !inList ? 'the document' : id === undefined ? `${list}[${index}]` : `block ${quoted(id)}`
  const field = pathText(inList ? path.slice(2) : path)
  return { who, place: field === '' ? who : `${field} of ${who}` }
}

function idOf(value: Json | undefined, index: number): string | undefined {
  const blocks = memberOf(value, 'blocks')
  const id = Array.isArray(blocks) ? memberOf(blocks[index], 'id') : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[]

/** Where a value and its parts stand: `at` is an offset into the text, or a running number without one. */
export interface Spot {
  readonly at: number
  readonly keys?: ReadonlyMap<string, { readonly at: number; readonly value: Spot }>
  readonly items?: readonly Spot[]
}

/** A document that could be read: its value and its places. `text` is absent when it came as an object. */
export interface Source {
  readonly value: Json
  readonly spot: Spot
  readonly text?: string
}

/** The offset of a value, or of its key; of the nearest enclosing value when the path does not exist. */
export function locate(root: Spot, path: Path, on: 'key' | 'value'): number {
  let spot = root
  let key = root.at
  for (const part of path) {
    const entry = typeof part === 'string' ? spot.keys?.get(part) : undefined
    const next = typeof part === 'string' ? entry?.value : spot.items?.[part]
    if (next === undefined) return spot.at
    key = entry?.at ?? next.at
    spot = next
  }
  return on === 'key' ? key : spot.at
}

/** `blocks[1].inputs.plan.from`; keys that are no plain words are quoted in brackets. */
export function pathText(path: Path): string {
  return path.map((part, index) => partText(part, index === 0)).join('')
}

/** 1-based line and column (UTF-16 units) of an offset; line breaks as in YAML: \n, \r\n, \r. */
export function lineFinder(text: string): (at: number) => { readonly line: number; readonly column: number } {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return (at) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - (starts[low] ?? 0) + 1 }
  }
}

function partText(part: string | number, first: boolean): string {
  if (typeof part === 'number') return `[${part}]`
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(part)) return first ? part : `.${part}`
  return `[${JSON.stringify(part.slice(0, 80))}]`
}
