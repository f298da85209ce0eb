import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { type Ask, callApi, type Target } from './api.ts'
import type { ImportBatch, ImportItem } from './import-batches.ts'
import type { LineError } from './import-graph.ts'
import { Refused } from './refused.ts'
import { storeText } from './store-text.ts'

/** What became of one line. */
export type SentItem = LineError | { readonly line: number; readonly outcome: string }

/** How a call is made: again where that may help. */
type Caller = <T>(call: () => Promise<T>) => Promise<T>

/**
 * Sends the lines of one call; each is judged by itself. A `body` of an entity is stored first, as an object of its own,
 * and the entity put with its ref. A call that is refused as a whole is sent in halves, until the line is found.
 */
export async function sendBatch(target: Target, batch: ImportBatch, patiently: Caller): Promise<readonly SentItem[]> {
  const stored: (ImportItem | LineError)[] = []
  for (const item of batch.items) stored.push(await storeBody(target, item, patiently))
  const items = stored.filter((one): one is ImportItem => !('code' in one))
  const bad = stored.filter((one): one is LineError => 'code' in one)
  return [...bad, ...(items.length === 0 ? [] : await put(target, { ...batch, items }, patiently))]
}

async function storeBody(target: Target, item: ImportItem, patiently: Caller): Promise<ImportItem | LineError> {
  const { body, ...entity } = item.value
  if (body === undefined) return item
  if (typeof body !== 'string' || body === '') return told(item, 'malformed_line', 'A body is text that is not empty.')
  try {
    const ref = await patiently(() => storeText(target, body))
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
    if (items.length === 1 && first !== undefined) return [told(first, error.reason.code, error.reason.detail)]
    const middle = Math.ceil(items.length / 2)
    const half = (some: readonly ImportItem[]) => put(target, { kind, items: some }, patiently)
    return [...(await half(items.slice(0, middle))), ...(await half(items.slice(middle)))]
  }
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
