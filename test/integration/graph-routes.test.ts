import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { idOf, place as placeEntity, stated } from '../conformance/graph-fixture.ts'

let dir: string
let place: Place

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-graph-'))
  const safety = { max_requests_per_min: 1_000 }
  place = await openPlace(SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), safety }), { listen: true })
})
afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true })
})

async function call(method: string, path: string, body?: unknown) {
  const bytes = body instanceof Uint8Array
  const sent = body === undefined ? {} : { body: bytes ? new Blob([Uint8Array.from(body)]) : JSON.stringify(body) }
  const headers = { 'content-type': bytes ? 'text/markdown' : 'application/json' }
  const response = await fetch(`${place.url}${path}`, { method, headers, ...sent })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}
const put = async (entities: readonly unknown[]) => {
  const { status, json } = await call('PUT', '/api/graph/entities', { entities })
  expect(status).toBe(200)
  return GRAPH_ROUTES['put-entities'].answer.parse(json).results
}
const found = async (q: string, more = '') => {
  const { json } = await call('GET', `/api/graph/search?q=${encodeURIComponent(q)}${more}`)
  return GRAPH_ROUTES['search-graph'].answer.parse(json).hits
}

describe('PUT /api/graph/entities', () => {
  test('writes what is right and says of each other item what is wrong with it', async () => {
    const results = await put([
      placeEntity('a', ['b']),
      { entity_id: 'not.an.id' },
      { ...placeEntity('c'), colour: 'red' },
      { ...placeEntity('d'), triples: [stated('a', 'geo.borders', idOf('b'))] },
      placeEntity('b'),
    ])
    expect(results.map(({ at, id, ok, outcome }) => [at, id, ok, outcome])).toEqual([
      [0, idOf('a'), true, 'created'],
      [1, undefined, false, undefined],
      [2, idOf('c'), false, undefined],
      [3, idOf('d'), false, undefined],
      [4, idOf('b'), true, 'created'],
    ])
    expect(results[1]?.error).toMatchObject({ code: 'bad_entity', message: expect.stringMatching(/arity/) })
    expect(results[3]?.error?.errors).toMatchObject([{ path: 'triples.0.subject' }])
    expect(results[3]?.error?.message).toMatch(/^Cannot take this entity: triples\.0\.subject: ./)
    expect((await call('GET', `/api/graph/entities/${idOf('c')}`)).status).toBe(404)
    expect(await put([placeEntity('a', ['b'])])).toMatchObject([{ ok: true, outcome: 'unchanged' }])
  })

  test('names its limits', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => placeEntity(`n${n}`))
    expect((await call('PUT', '/api/graph/entities', { entities: many })).json).toMatchObject({
      status: 400,
      errors: [{ path: 'entities', message: expect.stringContaining('1000') }],
    })
    const triples = Array.from({ length: 1_001 }, (_, n) => stated('a', 'x.y', n))
    expect((await call('PUT', '/api/graph/triples', { triples })).status).toBe(400)
    expect((await call('PUT', '/api/graph/entities', { entities: [] })).status).toBe(400)
  })
})

