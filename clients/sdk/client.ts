import createClient, { type Client } from 'openapi-fetch'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { components, paths } from '../api/schema.generated.ts'

export type { EventData, EventType, RunEnd, RunEvent } from '../../shared/runs/event.ts'

/** The API as its OpenAPI document has it: every path with its parameters, bodies and answers. */
export type { components, operations, paths } from '../api/schema.generated.ts'

type AnswerOf<
  Path extends keyof paths,
  Method extends keyof paths[Path],
  Status extends number,
> = paths[Path][Method] extends {
  readonly responses: Readonly<Record<Status, { readonly content: { readonly 'application/json': infer Answer } }>>
}
  ? Answer
  : never
type QueryOf<Path extends keyof paths> = paths[Path] extends {
  readonly get: { readonly parameters: { readonly query?: infer Query } }
}
  ? NonNullable<Query>
  : never

/** What starts a run: a deployed document by `name`, an `example`, or the document itself as `dag`; inputs and options. */
export type StartRun = paths['/api/dag/run']['post']['requestBody']['content']['application/json']
export type StartedRun = AnswerOf<'/api/dag/run', 'post', 201>
/** A whole run: state, blocks, approvals, document. */
export type Run = AnswerOf<'/api/dag/runs/{run_id}', 'get', 200>
/** A line of the list of runs. */
export type RunSummary = AnswerOf<'/api/dag/runs', 'get', 200>['runs'][number]
export type RunQuery = Omit<QueryOf<'/api/dag/runs'>, 'cursor'>
/** What people are asked, over all runs. */
export type Approval = AnswerOf<'/api/dag/approvals', 'get', 200>['approvals'][number]
export type ApprovalQuery = Omit<QueryOf<'/api/dag/approvals'>, 'cursor'>
/** Words to look for in the knowledge graph, and of which entities. */
export type Search = QueryOf<'/api/graph/search'>
export type SearchHit = AnswerOf<'/api/graph/search', 'get', 200>['hits'][number]
export type BlockOutputs = AnswerOf<'/api/dag/runs/{run_id}/outputs/{block_id}', 'get', 200>
export type Decision = paths['/api/dag/runs/{run_id}/approvals']['post']['requestBody']['content']['application/json']
export type Problem = components['schemas']['Problem']

export interface ClientOptions {
  /** Where the API is: `http://127.0.0.1:4040`, or what `sluice deploy` prints as Url. */
  readonly url: string
  /** A bearer token, or how to get one: asked before each request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Sends the requests: one that signs them, or that a test counts. Default: the global fetch. */
  readonly fetch?: (request: Request) => Promise<Response>
}

interface Cancellable {
  readonly signal?: AbortSignal
}

/** How a run ended, and what it leaves. */
export interface RunResult {
  readonly run_id: string
  readonly state: Run['run']['state']
  /** Why it did not complete. */
  readonly reason?: string
  /** Values by port of each block whose outputs no other block reads, and of those that were asked for. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly run: Run
}

/** An approval as `approvals()`, `run()` and the event `approval:requested` have it. */
export type AskedApproval = Pick<Approval, 'approval_id' | 'digest'>
type Answer = Omit<Decision, 'approval_id' | 'block_id' | 'decision' | 'digest'>

export interface SluiceClient {
  /** Starts a run. With `key`, the same key and body start one run however often they are sent. */
  start(what: StartRun, options?: Cancellable & { readonly key?: string }): Promise<StartedRun>
  /**
   * The run's events, each once and in order, until the one that ends it. A cut connection, a restart and the server's own
   * time limit are resumed after the last event that arrived; after 30 s without an answer the error is thrown.
   */
  follow(runId: string, options?: Cancellable & { readonly after?: number }): AsyncGenerator<RunEvent, void>
  /** Waits for the end of the run; `blocks`: whose outputs are wanted besides those nobody reads. */
  result(runId: string, options?: Cancellable & { readonly blocks?: readonly string[] }): Promise<RunResult>
  run(runId: string, options?: Cancellable): Promise<Run>
  outputs(runId: string, blockId: string, options?: Cancellable): Promise<BlockOutputs>
  /** Runs, newest first, page after page. */
  runs(query?: RunQuery, options?: Cancellable): AsyncGenerator<RunSummary, void>
  /** What people are asked, those that wait longest first, page after page. */
  approvals(query?: ApprovalQuery, options?: Cancellable): AsyncGenerator<Approval, void>
  /** Says yes to exactly what was shown: its digest goes along. */
  approve(runId: string, asked: AskedApproval, answer?: Answer): Promise<void>
  reject(runId: string, asked: Pick<AskedApproval, 'approval_id'>, answer?: Answer): Promise<void>
  stop(runId: string, reason?: string): Promise<void>
  /** Entities of the knowledge graph, best first. */
  search(query: Search, options?: Cancellable): Promise<readonly SearchHit[]>
  /** Every other route, typed: `client.api.GET('/api/dag/runs/{run_id}/graph', { params: { path: { run_id } } })`. */
  readonly api: Client<paths>
}

/** An answer of the server that says no, or none at all: then `status` is 0 and `code` is `no_server`. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly status: number
  /** One of docs/errors.md. */
  readonly code: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(status: number, { code, detail, facts = {} }: ReadProblem, cause?: unknown) {
    super(detail, cause === undefined ? {} : { cause })
    this.status = status
    this.code = code
    this.facts = facts
  }
}

