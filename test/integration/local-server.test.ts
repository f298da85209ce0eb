import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { ROUTE_SCHEMAS } from '../../shared/api/openapi.ts'
import { ProblemSchema } from '../../shared/api/route-schema.ts'
import type { Clock } from '../../shared/ports/host.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { readEvents } from './sse-client.ts'
import { appendEnd, appendReady, storeRun } from './stored-run.ts'

let dir: string
let place: Place
let base: string

/** Waits under way in the place: each sleeping reader of events holds one. */
let waits = 0
/** While there is one, no wait under way ends by time. */
let stopped: PromiseWithResolvers<void> | undefined
const clock: Clock = {
  now: systemClock.now,
  delay: async (ms, signal) => {
    waits += 1
    await systemClock
      .delay(ms, signal)
      .then(() => stopped?.promise)
      .finally(() => {
        waits -= 1
      })
  },
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-server-'))
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), dags: [join(dir, 'dags')] })
  place = await openPlace(settings, { listen: true, clock })
  base = place.url ?? ''
})

afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true })
})

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init = { method, headers: { 'content-type': 'application/json', ...headers } }
  const response = await fetch(`${base}${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: JSON.parse(text || 'null') }
}

async function problem(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const answer = await call(method, path, body, headers)
  const parsed = ProblemSchema.parse(answer.json)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(parsed.status).toBe(answer.status)
  return { ...parsed, headers: answer.headers }
}

/** fetch() does not let anybody set Host. */
function statusFor(headers: Record<string, string>, path = '/api/health'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base)
    request({ hostname, port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe('the local server', () => {
  it.each([
    ['get-health', '/api/health'],
    ['get-config', '/api/config'],
    ['get-agents', '/api/agents'],
    ['get-gates', '/api/gates'],
    ['get-safety', '/api/dag/safety'],
    ['get-openapi', '/api/openapi.json'],
    ['list-runs', '/api/dag/runs'],
  ])('answers %s exactly as its schema says', async (name, path) => {
    const { status, json, headers } = await call('GET', path)
    expect(status).toBe(200)
    expect(ROUTE_SCHEMAS[name]?.answer.safeParse(json).error?.issues).toBeUndefined()
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  it('refuses other hosts and pages of other origins', async () => {
    const { host } = new URL(base)
    expect(await statusFor({ host })).toBe(200)
    expect(await statusFor({ host: host.replace('127.0.0.1', 'LOCALHOST') })).toBe(200)
    expect(await statusFor({ host: 'rebound.example' })).toBe(421)
    expect(await statusFor({ host: '127.0.0.1:1' })).toBe(421)
    expect(await statusFor({ host, origin: `http://${host}` })).toBe(200)
    expect(await statusFor({ host, origin: 'http://evil.example' })).toBe(403)
    expect(await statusFor({ host, origin: 'null' })).toBe(403)
  })

  it('tells an unknown path, a wrong method and a bad path apart', async () => {
    expect(await problem('GET', '/api/nothing')).toMatchObject({ status: 404, code: 'route_not_found' })
    const wrong = await problem('PUT', `/api/dag/runs/run_${'0'.repeat(26)}/context`)
    expect(wrong).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(wrong.headers.get('allow')).toBe('GET, PATCH')
    expect(await problem('GET', '/api/dag/runs/%zz')).toMatchObject({ status: 400, code: 'bad_path' })
  })

  it('refuses a body over 1 MiB with an answer, and goes on serving', async () => {
    const big = { dag: 'x'.repeat(2_000_000) }
    expect(await problem('POST', '/api/dag/run', big)).toMatchObject({ status: 413, code: 'body_too_large' })
    expect((await call('GET', '/api/health')).status).toBe(200)
  })

  it('refuses a start that names nothing or too much, before anything is written', async () => {
    for (const body of [{}, { example: 'basic', name: 'x' }, { dag: '' }, { name: '../x' }, { name: 'x', extra: 1 }]) {
      expect(await problem('POST', '/api/dag/run', body)).toMatchObject({ status: 400, code: 'bad_body' })
    }
    expect(await problem('POST', '/api/dag/run', { name: 'nothing' })).toMatchObject({
      status: 404,
      code: 'unknown_dag',
    })
    expect((await call('GET', '/api/dag/runs')).json).toMatchObject({ runs: [] })
  })

  it.each([
    ['GET', ''],
    ['GET', '/replay'],
    ['GET', '/events'],
    ['GET', '/context'],
    ['GET', '/artifacts'],
    ['GET', '/artifacts/a.md'],
    ['POST', '/stop'],
  ])('answers %s %s of an unknown run with 404', async (method, rest) => {
    const body = method === 'POST' ? {} : undefined
    for (const id of [`run_${'0'.repeat(26)}`, 'nothing']) {
      expect(await problem(method, `/api/dag/runs/${id}${rest}`, body)).toMatchObject({
        status: 404,
        code: 'unknown_run',
      })
    }
  })
})

