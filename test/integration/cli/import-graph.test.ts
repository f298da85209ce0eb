import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { importGraph } from '../../../clients/cli/graph/import-graph.ts'

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
  test('sends 1,000 lines a call, kinds apart and in their order', async () => {
    const { target, calls } = await serve((_, body) => took(body))
    const lines = [...entities(0, 1_020), '{"subject":"e1"}', '{"subject":"e2"}', ...entities(1_020, 1_021)]
    const imported = await importGraph(target, text(lines), { from: 1, ...watched() })
    expect(imported).toEqual({ outcomes: { created: 1_023 }, refused: 0, errors: [] })
    expect(calls.map(({ path, ids }) => `${path} ${ids.length}`)).toEqual([
      'PUT /api/graph/entities 1000',
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
      body.includes('"e1000"') ? problem(401, 'no_token') : took(body),
    )
    const imported = await importGraph(target, text(['', ...entities(0, 1_050)]), { from: 1, ...watched() })
    expect(imported).toMatchObject({ outcomes: { created: 1_000 }, next_line: 1_002, stopped: { status: 401 } })
    expect(calls).toHaveLength(2)
    const { target: again, calls: sent } = await serve((_, body) => took(body))
    const rest = await importGraph(again, text(['', ...entities(0, 1_050)]), { from: 1_002, ...watched() })
    expect(rest.outcomes).toEqual({ created: 50 })
    expect(sent[0]?.ids[0]).toBe('e1000')
  })

  test('a person who stops it stops it between two calls, or in the middle of a wait', async () => {
    const stop = new AbortController()
    const { target, calls } = await serve((_, body) => {
      stop.abort()
      return took(body)
    })
    const imported = await importGraph(target, text(entities(0, 1_050)), { from: 1, signal: stop.signal, ...watched() })
    expect(imported).toMatchObject({
      outcomes: { created: 1_000 },
      next_line: 1_001,
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

  test('bodies go with their entities, as many as a call may have bytes; a large one is stored first', async () => {
    const ref = `objstore://main/${'a'.repeat(64)}`
    const { target, calls } = await serve((path, body) => {
      if (path !== '/api/objects') return took(body)
      if (body.startsWith('bad')) return problem(415, 'unreadable_body')
      return { status: 200, json: { ref, sha256: 'a'.repeat(64), size: 4 } }
    })
    const line = (n: number, body: string) => JSON.stringify({ entity_id: `e${n}`, body })
    const lines = [
      ...Array.from({ length: 5 }, (_, n) => line(n, 'y'.repeat(4_000))),
      line(5, 'x'.repeat(6_000)),
      line(6, `bad${'x'.repeat(6_000)}`),
    ]
    const imported = await importGraph(target, text(lines), { from: 1, mostBytes: 10_000, ...watched() })
    expect(imported).toMatchObject({
      outcomes: { created: 6 },
      refused: 1,
      errors: [{ line: 7, code: 'unreadable_body' }],
    })
    expect(calls.map(({ path, ids }) => `${path} ${ids.join(' ')}`.trim())).toEqual([
      'PUT /api/graph/entities e0 e1',
      'PUT /api/graph/entities e2 e3',
      'PUT /api/graph/entities e4',
      'PUT /api/objects',
      'PUT /api/graph/entities e5',
      'PUT /api/objects',
    ])
  })

  test('a body that a server finds too large in a call is stored first', async () => {
    const { target, calls } = await serve((path, body) => {
      if (path === '/api/objects') return { status: 200, json: { ref: 'r', sha256: 'a', size: 1 } }
      return body.includes('"body"') ? problem(413, 'body_too_large') : took(body)
    })
    const imported = await importGraph(target, text(['{"entity_id":"e0","body":"text"}']), { from: 1, ...watched() })
    expect(imported.outcomes).toEqual({ created: 1 })
    expect(calls).toHaveLength(3)
  })
})

describe('importGraph() of entity states of semstreams', () => {
  const id = 'acme.ops.geo.atlas.drone.a1'
  const triple = (predicate: string, object: unknown) => ({ subject: id, predicate, object, ...SAID })
  const SAID = { source: 'fleet', timestamp: '2026-05-23T10:00:00.123456789Z', confidence: 0.9 }
  const store = { message_type: { domain: 'fleet' }, version: 7, updated_at: '2026-05-23T10:00:01Z' }
  const state = { id, triples: [triple('fleet.drone.name', 'A1')], ...store, storage_ref: { key: 'k' } }
  const sent = async (written: string, from = 1) => {
    const bodies: { entities?: unknown[]; triples?: unknown[] }[] = []
    const { target } = await serve((_, body) => {
      bodies.push(JSON.parse(body))
      const { entities, triples } = bodies.at(-1) ?? {}
      const results = (entities ?? triples ?? []).map((__, at) => ({ at, ok: true, outcome: 'created' }))
      return { status: 200, json: { results } }
    })
    const pieces = (async function* () {
      for (let at = 0; at < written.length; at += 7) yield written.slice(at, at + 7)
    })()
    const { errors } = await importGraph(target, pieces, { from, form: 'semstreams', ...watched() })
    server?.close()
    return { items: bodies.flatMap(({ entities, triples }) => entities ?? triples ?? []), errors }
  }
  const entity = { entity_id: id, label: 'A1', triples: state.triples }
  const other = { ...state, id: `${id}x`, triples: [] }

  test.each([
    ['a line', JSON.stringify(state)],
    ['lines', `\n${JSON.stringify(state)}\r\n\n${JSON.stringify(other)}\n`],
    ['a document of several lines', JSON.stringify(state, null, 2)],
    ['a list', JSON.stringify([state, other])],
    ['a list of several lines', `  ${JSON.stringify([state, other], null, 2)}\n`],
    ['an object with entities', JSON.stringify({ entities: [state, other] })],
    ['message envelopes', JSON.stringify({ id: 'm', type: { domain: 'graph' }, payload: state, meta: {} })],
    ['entity_id for id', JSON.stringify({ ...state, id: undefined, entity_id: id })],
  ])('reads %s', async (_, written) => {
    const { items, errors } = await sent(written)
    expect({ first: items[0], errors }).toEqual({ first: entity, errors: [] })
    if (items.length > 1) expect(items[1]).toEqual({ entity_id: other.id, triples: [] })
  })

  test('takes the members of a triple; lists are several statements, objects their JSON, what is empty is left out', async () => {
    const triples = [
      { ...triple('fleet.drone.base', 'acme.ops.geo.atlas.base.b1'), context: '', datatype: 'id', expires: null },
      triple('fleet.drone.rotor', [1, 'two', { c: [true], a: null }]),
      triple('geo.point.latitude', 62.5),
      triple('geo.point.longitude', 10),
      { ...triple('research.plan.title', 'written by a model'), rule_opaque: true },
    ]
    const [item] = (await sent(JSON.stringify({ id, triples }))).items
    expect(item).toEqual({
      entity_id: id,
      geo: { lat: 62.5, lon: 10 },
      triples: [
        { ...triple('fleet.drone.base', 'acme.ops.geo.atlas.base.b1'), datatype: 'id' },
        triple('fleet.drone.rotor', 1),
        triple('fleet.drone.rotor', 'two'),
        { ...triple('fleet.drone.rotor', '{"a":null,"c":[true]}'), datatype: 'json' },
        ...triples.slice(2),
      ],
    })
    expect((await sent(JSON.stringify(triples[2]))).items).toEqual([triples[2]])
  })

  test('tells each bad item with its place and goes on with the rest', async () => {
    const texts = ['7', '{"label":"x"}', '{"id":"a.b.c.d.e.f","triples":{}}', '{"id":"a","n":9007199254740993}']
    const wanted = [/no JSON object/, /neither an id nor a subject/, /no list/, /9007199254740993/]
    for (const [joined, from] of [
      [texts.join('\n'), 1],
      [`[${texts.join(',')}]`, 1],
    ] as const) {
      const { items, errors } = await sent(joined.replace('"x"', '"a ] , [ \\" b"'), from)
      expect(items).toEqual([])
      expect(errors.map(({ line }) => line)).toEqual([1, 2, 3, 4])
      for (const [at, { message }] of errors.entries()) expect(message).toMatch(wanted[at] ?? /never/)
    }
    const broken = await sent(`no json\n${JSON.stringify(state)}\n`)
    expect([broken.items, broken.errors.map(({ line }) => line)]).toEqual([[entity], [1]])
    expect(await sent(JSON.stringify([7, state]), 2)).toEqual({ items: [entity], errors: [] })
  })

  test('reads the state of a research loop with every predicate it is kicked off with, in a message or bare', async () => {
    const loop = 'acme.ops.research.chain.loop.l1'
    const said = { source: 'agent-research-graph', timestamp: '2026-05-23T10:00:00Z', confidence: 1 }
    const triples = [
      ['research.requested', 'In what is ore melted?'],
      ['research.topic', 'In what is ore melted?'],
      ['research.hint', 'entity_kind=furnace'],
      ['research.hint', 'recency=last week'],
      ['research.budget_tokens', '4000'],
      ['research.max_iterations', '5'],
      ['research.parent_loop', 'acme.ops.agentic.coordinator.loop.p1'],
      ['loop.role', 'research_pipeline'],
    ].map(([predicate, object]) => ({ subject: loop, predicate, object, ...said }))
    const kept = {
      message_type: { domain: 'research', category: 'intent', version: 'v1' },
      storage_ref: { storage_instance: 'store', key: '2026/05/23/l1', content_type: 'application/json', size: 12 },
      ...{ object_ref: 'k', version: 7, updated_at: '2026-05-23T10:00:01Z' },
    }
    const written = { id: loop, triples, ...kept }
    const type = { domain: 'graph', category: 'state', version: 'v1' }
    const meta = { created_at: 1_779_530_400_000, received_at: 1_779_530_400_001, source: 'graph-ingest' }
    for (const one of [written, { id: '0b9c', type, payload: written, meta }]) {
      expect(await sent(JSON.stringify(one))).toEqual({ items: [{ entity_id: loop, triples }], errors: [] })
    }
  })

  test.each<[string, unknown, RegExp]>([
    [
      'a message with something else',
      { payload: { topic: 'ore' } },
      /neither an id nor a subject, which its message envelope says is research\.intent\.v1\./,
    ],
    ['a message with a text', { payload: 'ore' }, /no JSON object, which its message envelope says is research/],
    ['a message with nothing', { payload: null }, /no JSON object, which its message envelope says is research/],
  ])('says of %s what it is', async (_, more, words) => {
    const type = { domain: 'research', category: 'intent', version: 'v1' }
    const { items, errors } = await sent(JSON.stringify({ id: 'm', type, meta: {}, ...(more as object) }))
    expect(items).toEqual([])
    expect(errors).toMatchObject([{ line: 1, code: 'malformed_line', message: expect.stringMatching(words) }])
  })

  test.each<[string, unknown, RegExp]>([
    [
      'the older form',
      { node: { id }, edges: [], triples: [] },
      /members node and edges of an older form: write the id of the node/,
    ],
    [
      'an entity message',
      { entity_id: id, entity_type: 'fleet.drone', properties: { n: 1 } },
      /properties instead: write each as a triple/,
    ],
    [
      'a statement that ends',
      { id, triples: [triple('a.b', 1), { ...triple('a.b', 2), expires_at: '2027-01-01T00:00:00Z' }] },
      /its triple 2 has expires_at/,
    ],
    [
      'one of its own that ends',
      { ...triple('a.b', 2), expires_at: '2027-01-01T00:00:00Z' },
      /; it has expires_at, and the graph keeps/,
    ],
  ])('refuses %s, with what to write instead', async (_, written, words) => {
    const { items, errors } = await sent(JSON.stringify(written))
    expect(items).toEqual([])
    expect(errors).toMatchObject([{ line: 1, code: 'malformed_line', message: expect.stringMatching(words) }])
  })

  test('members that are null or empty say nothing, of a statement that does not end too', async () => {
    const written = {
      ...state,
      node: null,
      edges: null,
      triples: [{ ...triple('fleet.drone.name', 'A1'), expires_at: null }],
    }
    expect(await sent(JSON.stringify(written))).toEqual({ items: [entity], errors: [] })
  })
})