interface ReadProblem {
  readonly code: string
  readonly detail: string
  readonly facts?: Readonly<Record<string, unknown>>
}

/** A client of one place. It needs `fetch` and nothing else: Node, browsers, Lambda, workers. */
export function sluiceClient(options: ClientOptions): SluiceClient {
  const api = openApi(options)
  const run = (run_id: string, { signal }: Cancellable = {}) =>
    answered(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } }, ...signalled(signal) }))
  const outputs = (run_id: string, block_id: string, { signal }: Cancellable = {}) => {
    const params = { path: { run_id, block_id } }
    return answered(api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params, ...signalled(signal) }))
  }
  const decide = async (run_id: string, body: Decision) => {
    await answered(api.POST('/api/dag/runs/{run_id}/approvals', { params: { path: { run_id } }, body }))
  }
  return {
    api,
    run,
    outputs,
    start(body, { key, signal } = {}) {
      const params = key === undefined ? {} : { header: { 'Idempotency-Key': key } }
      return answered(api.POST('/api/dag/run', { params, body, ...signalled(signal) }))
    },
    follow: (runId, { after = 0, signal } = {}) => followEvents(api, runId, after, signal),
    async result(runId, { blocks = [], signal } = {}) {
      for await (const _ of followEvents(api, runId, 0, signal));
      const ended = await run(runId, signalled(signal))
      const wanted = new Set([...lastBlocks(ended), ...blocks])
      const done = [...wanted].filter((id) => ended.blocks[id]?.state === 'completed')
      const values = await Promise.all(done.map(async (id) => [id, (await outputs(runId, id)).outputs] as const))
      const { state, reason } = ended.run
      return {
        run_id: runId,
        state,
        ...(reason !== undefined && { reason }),
        outputs: Object.fromEntries(values),
        run: ended,
      }
    },
    runs: (query = {}, { signal } = {}) =>
      pages(async (cursor) => {
        const params = { query: { ...query, ...cursor } }
        const page = await answered(api.GET('/api/dag/runs', { params, ...signalled(signal) }))
        return { items: page.runs, next: page.next_cursor }
      }),
    approvals: (query = {}, { signal } = {}) =>
      pages(async (cursor) => {
        const params = { query: { ...query, ...cursor } }
        const page = await answered(api.GET('/api/dag/approvals', { params, ...signalled(signal) }))
        return { items: page.approvals, next: page.next_cursor }
      }),
    approve: (runId, { approval_id, digest }, answer = {}) =>
      decide(runId, { ...answer, approval_id, digest, decision: 'approve' }),
    reject: (runId, { approval_id }, answer = {}) => decide(runId, { ...answer, approval_id, decision: 'reject' }),
    async search(query, { signal } = {}) {
      return (await answered(api.GET('/api/graph/search', { params: { query }, ...signalled(signal) }))).hits
    },
    async stop(run_id, reason) {
      const body = reason === undefined ? {} : { reason }
      await answered(api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body }))
    },
  }
}