describe('the events of a run', () => {
  it('are replayed and then come live, each once, until the terminal one ends the stream', async () => {
    const run = await storeRun(place.world)
    for (let block = 0; block < 120; block += 1) await appendReady(place.world, run, block)
    const reading = readEvents(`${base}/api/dag/runs/${run.run_id}/events`)
    for (let block = 120; block < 240; block += 1) await appendReady(place.world, run, block)
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (let block = 240; block < 300; block += 1) await appendReady(place.world, run, block)
    await appendEnd(place.world, run)
    const messages = await reading
    expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 302 }, (_, n) => n + 1))
    expect(messages.every(({ id, event, data }) => data.seq === id && data.type === event)).toBe(true)
    expect(messages.at(-1)?.event).toBe('run:completed')
  })

  it('reach a reader at once, not at the next heartbeat', async () => {
    const run = await storeRun(place.world)
    const before = waits
    const reading = readEvents(`${base}/api/dag/runs/${run.run_id}/events`, {}, (seen) => seen.length === 2)
    await expect.poll(() => waits).toBeGreaterThan(before)
    stopped = Promise.withResolvers()
    await appendReady(place.world, run, 0)
    await reading
    stopped.resolve()
    stopped = undefined
  })

  it('resume after Last-Event-ID, which wins over since', async () => {
    const run = await storeRun(place.world)
    for (let block = 0; block < 5; block += 1) await appendReady(place.world, run, block)
    await appendEnd(place.world, run)
    const url = `${base}/api/dag/runs/${run.run_id}/events?since=1`
    expect((await readEvents(url)).map(({ id }) => id)).toEqual([2, 3, 4, 5, 6, 7])
    const headers = { 'last-event-id': '5' }
    expect((await readEvents(url, { headers })).map(({ id }) => id)).toEqual([6, 7])
  })

  it('refuse a cursor ahead of the head or no number; a finished run with nothing new is 204', async () => {
    const run = await storeRun(place.world)
    await appendEnd(place.world, run)
    const path = `/api/dag/runs/${run.run_id}/events`
    expect(await problem('GET', `${path}?since=3`)).toMatchObject({
      status: 409,
      code: 'cursor_ahead',
      facts: { last_seq: 2 },
    })
    expect(await problem('GET', path, undefined, { 'last-event-id': 'x' })).toMatchObject({ code: 'bad_cursor' })
    expect((await call('GET', `${path}?since=2`)).status).toBe(204)
  })

  it('are not read any more when the client has gone', async () => {
    const run = await storeRun(place.world)
    const gone = new AbortController()
    const { body } = await fetch(`${base}/api/dag/runs/${run.run_id}/events`, { signal: gone.signal })
    await body?.getReader().read()
    await expect.poll(() => waits).toBe(1)
    gone.abort()
    await expect.poll(() => waits).toBe(0)
  })

  it('page by since in replay', async () => {
    const run = await storeRun(place.world)
    for (let block = 0; block < 5; block += 1) await appendReady(place.world, run, block)
    const path = `/api/dag/runs/${run.run_id}/replay`
    const first = (await call('GET', `${path}?limit=4`)).json
    expect(ROUTE_SCHEMAS['replay-run']?.answer.safeParse(first).error?.issues).toBeUndefined()
    expect([first.next_since, first.status]).toEqual([4, 'running'])
    const rest = (await call('GET', `${path}?since=${first.next_since}`)).json
    expect(rest.events.map(({ seq }: { seq: number }) => seq)).toEqual([5, 6])
    expect((await call('GET', `${path}?since=6`)).json).toMatchObject({ events: [], next_since: 6 })
    expect(await problem('GET', `${path}?since=7`)).toMatchObject({
      status: 409,
      code: 'cursor_ahead',
      facts: { last_seq: 6 },
    })
  })
})

