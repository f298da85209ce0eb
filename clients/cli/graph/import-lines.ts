import { BATCH } from '../../../shared/graph/graph-store.ts'
import { inexactNumbers, inexactNumberWords } from '../../../shared/text/strict-json.ts'

type ImportKind = 'entities' | 'triples'

/** One line that could be read. */
export interface ImportItem {
  readonly line: number
  /** The entity, or the subject of the triple, where one is named. */
  readonly id?: string
  readonly value: Readonly<Record<string, unknown>>
}

/** Lines that follow one another and go in one call. */
export interface ImportBatch {
  readonly kind: ImportKind
  readonly items: readonly ImportItem[]
}

/** A line nothing can be made of. */
export interface BadLine {
  readonly line: number
  readonly code: 'malformed_line'
  readonly message: string
}

/** UTF-16 units of a call: a request may have 1 MiB, and a unit is up to 3 bytes. */
const MOST_TEXT = 300_000

/** What was read as calls, in its order. */
export async function* importBatches(reads: AsyncIterable<ReadItem | BadLine>): AsyncGenerator<ImportBatch | BadLine> {
  let open: OpenBatch | undefined
  for await (const read of reads) {
    if (open !== undefined && !('code' in read) && hasRoom(open, read)) {
      open.items.push(read.item)
      open.text += read.text
      continue
    }
    if (open !== undefined) yield open
    open = 'code' in read ? undefined : { kind: read.kind, items: [read.item], text: read.text }
    if ('code' in read) yield read
  }
  if (open !== undefined) yield open
}

/** One item of a file, and how much of a call it takes. */
export interface ReadItem {
  readonly kind: ImportKind
  readonly item: ImportItem
  readonly text: number
}

/**
 * NDJSON: a line with an `entity_id` is an entity, one with a `subject` a triple. Lines before `from` are skipped, blank ones
 * too.
 */
export async function* readImportLines(lines: AsyncIterable<string>, from: number): AsyncGenerator<ReadItem | BadLine> {
  let number = 0
  for await (const line of lines) {
    number += 1
    if (number >= from && line.trim() !== '') yield readLine(line, number)
  }
}

interface OpenBatch {
  readonly kind: ImportKind
  readonly items: ImportItem[]
  text: number
}

function hasRoom({ kind, items, text }: OpenBatch, next: ReadItem): boolean {
  return kind === next.kind && items.length < BATCH && text + next.text <= MOST_TEXT
}

function readLine(text: string, line: number): ReadItem | BadLine {
  const value = readObject(text)
  const { entity_id, subject } = value ?? {}
  const kind = entity_id !== undefined ? 'entities' : subject !== undefined ? 'triples' : undefined
  if (value === undefined || kind === undefined) {
    const seen = value === undefined ? 'it is no JSON object' : 'it has neither'
    const message = `A line is one JSON object with an entity_id (an entity) or a subject (a triple); ${seen}.`
    return { line, code: 'malformed_line', message }
  }
  const id = entity_id ?? subject
  return (
    changedIn(text, line) ?? { kind, item: { line, ...(typeof id === 'string' && { id }), value }, text: text.length }
  )
}

/** A number of the line that would be another one. */
export function changedIn(text: string, line: number): BadLine | undefined {
  const [changed] = inexactNumbers(text)
  if (changed === undefined) return undefined
  return { line, code: 'malformed_line', message: `Cannot take this line: ${inexactNumberWords(changed)}.` }
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