function signalled(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function openApi({ url, token, fetch: send = (request) => fetch(request) }: ClientOptions): Client<paths> {
  const api = createClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    fetch: send,
    querySerializer: { array: { style: 'form', explode: false } },
  })
  if (token === undefined) return api
  api.use({
    async onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`)
      return request
    },
  })
  return api
}

/** What openapi-fetch answers of a call. */
interface Called<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

async function answered<Data>(call: Promise<Called<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await call.catch(notReached)
  if (response.ok && data !== undefined && data !== null) return data
  throw new SluiceError(response.status, problemOf(error, response))
}

function notReached(cause: unknown): never {
  if (cause instanceof Error && cause.name === 'AbortError') throw cause
  const detail = `No Sluice server answers (${cause instanceof Error ? cause.message : cause}). Is it started, and the url right?`
  throw new SluiceError(0, { code: 'no_server', detail }, cause)
}

function problemOf(error: unknown, response: Response): ReadProblem {
  const given = typeof error === 'object' && error !== null ? (error as Partial<Problem>) : {}
  const { code = 'not_sluice', detail = `HTTP ${response.status}, and not as a Sluice server answers` } = given
  return { code, detail, facts: (given.facts ?? {}) as Readonly<Record<string, unknown>> }
}

async function* pages<Item>(
  read: (cursor: { cursor?: string }) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): AsyncGenerator<Item, void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { items, next }: { readonly items: readonly Item[]; readonly next: string | null } = await read(
      cursor === undefined ? {} : { cursor },
    )
    yield* items
    cursor = next
  }
}

/** Blocks whose outputs no other block reads. */
function lastBlocks({ blocks, dag }: Run): readonly string[] {
  const described = (dag.blocks ?? []) as readonly { readonly id: string; readonly upstream?: readonly string[] }[]
  const read = new Set(described.flatMap(({ upstream = [] }) => upstream))
  return Object.keys(blocks).filter((id) => !read.has(id))
}

/** Types that end a run: exactly one of them is a run's last event. */
const ENDS = /^run:(completed|partial|blocked|failed|cancelled|iterated)$/

/** 0.2 + 0.4 + .. + 3.2 + five times 5 s: a bit over 30 s. */
const MOST_FAILURES = 10

async function* followEvents(
  api: Client<paths>,
  run_id: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, void> {
  const at = { seq: after }
  for (let failures = 0; failures < MOST_FAILURES; failures += 1) {
    const before = at.seq
    const outcome = yield* oneStream(api, run_id, at, signal)
    if (outcome === 'ended') return
    // The server's own time limit is no failure: the next stream is opened at once.
    if (at.seq > before || outcome === 'handed over') failures = -1
    if (outcome === 'handed over') continue
    signal?.throwIfAborted()
    if (failures + 1 === MOST_FAILURES) throw outcome
    await waited(Math.max(retryAfter(outcome), Math.min(200 * 2 ** Math.max(failures, 0), 5_000)), signal)
  }
}

/** One connection: `ended`, `handed over` to the next one, or why it broke. Throws what no other try would mend. */
async function* oneStream(
  api: Client<paths>,
  run_id: string,
  at: { seq: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, 'ended' | 'handed over' | SluiceError> {
  try {
    const response = await openStream(api, run_id, at.seq, signal)
    if (response.status === 204) return 'ended'
    for await (const event of readEvents(response.body)) {
      if (event === 'handed over') return event
      if (event.seq <= at.seq) continue
      at.seq = event.seq
      yield event
      if (ENDS.test(event.type)) return 'ended'
    }
    return CUT
  } catch (error) {
    signal?.throwIfAborted()
    return passing(error)
  }
}

/** Refused for good (unknown run, no right) is final and thrown; everything else may be a restart. */
function passing(error: unknown): SluiceError {
  const refused = error instanceof SluiceError ? error : new SluiceError(0, CUT_WORDS, error)
  const { status } = refused
  if (status === 0 || status === 429 || status >= 500) return refused
  throw refused
}

const CUT_WORDS = { code: 'no_server', detail: 'The stream of events was cut, and no Sluice server answers any more.' }
const CUT = new SluiceError(0, CUT_WORDS)

async function openStream(
  api: Client<paths>,
  run_id: string,
  seq: number,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const params = { path: { run_id }, header: { 'Last-Event-ID': String(seq) } }
  const headers = { accept: 'text/event-stream' }
  const called = await api
    .GET('/api/dag/runs/{run_id}/events', { params, headers, parseAs: 'stream', ...signalled(signal) })
    .catch(notReached)
  if (called.response.ok) {
    return called.response.status === 204 ? called.response : new Response(called.data as ReadableStream<Uint8Array>)
  }
  throw new SluiceError(called.response.status, problemOf(called.error, called.response))
}

function retryAfter({ facts }: SluiceError): number {
  const { retry_after_ms } = facts
  return typeof retry_after_ms === 'number' ? retry_after_ms : 0
}

function waited(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

/** A newer server may send types this client does not know: they pass through to a reader that has a default. */
function eventOf(data: string): RunEvent | undefined {
  try {
    const value: unknown = JSON.parse(data)
    const seq = typeof value === 'object' && value !== null && 'seq' in value ? value.seq : undefined
    return typeof seq === 'number' ? (value as RunEvent) : undefined
  } catch {
    return undefined
  }
}

/** Events as they arrive; `handed over`: the server ended the stream, and said where the next one begins. */
async function* readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<RunEvent | 'handed over'> {
  for await (const { id, data } of readMessages(body)) {
    if (data === '' && id !== '') yield 'handed over'
    const event = eventOf(data)
    if (event !== undefined) yield event
  }
}

/** Server-Sent Events, as far as the API uses them: `id` and `data`. */
async function* readMessages(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<{ readonly id: string; readonly data: string }> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) yield { id: fieldOf(part, 'id'), data: fieldOf(part, 'data') }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function fieldOf(message: string, field: string): string {
  const lines = message.split('\n').filter((line) => line === field || line.startsWith(`${field}:`))
  return lines.map((line) => line.slice(field.length + 1).replace(/^ /, '')).join('\n')
}
