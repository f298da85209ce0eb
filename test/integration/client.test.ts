import { build } from 'esbuild'
import { afterEach, describe, expect, test } from 'vitest'
import { type RunEvent, type SluiceClient, SluiceError, sluiceClient } from '../../clients/sdk/client.ts'
import { idOf } from '../conformance/graph-fixture.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** The client that projects import as `sluice/client`, before a place that listens. */
let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** `trim` reads nothing of another block, `publish` is asked for. */
const ASKING = {
  name: 'asking',
  inputs: { text: 'string' },
  blocks: [
    {
      id: 'trim',
      mode: 'deterministic',
      inputs: { text: 'string' },
      outputs: { text: 'string' },
      deterministic: { handler: 'transform', config: { expression: '$trim(inputs.text)' } },
    },
    {
      id: 'publish',
      mode: 'deterministic',
      inputs: { body: { from: 'trim.text' } },
      outputs: { body: 'string' },
      deterministic: { handler: 'transform', config: { expression: 'inputs.body & "!"' } },
      approval: { prompt: 'Publish this?', show: ['body'] },
    },
  ],
}
const what = { dag: ASKING, inputs: { text: ' hello ' } }

async function opened(send?: (request: Request) => Promise<Response>): Promise<SluiceClient> {
  open ??= await openTestPlace({ listen: true }, { port: 0 })
  return sluiceClient({ url: `${open.place.url}/`, ...(send && { fetch: send }) })
}

