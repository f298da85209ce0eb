import { createHash } from 'node:crypto'
import * as z from 'zod'
import { GRAPH_ROUTES } from '../../../shared/api/graph-routes.ts'
import { OBJECT_ROUTES } from '../../../shared/api/object-routes.ts'
import { splitLines } from '../../../shared/text/split-lines.ts'
import { type Ask, callApi, callWithRetries, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import {
  type BadLine,
  type ImportBatch,
  type ImportItem,
  importBatches,
  type ReadItem,
  readImportLines,
} from './import-lines.ts'
import { readSemstreamsStates } from './import-semstreams.ts'

/** A line that was not taken. */
interface LineError {
  readonly line: number
  readonly id?: string
  readonly code: string
  readonly message: string
}

/** What became of a file. */
export interface Imported {
  /** Lines that were sent and answered, by outcome; a triple's is that of its subject. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly refused: number
  /** At most MOST_ERRORS of them. */
  readonly errors: readonly LineError[]
  /** Where to go on, when the file was not read to its end. */
  readonly next_line?: number
  /** Why it was not. */
  readonly stopped?: Refused
}

/** Sluice's own lines, the entity states of semstreams, or the documents of a folder. */
export const IMPORT_FORMS = ['sluice', 'semstreams', 'files'] as const
export type ImportForm = (typeof IMPORT_FORMS)[number]

export interface ImportHow {
  /** Bytes of a call; default: what every server takes. */
  readonly mostBytes?: number
  /** Between two calls: nothing is sent any more. */
  readonly signal?: AbortSignal
  /** Told of each line that was taken. */
  taken?(line: number): void
  /** After each call, and before each wait. */
  progress(so: {
    readonly line: number
    readonly done: number
    readonly refused: number
    readonly waits?: string
  }): void
}

const MOST_ERRORS = 1_000

/**
 * Puts a file into the graph, call by call in the order of its lines. Putting is idempotent: what was sent may be sent
 * again, so that an import that stopped goes on, or begins anew, without harm.
 */
export async function importGraph(target: Target, pieces: AsyncIterable<string>, how: FileHow): Promise<Imported> {
  const lines = splitLines(pieces)
  const reads = how.form === 'semstreams' ? readSemstreamsStates(lines, how.from) : readImportLines(lines, how.from)
  return await importItems(target, reads, how, how.from)
}

interface FileHow extends ImportHow {
  /** From 1. */
  readonly from: number
  /** Whose form the file has. */
  readonly form?: Exclude<ImportForm, 'files'>
}

/** As importGraph, of what was read. */
export async function importItems(
  target: Target,
  reads: AsyncIterable<ReadItem | BadLine>,
  how: ImportHow,
  from = 1,
): Promise<Imported> {
  const so = { line: from - 1, done: 0, refused: 0 }
  const outcomes: Record<string, number> = {}
  const errors: LineError[] = []
  const refuse = (error: LineError) => {
    so.refused += 1
    if (errors.length < MOST_ERRORS) errors.push(error)
  }
  const take = (item: SentItem) => {
    if ('code' in item) return refuse(item)
    so.done += 1
    how.taken?.(item.line)
    outcomes[item.outcome] = (outcomes[item.outcome] ?? 0) + 1
  }
  const mostBytes = how.mostBytes ?? MOST_BYTES
  for await (const batch of importBatches(reads, mostBytes)) {
    const sent = await send(target, batch, { ...how, mostBytes, waits: (waits) => how.progress({ ...so, waits }) })
    if (sent instanceof Refused) return { outcomes, refused: so.refused, errors, next_line: so.line + 1, stopped: sent }
    for (const item of sent) take(item)
    so.line = lastLine(batch)
    how.progress(so)
  }
  return { outcomes, refused: so.refused, errors }
}

type SendHow = Pick<ImportHow, 'signal'> & { readonly mostBytes: number; waits(why: string): void }

/** Refused: nobody answered, however long it was tried, or nobody may go on. */
async function send(
  target: Target,
  batch: ImportBatch | BadLine,
  { signal, mostBytes, waits }: SendHow,
): Promise<readonly SentItem[] | Refused> {
  if ('code' in batch) return [batch]
  if (signal?.aborted === true) return interrupted()
  const note = (why: string, ms: number) => waits(`${why}; goes on in ${Math.ceil(ms / 1_000)} s`)
  try {
    const patiently: Caller = (call) => callWithRetries(call, { note, ...(signal && { signal }) })
    return await sendBatch(target, batch, mostBytes, patiently)
  } catch (error) {
    if (error instanceof Refused) return error
    if (error instanceof Error && error.name === 'AbortError') return interrupted()
    throw error
  }
}

function interrupted(): Refused {
  return new Refused({ code: 'interrupted', detail: 'Stopped here.' })
}

function lastLine(batch: ImportBatch | BadLine): number {
  return 'code' in batch ? batch.line : (batch.items.at(-1)?.line ?? 0)
}

/** What became of one line. */
type SentItem = LineError | { readonly line: number; readonly outcome: string }

/** How a call is made: again where that may help. */
type Caller = <T>(call: () => Promise<T>) => Promise<T>

/**
 * Sends the lines of one call; each is judged by itself. The `body` of an entity goes with it, but one that would be most of
 * a call: it is stored first, as an object of its own, and the entity put with its ref. A call that is refused as a whole
 * is sent in halves, until the line is found.
 */
async function sendBatch(
  target: Target,
  batch: ImportBatch,
  mostBytes: number,
  patiently: Caller,
): Promise<readonly SentItem[]> {
  const stored: (ImportItem | LineError)[] = []
  for (const item of batch.items) {
    const { body } = item.value
    const isLarge = typeof body === 'string' && Buffer.byteLength(body) > mostBytes / 2
    stored.push(isLarge ? await storeBody(target, item, body, patiently) : item)
  }
  const items = stored.filter((one): one is ImportItem => !('code' in one))
  const bad = stored.filter((one): one is LineError => 'code' in one)
  return [...bad, ...(items.length === 0 ? [] : await put(target, { ...batch, items }, patiently))]
}

async function storeBody(
  target: Target,
  item: ImportItem,
  text: string,
  patiently: Caller,
): Promise<ImportItem | LineError> {
  const { body: _, ...entity } = item.value
  try {
    const ref = await patiently(() => storeText(target, text))
    return { ...item, value: { ...entity, objectstore_ref: ref } }
  } catch (error) {
    if (!isOwnFault(error)) throw error
    return told(item, error.reason.code, `Its body was refused: ${error.reason.detail}`)
  }
}

async function put(target: Target, batch: ImportBatch, patiently: Caller): Promise<readonly SentItem[]> {
  const { kind, items } = batch
  const answer = GRAPH_ROUTES[kind === 'entities' ? 'put-entities' : 'put-triples'].answer.loose()
  // Lines as they came: the server judges each by itself.
  const values = items.map(({ value }) => value) as never
  const ask: Ask = (api) =>
    kind === 'entities'
      ? api.PUT('/api/graph/entities', { body: { entities: values } })
      : api.PUT('/api/graph/triples', { body: { triples: values } })
  try {
    const { results } = await patiently(() => callApi(target, answer, ask))
    return items.map((item, at) =>
      sentItem(
        item,
        results.find((result) => result.at === at),
      ),
    )
  } catch (error) {
    if (!isOwnFault(error)) throw error
    const [first] = items
    if (items.length === 1 && first !== undefined) return await putAlone(target, kind, first, error, patiently)
    const middle = Math.ceil(items.length / 2)
    const half = (some: readonly ImportItem[]) => put(target, { kind, items: some }, patiently)
    return [...(await half(items.slice(0, middle))), ...(await half(items.slice(middle)))]
  }
}

/** A line that is too large with its body may fit without. */
async function putAlone(
  target: Target,
  kind: ImportBatch['kind'],
  item: ImportItem,
  { status, reason }: Refused,
  patiently: Caller,
): Promise<readonly SentItem[]> {
  const { body } = item.value
  if (status !== 413 || typeof body !== 'string') return [told(item, reason.code, reason.detail)]
  const stored = await storeBody(target, item, body, patiently)
  return 'code' in stored ? [stored] : await put(target, { kind, items: [stored] }, patiently)
}

type Result = (typeof GRAPH_ROUTES)['put-entities']['answer']['_output']['results'][number]

function sentItem(item: ImportItem, result: Result | undefined): SentItem {
  if (result?.ok === true) return { line: item.line, outcome: result.outcome ?? 'unchanged' }
  const { code = 'no_result', message = 'The server answered nothing for it.', errors = [] } = result?.error ?? {}
  const more = errors.filter((issue) => !message.includes(issue.message))
  const where = more.map((issue) => `${issue.path === '' ? '' : `${issue.path}: `}${issue.message}`)
  return told(item, code, [message, ...where].join(' '))
}

function told({ line, id }: ImportItem, code: string, message: string): LineError {
  return { line, ...(id !== undefined && { id }), code, message }
}

/** The request itself is refused: it would be again. */
function isOwnFault(error: unknown): error is Refused {
  return error instanceof Refused && [400, 413, 415, 422].includes(error.status ?? 0)
}

/** Bytes a request may have where nobody allows more; larger texts go straight to where objects are. */
const MOST_BYTES = 1_048_576

/** Bytes a call that puts entities may have there; undefined: it does not say so to this caller. */
export async function mostBatchBytes(target: Target): Promise<number | undefined> {
  const cap = z.looseObject({ value: z.number() })
  const answer = z.looseObject({ policy: z.looseObject({ max_batch_bytes: cap, max_body_bytes: cap }) })
  return await callApi(target, answer, (api) => api.GET('/api/dag/safety')).then(
    ({ policy }) => Math.max(policy.max_batch_bytes.value, policy.max_body_bytes.value),
    (error: unknown) => {
      if (error instanceof Refused) return undefined
      throw error
    },
  )
}

/** Stores a text as an object and answers its ref; the same text again is the same ref. */
async function storeText(target: Target, text: string): Promise<string> {
  const bytes = Buffer.from(text)
  if (bytes.length > MOST_BYTES) return await upload(target, bytes)
  const request = { body: text, bodySerializer: asItIs, headers: { 'content-type': 'text/plain' } }
  const answer = OBJECT_ROUTES['put-object'].answer.loose()
  return (await callApi(target, answer, (api) => api.PUT('/api/objects', request))).ref
}

function asItIs(text: string): string {
  return text
}

async function upload(target: Target, bytes: Buffer<ArrayBuffer>): Promise<string> {
  const body = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
  const answer = OBJECT_ROUTES['upload-object'].answer.loose()
  const { ref, url, method, headers } = await callApi(target, answer, (api) =>
    api.POST('/api/objects/upload', { body }),
  )
  const own = url.startsWith('/')
  const response = await fetch(own ? `${target.url}${url}` : url, {
    method,
    headers: { ...headers, ...(own && target.token !== undefined && { authorization: `Bearer ${target.token}` }) },
    body: bytes,
  })
  if (response.ok) return ref
  const detail = `The object store answered HTTP ${response.status} to an upload of ${bytes.length} bytes.`
  throw new Refused({ code: 'upload_refused', detail }, { status: response.status })
}
