import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWaker } from '../../functions/aws/ports-without-sdk.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { createHost } from '../../infra/local/host.ts'
import { localPrincipal } from '../../infra/local/login.ts'
import { listen } from '../../infra/local/server.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { ordinal } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { startDynamodb } from '../emulators/dynamodb.ts'
import { fastClock } from './fast-clock.ts'
import { readEvents, type SseMessage } from './sse-client.ts'
import { appendEnd, appendReady, storeRun } from './stored-run.ts'
import { openTestPlace } from './test-place.ts'

/**
 * What people and programs read of a run, over HTTP, on both stores: the routes themselves behind the local server, on
 * DynamoDB with the waker of AWS, which only polls.
 */
interface Stage {
  readonly world: World
  close(): Promise<void>
}

async function onSqlite(): Promise<Stage> {
  const place = await openTestPlace()
  return { world: place.place.world, close: place.close }
}

async function onDynamodb(): Promise<Stage> {
  const place = await openTestPlace()
  const emulator = await startDynamodb()
  const client = new DynamoDBClient(emulator.aws)
  const { clock, ids } = place.place.world
  const runs = runStoreOn({ client, table: await emulator.createTable(), clock, ids })
  return {
    world: { ...place.place.world, runs, waker: openWaker({ clock }) },
    async close() {
      client.destroy()
      await emulator.close()
      await place.close()
    },
  }
}

/** The routes of the catalog on this world, served as the local place serves them. */
function serve(world: World) {
  return listen(0, {
    host: createHost(() => world),
    objects: world.objects,
    principal: localPrincipal(),
    log: world.log,
    kept: () => undefined,
    safety: SettingsSchema.parse({}).safety,
  })
}

const DAG = 'blocks: [{ id: a, outputs: { text: string }, agent: { provider: local, model: outline, prompt: Go } }]'

