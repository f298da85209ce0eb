import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message, openStreamServer, type StreamServer } from './stream-server.ts'

/** What a page reads of its session; the file itself is the browser's, whose types are not those of Node. */
interface Session {
  readonly events: { readonly value: readonly { readonly seq: number }[] }
  readonly answer: { readonly value: { readonly run: { readonly state: string } } | undefined }
  readonly problem: { readonly value: { readonly status: number; readonly code: string } | undefined }
  readonly isLive: { readonly value: boolean }
  readonly isEnded: { readonly value: boolean }
  close(): void
}

interface Run {
  /** Of GET run, one a request; the last one stands for all that follow. */
  readonly statuses: readonly number[]
  /** What its stream sends; it stays open unless the run ends. */
  readonly events: readonly number[]
  /** When GET run was asked (ms). */
  readonly asks: number[]
}

const runs = new Map<string, Run>()
let server: StreamServer
let openRunSession: (runId: string) => Session
const sessions: Session[] = []

beforeAll(async () => {
  server = await openStreamServer((request, response) => {
    const [, id = '', isStream] = /\/runs\/(\w+)(\/events)?/.exec(request.url ?? '') ?? []
    const { statuses, events, asks } = runs.get(id) ?? { statuses: [404], events: [], asks: [] }
    if (isStream !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`: hello\n\n${events.map(message).join('')}`)
      if (events.includes(9)) response.end()
      return
    }
    asks.push(performance.now())
    const status = statuses[Math.min(asks.length, statuses.length) - 1] ?? 200
    const body = status === 200 ? { run: { state: `answer ${asks.length}` } } : { code: 'said', detail: 'No.', status }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  // A page, as far as this code sees one: where it came from.
  Object.assign(globalThis, { location: { origin: server.origin } })
  const file = pathToFileURL(join(import.meta.dirname, '../../../clients/console/run/session/run-session.ts')).href
  openRunSession = (await import(file)).openRunSession
})
afterAll(async () => {
  for (const session of sessions) session.close()
  await server.close()
  Reflect.deleteProperty(globalThis, 'location')
})

function open(id: string, statuses: readonly number[], events: readonly number[] = []) {
  const run = { statuses, events, asks: [] }
  runs.set(id, run)
  const session = openRunSession(id)
  sessions.push(session)
  return { page: session, asks: run.asks as readonly number[] }
}

const gaps = (times: readonly number[]) => times.slice(1).map((at, i) => at - (times[i] ?? 0))

// Each waits for a second or more of its own run: all at once.
describe.concurrent('a run on the page', () => {
  test('is asked for again while the server is busy or away, with growing pauses, until it answers', {
    tags: ['thorough'],
  }, async () => {
    const { page, asks } = open('run_busy', [429, 503, 200])
    await expect.poll(() => page.problem.value?.status).toBe(429)
    await expect.poll(() => page.answer.value?.run.state).toBe('answer 3')
    expect(page.problem.value).toBeUndefined()
    const [first = 0, second = 0] = gaps(asks)
    // 1 s, then 2 s; timers of a busy machine come late, never early.
    expect(first).toBeGreaterThan(980)
    expect(second).toBeGreaterThan(1_980)
  })

  test.each([403, 404])('is refused once with %i', async (status) => {
    const { page, asks } = open(`run_refused_${status}`, [status])
    await expect.poll(() => page.problem.value).toMatchObject({ status, code: 'said' })
    await pause(1_500)
    expect(asks).toHaveLength(1)
  })

  test('is not asked for any more once the page is left', async () => {
    const { page, asks } = open('run_left', [503])
    await expect.poll(() => page.problem.value?.status).toBe(503)
    page.close()
    await pause(1_500)
    expect(asks).toHaveLength(1)
  })

  test('is live while its stream is open, and asked for again after what the stream brought', async () => {
    const { page, asks } = open('run_live', [200], [1, 2])
    await expect.poll(() => page.events.value.map(({ seq }) => seq)).toEqual([1, 2])
    expect([page.isLive.value, page.isEnded.value]).toEqual([true, false])
    await expect.poll(() => page.answer.value?.run.state).toBe('answer 2')
    await pause(1_000)
    expect(asks).toHaveLength(2)
  })

  test('ends with its last event, and is asked for a last time', async () => {
    const { page, asks } = open('run_ended', [200], [1, 9])
    await expect.poll(() => page.isEnded.value).toBe(true)
    await expect.poll(() => asks.length).toBeGreaterThan(1)
    const last = () => page.answer.value?.run.state
    await expect.poll(last).toBe(`answer ${asks.length}`)
    await pause(1_000)
    expect([page.isLive.value, last()]).toEqual([false, `answer ${asks.length}`])
  })
})