/** Follows to the end, and approves what is asked. */
async function followed(client: SluiceClient, runId: string): Promise<readonly RunEvent[]> {
  const seen: RunEvent[] = []
  for await (const event of client.follow(runId)) {
    seen.push(event)
    if (event.type === 'approval:requested') await client.approve(runId, event.data, { feedback: 'as it should be' })
  }
  return seen
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const inOrder = (events: readonly RunEvent[]) => events.every(({ seq }, at) => seq === at + 1)

describe('sluice/client', () => {
  test('starts a run, follows it, approves what it asks, and reads what it leaves', async () => {
    const client = await opened()
    const { run_id } = await client.start(what)
    const seen = await followed(client, run_id)
    expect(inOrder(seen)).toBe(true)
    expect(seen.at(-1)?.type).toBe('run:completed')
    const result = await client.result(run_id)
    expect(result).toMatchObject({ run_id, state: 'completed', outputs: { publish: { body: 'hello!' } } })
    expect(Object.keys(result.outputs)).toEqual(['publish'])
    expect((await client.result(run_id, { blocks: ['trim'] })).outputs.trim).toEqual({ text: 'hello' })
    expect(await client.outputs(run_id, 'trim')).toMatchObject({ outputs: { text: 'hello' } })
    expect(await all(client.follow(run_id, { after: seen.length - 1 }))).toEqual(seen.slice(-1))
    expect(await all(client.follow(run_id, { after: seen.length }))).toEqual([])
  })

  test('gives each event once, in order, however often its connection is cut', async () => {
    let streams = 0
    const client = await opened(async (request) => {
      const response = await fetch(request)
      if (!request.url.endsWith('/events') || response.body === null || response.status !== 200) return response
      streams += 1
      return new Response(cutAfter(response.body, 700), response)
    })
    const { run_id } = await client.start(what)
    const seen = await followed(client, run_id)
    expect(inOrder(seen)).toBe(true)
    expect(seen.at(-1)?.type).toBe('run:completed')
    expect(streams).toBeGreaterThan(3)
  })

  test('goes on after a restart of the server', async () => {
    open = await openTestPlace({ listen: true }, { port: 0 })
    // Another start listens on another port: the client's requests go where the place is now.
    const client = sluiceClient({
      url: 'http://moved.invalid',
      fetch: (request) =>
        fetch(new Request(request.url.replace('http://moved.invalid', `${open?.place.url}`), request)),
    })
    const { run_id } = await client.start(what)
    const seen: RunEvent[] = []
    for await (const event of client.follow(run_id)) {
      seen.push(event)
      if (event.type !== 'approval:requested') continue
      await open.reopen()
      await client.approve(run_id, event.data)
    }
    expect(inOrder(seen)).toBe(true)
    expect(seen.at(-1)?.type).toBe('run:completed')
  })

  test('the same key starts one run; lists are read page after page', async () => {
    const client = await opened()
    const [a, b] = [await client.start(what, { key: 'once' }), await client.start(what, { key: 'once' })]
    expect(a.run_id).toBe(b.run_id)
    const more = [await client.start(what), await client.start(what)]
    const listed = (await all(client.runs({ limit: 1 }))).map(({ run_id }) => run_id)
    expect(listed.sort()).toEqual([a, ...more].map(({ run_id }) => run_id).sort())
    for (const { run_id } of [a, ...more]) await open?.until(run_id, ({ type }) => type === 'approval:requested')
    const asked = await all(client.approvals({ limit: 2 }))
    expect(asked.map(({ run_id }) => run_id).sort()).toEqual(listed)
    for (const one of asked) await client.reject(one.run_id, one, { feedback: 'not this' })
    expect((await client.result(a.run_id)).state).not.toBe('completed')
  })

  test('finds entities of the knowledge graph', async () => {
    const client = await opened()
    const entities = [{ entity_id: idOf('x'), label: 'Quokka Island' }]
    const { data } = await client.api.PUT('/api/graph/entities', { body: { entities } })
    expect(data?.results).toMatchObject([{ outcome: 'created' }])
    expect(await client.search({ q: 'quokka', limit: 5 })).toMatchObject([{ entity_id: idOf('x') }])
    expect(await client.search({ q: 'wombat' })).toEqual([])
  })

  test('refuses as the server does: a code, what was seen, what to do', async () => {
    const client = await opened()
    const unknown = await client.run('run_nobody').catch((error: unknown) => error)
    expect(unknown).toBeInstanceOf(SluiceError)
    expect(unknown).toMatchObject({ status: 404, code: 'unknown_run' })
    await expect(all(client.follow('run_nobody'))).rejects.toMatchObject({ status: 404 })
    await expect(client.start({ dag: { blocks: [] } })).rejects.toMatchObject({ status: 400, code: 'invalid_dag' })
    const nobody = sluiceClient({ url: 'http://127.0.0.1:9' })
    await expect(nobody.run('run_x')).rejects.toMatchObject({ status: 0, code: 'no_server' })
  })

  test('a digest of something else approves nothing', async () => {
    const client = await opened()
    const { run_id } = await client.start(what)
    await open?.until(run_id, ({ type }) => type === 'approval:requested')
    const [asked] = await all(client.approvals())
    if (asked === undefined) throw new Error('nothing is asked')
    const other = { ...asked, digest: `${asked.digest.slice(0, -1)}${asked.digest.endsWith('0') ? '1' : '0'}` }
    await expect(client.approve(run_id, other)).rejects.toBeInstanceOf(SluiceError)
    await client.stop(run_id, 'enough')
    expect(await client.result(run_id)).toMatchObject({ state: 'cancelled' })
  })

  test('stops waiting when its signal says so, and asks for its token before each request', async () => {
    open = await openTestPlace({ listen: true }, { port: 0 })
    const sent: (string | null)[] = []
    const tokens = ['t1', 't2', 't3']
    const client = sluiceClient({
      url: `${open.place.url}`,
      token: () => tokens.shift() ?? '',
      fetch: (request) => {
        sent.push(request.headers.get('authorization'))
        const plain = new Headers(request.headers)
        plain.delete('authorization')
        return fetch(new Request(request, { headers: plain }))
      },
    })
    const { run_id } = await client.start(what)
    const stop = new AbortController()
    const following = (async () => {
      for await (const { type } of client.follow(run_id, stop)) if (type === 'approval:requested') stop.abort()
    })()
    await expect(following).rejects.toMatchObject({ name: 'AbortError' })
    expect(sent).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test('needs nothing of Node: a browser takes it whole', async () => {
    const { metafile } = await build({
      entryPoints: ['clients/sdk/client.ts'],
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      minify: true,
    })
    const [made] = Object.values(metafile.outputs)
    expect(made?.imports).toEqual([])
    expect(made?.bytes).toBeLessThan(20_000)
  })
})

/** Breaks a stream off in the middle of its bytes, as a connection does. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  let left = bytes
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.error(new TypeError('terminated'))
    },
  })
  return body.pipeThrough(cut)
}
