import { WRITE_BATCH } from '../../../shared/graph/graph-store.ts'
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
  /** The file it stands for. */
  readonly id?: string
  readonly code: 'malformed_line' | 'unreadable_file'
  readonly message: string
}

/** What was read as calls of so many bytes, in its order. The next one is read while one is sent. */
export async function* importBatches(
  reads: AsyncIterable<ReadItem | BadLine>,
  mostBytes: number,
): AsyncGenerator<ImportBatch | BadLine> {
  const batches = inOrder(reads, mostBytes)
  let next = batches.next()
  for (;;) {
    const { value, done } = await next
    if (done === true) return
    next = batches.next()
    // Thrown where it is waited for, if anybody still does.
    next.catch(() => {})
    yield value
  }
}

async function* inOrder(
  reads: AsyncIterable<ReadItem | BadLine>,
  mostBytes: number,
): AsyncGenerator<ImportBatch | BadLine> {
  let open: OpenBatch | undefined
  for await (const read of reads) {
    if (open !== undefined && !('code' in read) && hasRoom(open, read, mostBytes)) {
      open.items.push(read.item)
      open.bytes += read.bytes
      continue
    }
    if (open !== undefined) yield open
    open = 'code' in read ? undefined : { kind: read.kind, items: [read.item], bytes: read.bytes }
    if ('code' in read) yield read
  }
  if (open !== undefined) yield open
}

/** One item of a file, and how much of a call it takes. */
export interface ReadItem {
  readonly kind: ImportKind
  readonly item: ImportItem
  readonly bytes: number
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
  bytes: number
}

/** Bytes of a call around its items. */
const AROUND = 1_000

function hasRoom({ kind, items, bytes }: OpenBatch, next: ReadItem, mostBytes: number): boolean {
  return kind === next.kind && items.length < WRITE_BATCH && bytes + next.bytes + AROUND <= mostBytes
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
    changedIn(text, line) ?? {
      kind,
      item: { line, ...(typeof id === 'string' && { id }), value },
      bytes: Buffer.byteLength(text) + 1,
    }
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
