import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { importGraph } from '../../../clients/cli/import-graph.ts'

/** The importer against a server that is busy, away, or takes less than it said: the wire alone, to have it at will. */
type Answer = (path: string, body: string) => { readonly status: number; readonly json: unknown }

let server: Server | undefined
afterEach(() => server?.close())

async function serve(answer: Answer) {
  const calls: { readonly path: string; readonly ids: readonly string[] }[] = []
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      calls.push({ path: `${request.method} ${request.url}`, ids: idsOf(body) })
      const answered = answer(request.url ?? '', body)
      const type = answered.status === 200 ? 'application/json' : 'application/problem+json'
      response.writeHead(answered.status, { 'content-type': type }).end(JSON.stringify(answered.json))
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { target: { url: `http://127.0.0.1:${port}`, named: true }, calls }
}

function idsOf(body: string): readonly string[] {
  return [...body.matchAll(/"(?:entity_id|subject)":"(\w+)"/g)].map(([, id]) => id ?? '')
}

function took(body: string) {
  const results = idsOf(body).map((id, at) => ({ at, id, ok: true, outcome: 'created' }))
  return { status: 200, json: { results } }
}

function problem(status: number, code: string, facts = {}) {
  return { status, json: { type: 'about:blank', title: code, status, code, detail: `It is ${code}.`, facts } }
}

async function* text(lines: readonly string[]) {
  for (const line of lines) yield `${line}\n`
}

const entities = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `{"entity_id":"e${from + at}"}`)

const watched = () => {
  const waits: string[] = []
  return { waits, progress: (so: { readonly waits?: string }) => void (so.waits && waits.push(so.waits)) }
}

describe('importGraph()', () => {
  test('sends 100 lines a call, kinds apart and in their order', async () => {
    const { target, calls } = await serve((_, body) => took(body))
    const lines = [...entities(0, 120), '{"subject":"e1"}', '{"subject":"e2"}', ...entities(120, 121)]
    const imported = await importGraph(target, text(lines), { from: 1, ...watched() })
    expect(imported).toEqual({ outcomes: { created: 123 }, refused: 0, errors: [] })
    expect(calls.map(({ path, ids }) => `${path} ${ids.length}`)).toEqual([
      'PUT /api/graph/entities 100',
      'PUT /api/graph/entities 20',
      'PUT /api/graph/triples 2',
      'PUT /api/graph/entities 1',
    ])
  })

  test('waits as long as a rate limit says, and tries again where nobody answered', async () => {
    let turn = 0
    const { target, calls } = await serve((_, body) => {
      turn += 1
      if (turn === 1) return problem(429, 'too_many_requests', { retry_after_ms: 30 })
      return turn === 2 ? problem(503, 'unavailable') : took(body)
    })
    const seen = watched()
    const imported = await importGraph(target, text(entities(0, 3)), { from: 1, ...seen })
    expect(imported).toEqual({ outcomes: { created: 3 }, refused: 0, errors: [] })
    expect(calls.map(({ ids }) => ids)).toEqual([0, 1, 2].map(() => ['e0', 'e1', 'e2']))
    expect(seen.waits).toHaveLength(2)
  })

  test('a call that is refused as a whole is sent in halves until the line is found', async () => {
    const { target } = await serve((_, body) => (body.includes('"e5"') ? problem(413, 'body_too_large') : took(body)))
    const imported = await importGraph(target, text(entities(0, 9)), { from: 1, ...watched() })
    expect(imported).toEqual({
      outcomes: { created: 8 },
      refused: 1,
      errors: [{ line: 6, id: 'e5', code: 'body_too_large', message: 'It is body_too_large.' }],
    })
  })

  test('an answer it may not go on after stops it at the line to go on from', async () => {
    const { target, calls } = await serve((_, body) =>
      body.includes('"e100"') ? problem(401, 'no_token') : took(body),
    )
    const imported = await importGraph(target, text(['', ...entities(0, 150)]), { from: 1, ...watched() })
    expect(imported).toMatchObject({ outcomes: { created: 100 }, next_line: 102, stopped: { status: 401 } })
    expect(calls).toHaveLength(2)
    const { target: again, calls: sent } = await serve((_, body) => took(body))
    const rest = await importGraph(again, text(['', ...entities(0, 150)]), { from: 102, ...watched() })
    expect(rest.outcomes).toEqual({ created: 50 })
    expect(sent[0]?.ids[0]).toBe('e100')
  })

  test('a person who stops it stops it between two calls, or in the middle of a wait', async () => {
    const stop = new AbortController()
    const { target, calls } = await serve((_, body) => {
      stop.abort()
      return took(body)
    })
    const imported = await importGraph(target, text(entities(0, 150)), { from: 1, signal: stop.signal, ...watched() })
    expect(imported).toMatchObject({
      outcomes: { created: 100 },
      next_line: 101,
      stopped: { reason: { code: 'interrupted' } },
    })
    expect(calls).toHaveLength(1)
    const late = new AbortController()
    const { target: busy } = await serve(() => problem(429, 'too_many_requests', { retry_after_ms: 60_000 }))
    const waiting = importGraph(busy, text(entities(0, 1)), {
      from: 1,
      signal: late.signal,
      progress: () => late.abort(),
    })
    expect(await waiting).toMatchObject({ next_line: 1, stopped: { reason: { code: 'interrupted' } } })
  })

  test('a body is stored first; one that is refused refuses its line alone', async () => {
    const { target, calls } = await serve((path, body) => {
      if (path !== '/api/objects') return took(body)
      if (body === 'bad') return problem(415, 'unreadable_body')
      return { status: 200, json: { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), size: 4 } }
    })
    const lines = ['{"entity_id":"e0","body":"good"}', '{"entity_id":"e1","body":"bad"}', '{"entity_id":"e2","body":7}']
    const imported = await importGraph(target, text(lines), { from: 1, ...watched() })
    expect(imported).toMatchObject({
      outcomes: { created: 1 },
      refused: 2,
      errors: [
        { line: 2, code: 'unreadable_body' },
        { line: 3, code: 'malformed_line' },
      ],
    })
    expect(calls.at(-1)).toEqual({ path: 'PUT /api/graph/entities', ids: ['e0'] })
  })
})