describe('the context of a run', () => {
  it('changes by compare-and-set, with an event for each version', async () => {
    const run = await storeRun(place.world)
    const path = `/api/dag/runs/${run.run_id}/context`
    expect((await call('GET', path)).json).toEqual({ version: 0, values: { goal: 'a test' } })
    const patched = await call('PATCH', path, { set: { n: 1 }, if_version: 0 })
    expect([patched.status, patched.json]).toEqual([200, { version: 1, values: { goal: 'a test', n: 1 } }])
    expect(await problem('PATCH', path, { set: { n: 2 }, if_version: 0 })).toMatchObject({
      status: 409,
      code: 'stale_version',
      facts: { version: 1 },
    })
    const events = await place.world.runs.events(run, 1, 10)
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'context:patched', data: { version: 1, keys: ['n'], by: `user:${userInfo().username}` } },
    ])
  })

  it('is changed by exactly one of many at once, and every version has its event', async () => {
    const run = await storeRun(place.world)
    const path = `/api/dag/runs/${run.run_id}/context`
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => call('PATCH', path, { set: { n }, if_version: 0 })),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(9)
    expect((await call('PATCH', path, { set: { n: 99 }, if_version: 1 })).status).toBe(200)
    const events = await place.world.runs.events(run, 1, 10)
    expect(events.map(({ data }) => (data as { version: number }).version)).toEqual([1, 2])
  })

  it('gets the event of a version whose writer crashed before recording it', async () => {
    const run = await storeRun(place.world)
    await place.world.runs.putContext(run, { version: 1, values: { a: 1 } }, 0)
    const path = `/api/dag/runs/${run.run_id}/context`
    expect((await call('PATCH', path, { set: { b: 2 }, if_version: 1 })).json).toEqual({
      version: 2,
      values: { a: 1, b: 2 },
    })
    const events = await place.world.runs.events(run, 1, 10)
    expect(events.map(({ data }) => data)).toEqual([
      { version: 1, keys: [] },
      { version: 2, keys: ['b'], by: `user:${userInfo().username}` },
    ])
  })

  it('refuses internal keys, nothing to set, 200 KiB and finished runs', async () => {
    const run = await storeRun(place.world)
    const path = `/api/dag/runs/${run.run_id}/context`
    expect(await problem('PATCH', path, { set: { _x: 1 }, if_version: 0 })).toMatchObject({ status: 400 })
    expect(await problem('PATCH', path, { set: {}, if_version: 0 })).toMatchObject({ status: 400 })
    const big = await problem('PATCH', path, { set: { big: 'x'.repeat(204_800) }, if_version: 0 })
    expect(big).toMatchObject({ status: 413, code: 'context_too_large' })
    await appendEnd(place.world, run)
    expect(await problem('PATCH', path, { set: { a: 1 }, if_version: 0 })).toMatchObject({
      status: 409,
      code: 'run_ended',
    })
    expect((await call('GET', path)).json).toEqual({ version: 0, values: { goal: 'a test' } })
  })
})

describe('the artifacts of a run', () => {
  it('are listed, and answered with their own type and hash but never as a page that runs', async () => {
    const run = await storeRun(place.world)
    const body = Buffer.from('<h1>größer</h1>')
    const stored = await place.world.objects.put('main', body)
    const item = { ...stored, name: 'out/brief 1.html', media_type: 'text/html', block_id: 'write', attempt: 1 }
    await place.world.runs.putArtifact(run, item)
    const { json } = await call('GET', `/api/dag/runs/${run.run_id}/artifacts`)
    const href = `/api/dag/runs/${run.run_id}/artifacts/out/brief%201.html`
    expect(json).toEqual({ artifacts: [{ ...item, href }] })
    const response = await fetch(`${base}${href}`)
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(response.headers.get('etag')).toBe(`"${stored.sha256}"`)
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="/)
    expect(await problem('GET', `/api/dag/runs/${run.run_id}/artifacts/no.md`)).toMatchObject({
      status: 404,
      code: 'unknown_artifact',
    })
  })
})

describe('stopping', () => {
  it('cancels a run once; the second stop is 409', async () => {
    const run = await storeRun(place.world)
    const path = `/api/dag/runs/${run.run_id}/stop`
    const stopped = await call('POST', path, { reason: 'enough' })
    expect(stopped.json).toEqual({ run_id: run.run_id, status: 'cancelled', stopped: 1 })
    expect(await problem('POST', path)).toMatchObject({ status: 409, code: 'run_ended', run_id: run.run_id })
    const last = (await place.world.runs.events(run, 1, 10)).at(-1)
    expect(last).toMatchObject({ type: 'run:cancelled', data: { reason: expect.stringContaining('enough') } })
  })

  it('cancels everything that is active, and says how many', async () => {
    await call('POST', '/api/dag/runs/stop-all')
    const runs = [await storeRun(place.world), await storeRun(place.world)]
    expect((await call('POST', '/api/dag/runs/stop-all', {})).json).toMatchObject({
      status: 'cancelled',
      stopped: 2,
      left: 0,
    })
    expect((await call('POST', '/api/dag/runs/stop-all', {})).json).toMatchObject({
      status: 'cancelled',
      stopped: 0,
      left: 0,
    })
    const { json } = await call('GET', '/api/dag/runs?status=running')
    expect([json.runs, runs.length]).toEqual([[], 2])
  })
})

describe('the list of runs', () => {
  it('is newest first, filtered, and paged without gap or repetition', async () => {
    for (let n = 0; n < 5; n += 1) await storeRun(place.world, 'paged')
    const seen: string[] = []
    let cursor = ''
    do {
      const { json } = await call('GET', `/api/dag/runs?dag=paged&limit=2${cursor}`)
      expect(ROUTE_SCHEMAS['list-runs']?.answer.safeParse(json).error?.issues).toBeUndefined()
      seen.push(...json.runs.map(({ run_id }: { run_id: string }) => run_id))
      cursor = json.next_cursor === null ? '' : `&cursor=${encodeURIComponent(json.next_cursor)}`
    } while (cursor !== '')
    expect(new Set(seen).size).toBe(5)
    expect(await problem('GET', '/api/dag/runs?cursor=forged')).toMatchObject({ status: 400 })
  })
})