describe('a body that comes with its entity', () => {
  const bodyOf = async (name: string) => {
    const { entity } = (await call('GET', `/api/graph/entities/${idOf(name)}`)).json
    return (await call('GET', `/api/objects/${entity.objectstore_ref.slice(-64)}`)).text
  }

  test('is stored and searched, whatever is wrong with another; the same again changes nothing', async () => {
    const entities = [
      { ...placeEntity('long'), body: `Kookaburras laugh at dawn. ${'Then they sleep. '.repeat(200)}` },
      { ...placeEntity('short'), body: 'Bandicoots dig at dusk.' },
      { ...placeEntity('none'), body: '' },
      { ...placeEntity('number'), body: 7 },
      { ...placeEntity('both'), body: 'x', objectstore_ref: `objstore://main/${'a'.repeat(64)}` },
      { entity_id: 'not.an.id', body: 'Never stored.' },
      placeEntity('bare'),
    ]
    const results = await put(entities)
    expect(results.map(({ ok, outcome }) => outcome ?? ok)).toEqual([
      ...['created', 'created', false, false, false, false],
      'created',
    ])
    expect(results.slice(2, 5).map(({ error }) => error?.errors?.[0]?.path)).toEqual(['body', 'body', 'body'])
    expect(results[5]?.error).toMatchObject({ code: 'bad_entity', message: expect.stringMatching(/arity/) })
    expect(await bodyOf('long')).toMatch(/^Kookaburras laugh at dawn.*sleep\. $/)
    expect(await bodyOf('short')).toBe('Bandicoots dig at dusk.')
    expect(await found('kookaburra')).toMatchObject([{ entity_id: idOf('long') }])
    const never = await call('GET', `/api/objects/${sha256(Buffer.from('Never stored.'))}`)
    expect(never.status).toBe(404)
    expect((await put(entities.slice(0, 2))).map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged'])
    const other = [{ ...placeEntity('short'), body: 'Bandicoots dig at night.' }]
    expect((await put(other)).map(({ outcome }) => outcome)).toEqual(['updated'])
    expect(await found('bandicoots dusk', '&limit=1')).toMatchObject([{ snippet_text: 'Bandicoots dig at night.' }])
  })

  test('may be part of 4 MiB, of 1,000 entities; one byte more than the cap is refused whole', async () => {
    const entities = Array.from({ length: 1_000 }, (_, n) => ({
      ...placeEntity(`w${n}`),
      body: `Wombat ${n}. ${'It digs. '.repeat(350)}`,
    }))
    expect(JSON.stringify({ entities }).length).toBeGreaterThan(3_000_000)
    expect(new Set((await put(entities)).map(({ outcome }) => outcome))).toEqual(new Set(['created']))
    const large = { entities: [{ ...placeEntity('large'), body: 'x'.repeat(4_194_304) }] }
    expect((await call('PUT', '/api/graph/entities', large)).json).toMatchObject({
      status: 413,
      code: 'body_too_large',
      facts: { max_bytes: 4_194_304 },
    })
    const elsewhere = await call('POST', '/api/dag/validate', { source: 'x'.repeat(1_048_576) })
    expect(elsewhere.json).toMatchObject({ status: 413, facts: { max_bytes: 1_048_576 } })
  })
})

describe('the graph over HTTP', () => {
  test('triples make their subjects, add to them, and are refused one by one', async () => {
    const { json } = await call('PUT', '/api/graph/triples', {
      triples: [
        stated('t', 'geo.borders', idOf('a')),
        { ...stated('t', 'Not A Predicate', 1) },
        stated('t', 'geo.capital', 'Teetown'),
        stated('t', 'x.long', 'x'.repeat(4_001)),
      ],
    })
    expect(json.results).toMatchObject([
      { at: 0, id: idOf('t'), ok: true, outcome: 'created' },
      { at: 1, id: idOf('t'), ok: false, error: { code: 'bad_triple', errors: [{ path: 'predicate' }] } },
      { at: 2, id: idOf('t'), ok: true, outcome: 'created' },
      { at: 3, ok: false, error: { errors: [{ path: 'object' }] } },
    ])
    const { entity } = (await call('GET', `/api/graph/entities/${idOf('t')}`)).json
    expect(entity.triples).toHaveLength(2)
  })

  test('neighbours by direction, depth and predicate; none of what is not there', async () => {
    await put([placeEntity('p', ['q']), placeEntity('q', ['r']), placeEntity('r')])
    const near = async (query: string) => {
      const { json } = await call('GET', `/api/graph/entities/${idOf('q')}/neighbors${query}`)
      const { entities } = GRAPH_ROUTES['get-neighbors'].answer.parse(json)
      return entities.map(({ entity_id }) => entity_id.at(-1)).join('')
    }
    expect(await near('')).toBe('pr')
    expect(await near('?direction=out')).toBe('r')
    expect(await near('?direction=in&depth=3')).toBe('p')
    expect(await near('?predicate=geo.contains,geo.borders')).toBe('pr')
    expect(await near('?predicate=geo.contains')).toBe('')
    expect((await call('GET', `/api/graph/entities/${idOf('q')}/neighbors?depth=4`)).status).toBe(400)
    expect((await call('GET', `/api/graph/entities/${idOf('nobody')}/neighbors`)).json).toMatchObject({
      code: 'unknown_entity',
      status: 404,
    })
  })

  test('neighbours by what texts mention, after what is stated; none where they are not wanted or not of the predicate', async () => {
    await put([
      placeEntity('m1', ['m2'], { label: 'Mumbai Port', snippet: 'North of Nagoya Pier and Mumbai Quay.' }),
      placeEntity('m2', [], { label: 'Nagoya Pier' }),
      placeEntity('m3', [], { label: 'Mumbai Quay' }),
    ])
    const near = async (query: string) => {
      const { json } = await call('GET', `/api/graph/entities/${idOf('m1')}/neighbors?direction=out${query}`)
      return GRAPH_ROUTES['get-neighbors'].answer.parse(json).edges
    }
    const stated = { subject: idOf('m1'), predicate: 'geo.borders', object: idOf('m2'), depth: 1 }
    const mentioned = (name: string, start: number, end: number) => ({
      subject: idOf('m1'),
      predicate: 'sluice.mentions',
      object: idOf(name),
      depth: 1,
      places: [{ in: 'snippet', start, end }],
    })
    expect(await near('')).toEqual([stated, mentioned('m2', 9, 20), mentioned('m3', 25, 36)])
    expect(await near('&limit=1')).toEqual([stated])
    expect(await near('&mentions=none')).toEqual([stated])
    expect(await near('&predicate=geo.borders')).toEqual([stated])
    expect(await near('&predicate=sluice.mentions')).toEqual([mentioned('m2', 9, 20), mentioned('m3', 25, 36)])
    const said = { ...stated, predicate: 'sluice.mentions', source: 'me', timestamp: '2026-11-27T12:00:00Z' }
    const { depth: _, ...triple } = said
    const { json } = await call('PUT', '/api/graph/triples', { triples: [triple] })
    expect(json.results).toMatchObject([{ ok: false, error: { code: 'bad_triple' } }])
  })

  test('a search finds what was put and not what was deleted, by words, type and domain', async () => {
    await put([placeEntity('x', [], { label: 'Quokka Island', snippet: 'Small and sunny.' })])
    expect(await found('quokkas')).toMatchObject([{ entity_id: idOf('x'), tier: '1', source: 'bm25_index' }])
    expect(await found('', `&type=PLACE&limit=1`)).toMatchObject([{ tier: '0', source: 'search_graph' }])
    expect(await found('quokka', '&type=animal')).toEqual([])
    expect(await found('quokka', '&domain=geo')).toHaveLength(1)
    expect((await call('DELETE', `/api/graph/entities/${idOf('x')}`)).json).toMatchObject({ outcome: 'deleted' })
    expect(await found('quokka')).toEqual([])
    expect((await call('DELETE', `/api/graph/entities/${idOf('x')}`)).json).toMatchObject({ outcome: 'absent' })
  })

  test('a linked search also finds what its hits and the things it names are linked to', async () => {
    await put([
      placeEntity('reef', ['wreck'], { label: 'Ribbon Reef', snippet: 'Corals.' }),
      placeEntity('wreck', [], { label: 'Yongala', snippet: 'A ship that sank.' }),
    ])
    const of = async (more: string) =>
      (await found('Ribbon Reef corals', more)).map((hit) => [hit.entity_id, hit.source])
    expect(await of('')).toEqual([[idOf('reef'), 'bm25_index']])
    expect(await of('&ranking=words')).toEqual(await of(''))
    expect(await of('&ranking=linked')).toEqual([
      [idOf('reef'), 'bm25_index'],
      [idOf('wreck'), 'graph_diffusion'],
    ])
    expect((await found('', '&ranking=linked&limit=1'))[0]).toMatchObject({ source: 'search_graph' })
    expect((await call('GET', '/api/graph/search?q=x&ranking=links')).json).toMatchObject({ status: 400 })
    await call('DELETE', '/api/graph/entities', { entity_ids: [idOf('reef'), idOf('wreck')] })
  })

  test('deleting many answers each', async () => {
    await put([placeEntity('m')])
    const { json } = await call('DELETE', '/api/graph/entities', { entity_ids: [idOf('m'), 'no id', idOf('never')] })
    expect(json.results).toMatchObject([
      { at: 0, id: idOf('m'), ok: true, outcome: 'deleted' },
      { at: 1, ok: false, error: { code: 'bad_entity' } },
      { at: 2, ok: true, outcome: 'absent' },
    ])
  })

  test('an id that is refused is told by its reason and not repeated', async () => {
    const { json } = await call('GET', '/api/graph/entities/secret..name.x.y.z')
    expect(json).toMatchObject({ status: 400, code: 'bad_entity_id', facts: { reason: 'empty_segment' } })
    expect(JSON.stringify({ ...json, instance: '' })).not.toContain('secret')
  })
})

describe('objects over HTTP', () => {
  test('a body is stored by its content, read back as it was, and searched as the body of its entity', async () => {
    const body = Buffer.from('# Marsupials\n\nThe numbat eats termites and nothing else.')
    const stored = await call('PUT', '/api/objects', body)
    expect(stored.json).toEqual({
      ref: `objstore://main/${stored.json.sha256}`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: body.byteLength,
    })
    expect((await call('PUT', '/api/objects', body)).json).toEqual(stored.json)
    const read = await call('GET', `/api/objects/${stored.json.sha256}`)
    expect([read.text, read.headers.get('content-type')]).toEqual([body.toString(), 'text/plain; charset=utf-8'])
    await put([placeEntity('numbats', [], { objectstore_ref: stored.json.ref })])
    expect(await found('termites')).toMatchObject([
      { entity_id: idOf('numbats'), snippet_text: expect.stringContaining('eats termites') },
    ])
  })

  test('any bytes go, an empty body and one above the limit do not', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
    const { json } = await call('PUT', '/api/objects', bytes)
    const read = await fetch(`${place.url}/api/objects/${json.sha256}`)
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes)
    expect(read.headers.get('content-type')).toBe('application/octet-stream')
    expect((await call('PUT', '/api/objects', new Uint8Array())).json).toMatchObject({ code: 'bad_body' })
    expect((await call('PUT', '/api/objects', new Uint8Array(1_048_577))).status).toBe(413)
    expect((await call('GET', `/api/objects/${'0'.repeat(64)}`)).json).toMatchObject({ code: 'object_missing' })
    expect((await call('GET', '/api/objects/XYZ')).status).toBe(404)
  })

  test('a body above the limit of a request is uploaded, and only the one that was told', async () => {
    const body = new Uint8Array(2_000_000).fill(120)
    const order = { sha256: sha256(body), size: body.byteLength }
    const { json } = await call('POST', '/api/objects/upload', order)
    const { ref, url, method, headers } = OBJECT_ROUTES['upload-object'].answer.parse(json)
    expect((await call('GET', `/api/objects/${order.sha256}`)).status).toBe(404)
    const send = (bytes: Uint8Array<ArrayBuffer>, more = headers) =>
      fetch(new URL(url, place.url), { method, headers: more, body: bytes })
    const other = await send(new Uint8Array(2_000_000))
    expect([other.status, await other.json()]).toMatchObject([400, { code: 'wrong_content' }])
    expect((await send(body)).status).toBe(200)
    expect((await call('GET', `/api/objects/${order.sha256}`)).text).toHaveLength(2_000_000)
    expect(ref).toBe(`objstore://main/${order.sha256}`)
    expect((await call('POST', '/api/objects/upload', { ...order, size: 67_108_865 })).status).toBe(400)
    expect((await send(new Uint8Array(67_108_865), {})).status).toBe(413)
  })

  test('a body that is not there is refused with what to do, beside entities that are taken', async () => {
    const ref = `objstore://main/${'b'.repeat(64)}`
    const results = await put([placeEntity('early', [], { objectstore_ref: ref }), placeEntity('plain')])
    expect(results).toMatchObject([
      { ok: false, error: { code: 'bad_entity', errors: [{ path: 'objectstore_ref' }] } },
      { ok: true },
    ])
    expect(JSON.stringify(results[0])).toContain('Put the body first')
    const stored = await call('PUT', '/api/objects', 'The body of the late entity.')
    const taken = await put([placeEntity('early', [], { objectstore_ref: stored.json.ref })])
    expect(taken).toMatchObject([{ ok: true }])
  })

  test('a ref of another tenant is no body of an entity', async () => {
    const [result] = await put([placeEntity('spy', [], { objectstore_ref: `objstore://other/${'a'.repeat(64)}` })])
    expect(result).toMatchObject({ ok: false, error: { code: 'bad_entity', errors: [{ path: 'objectstore_ref' }] } })
  })
})