describe.each([
  ['SQLite', onSqlite],
  ['DynamoDB', onDynamodb],
])('reads of a run on %s', (name, open) => {
  const more = { tags: name === 'SQLite' ? [] : ['thorough'] }
  let stage: Stage
  let server: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    stage = await open()
    server = await serve(stage.world)
  })
  afterAll(async () => {
    await server.close()
    await stage.close()
  })

  async function call(path: string, body?: object, method = 'PATCH') {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${server.url}/api/dag/runs${path}`, body === undefined ? {} : init)
    return { status: response.status, json: JSON.parse((await response.text()) || 'null') }
  }
  const eventsUrl = (run: RunKey) => `${server.url}/api/dag/runs/${run.run_id}/events`
  const seqs = (messages: readonly SseMessage[]) => messages.map(({ id }) => id)
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

  test(
    'events: durable first, then live, each once across the seam, for several readers, until the end',
    more,
    async () => {
      const run = await storeRun(stage.world)
      for (let n = 1; n <= 12; n += 1) await appendReady(stage.world, run, n)
      const readers = Array.from({ length: 5 }, () => readEvents(eventsUrl(run)))
      for (let n = 13; n <= 40; n += 1) {
        if (n % 3 === 0) readers.push(readEvents(eventsUrl(run)))
        await appendReady(stage.world, run, n)
      }
      await appendEnd(stage.world, run)
      for (const messages of await Promise.all(readers)) expect(seqs(messages)).toEqual(upTo(42))
      expect((await fetch(eventsUrl(run), { headers: { 'last-event-id': '42' } })).status).toBe(204)
    },
  )

  test('events: go on after Last-Event-ID, wherever the reader was cut off', more, async () => {
    const run = await storeRun(stage.world)
    for (let n = 1; n <= 19; n += 1) await appendReady(stage.world, run, n)
    const first = await readEvents(eventsUrl(run), {}, (messages) => messages.length >= 7)
    const last = first.at(-1)?.id ?? 0
    const ending = pause(50).then(() => appendEnd(stage.world, run))
    const rest = await readEvents(eventsUrl(run), { headers: { 'last-event-id': String(last) } })
    await ending
    expect([...seqs(first), ...seqs(rest)]).toEqual(upTo(21))
  })

  test('events: a heartbeat each 15 seconds in which nothing happens', more, async () => {
    const clock = fastClock(200)
    const fast = await serve({ ...stage.world, clock, waker: openWaker({ clock }) })
    const run = await storeRun(stage.world)
    const response = await fetch(`${fast.url}/api/dag/runs/${run.run_id}/events?since=1`)
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if ((text.match(/: heartbeat\n\n/g) ?? []).length >= 3) break
    }
    expect(text.replace(/^retry: \d+\n\n/, '')).toBe(': heartbeat\n\n'.repeat(3))
    await fast.close()
  })

  test('replay: pages by since and limit, whatever is stored where', async () => {
    const run = await storeRun(stage.world)
    for (let n = 1; n <= 30; n += 1) await appendReady(stage.world, run, n)
    const seen: number[] = []
    for (let since = 0; ; ) {
      const { json } = await call(`/${run.run_id}/replay?since=${since}&limit=7`)
      seen.push(...json.events.map((event: { seq: number }) => event.seq))
      if (json.events.length === 0) break
      since = json.next_since
    }
    expect(seen).toEqual(upTo(31))
  })

  test('the list: pages by cursor with filters, without gap or repetition', more, async () => {
    const made: string[] = []
    for (let n = 0; n < 11; n += 1) made.push((await storeRun(stage.world, 'paged')).run_id)
    const [stopped = ''] = made
    await appendEnd(stage.world, { tenant: 'main', run_id: stopped })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { json } = await call(`?dag=paged&status=running&limit=3${cursor}`)
      seen.push(...json.runs.map((one: { run_id: string }) => one.run_id))
      if (json.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`
    }
    expect(seen.length).toBe(10)
    expect([...seen].sort()).toEqual(made.slice(1).sort())
    expect((await call('?cursor=forged')).status).toBe(400)
  })

  test('the context: compare-and-set; a stale version is 409, internal keys are refused', more, async () => {
    const parsed = parseDag({
      name: 'stored',
      blocks: [{ id: 'a', agent: { provider: 'local', model: 'm' }, outputs: { a: 'string' } }],
    })
    const dag = Buffer.from(canonicalJson(parsed.ok ? (parsed.dag as never) : {}))
    const { ref } = await stage.world.objects.put('main', dag)
    const run = await storeRun(stage.world, 'stored', { dag_ref: ref })
    const path = `/${run.run_id}/context`
    expect((await call(path)).json).toEqual({ version: 0, values: { goal: 'a test' } })
    expect((await call(path, { set: { more: [1] }, if_version: 0 })).json.version).toBe(1)
    expect(await call(path, { set: { more: 2 }, if_version: 0 })).toMatchObject({
      status: 409,
      json: { code: 'stale_version' },
    })
    expect((await call(path, { set: { _hidden: 1 }, if_version: 1 })).status).toBe(400)
    const raced = await Promise.all(upTo(8).map((n) => call(path, { set: { n }, if_version: 1 })))
    expect(raced.map(({ status }) => status).sort()).toEqual([200, ...upTo(7).map(() => 409)])
    const { json } = await call(path)
    expect(json).toMatchObject({ version: 2, values: { goal: 'a test', more: [1] } })
  })

  test('artifacts: listed with name, size, hash, type and block; the body as it was written', async () => {
    const run = await storeRun(stage.world)
    const body = Buffer.from('# notes\nü\n')
    const stored = await stage.world.objects.put('main', body)
    const item = { name: 'out/notes.md', ...stored, media_type: 'text/markdown', block_id: 'write', attempt: 2 }
    await stage.world.runs.putArtifact(run, item)
    const { json } = await call(`/${run.run_id}/artifacts`)
    const { artifacts } = json as { artifacts: [{ href: string }] }
    expect(artifacts).toEqual([{ ...item, href: expect.any(String) }])
    const answer = await fetch(`${server.url}${artifacts[0].href}`)
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true)
    expect(answer.headers.get('content-type')).toMatch(/^text\/markdown/)
    expect((await call(`/${run.run_id}/artifacts/none.md`)).status).toBe(404)
  })

  test('the graph: the pinned document with what each block does', async () => {
    const parsed = parseDag(DAG, { name: 'drawn', providers: ['local'] })
    if (!parsed.ok) throw new Error(parsed.errors[0]?.message)
    const stored = await stage.world.objects.put('main', Buffer.from(canonicalJson(parsed.dag)))
    const run = await storeRun(stage.world, 'drawn', { dag_ref: stored.ref })
    const { json } = await call(`/${run.run_id}/graph`)
    expect(json).toMatchObject({ run_id: run.run_id, state: 'running', nodes: [{ id: 'a', state: 'pending' }] })
  })
})

test('a client of the events that reads nothing is sent no more than its socket takes: nothing piles up here', {
  tags: ['thorough'],
}, async () => {
  const { world, close } = await onSqlite()
  const run = await storeRun(world)
  const pages = Math.ceil((await fillLog(world, run, 2_400)) / 100)
  let reads = 0
  const events: World['runs']['events'] = (...asked) => {
    reads += 1
    return world.runs.events(...asked)
  }
  const server = await serve({ ...world, runs: { ...world.runs, events } })
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.write(`GET /api/dag/runs/${run.run_id}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  for (let before = -1; before !== reads; await pause(300)) before = reads
  // A socket of this machine takes some megabytes by itself.
  expect(reads).toBeLessThan(pages * 0.8)
  socket.resume()
  await expect.poll(() => reads).toBeGreaterThan(pages)
  socket.destroy()
  await once(socket, 'close')
  await server.close()
  await close()
})

/** Appends of as many events as fit; answers how many there are then. */
async function fillLog({ runs }: World, run: RunKey, steps: number): Promise<number> {
  const size = 20
  const reason = 'x'.repeat(250)
  for (let from = 0; from < steps; from += 100) {
    const appends = Array.from({ length: Math.min(100, steps - from) }, (_, i) => {
      const place = ordinal({ epoch: 0, attempt: 1, phase: 10 })
      const events = Array.from({ length: size }, () => ({
        type: 'block:failed' as const,
        block_id: 'b',
        data: { code: 'c', reason },
      }))
      const lane = String(from + i)
      return runs.append({ run, lane, ordinal: place, guard: { below: place }, at: '2026-01-01T00:00:00.000Z', events })
    })
    for (const done of await Promise.all(appends)) if (!done.ok) throw new Error(done.because)
  }
  return steps * size
}
