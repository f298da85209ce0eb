import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { ROUTES } from '../../shared/routes.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { idOf, place as placeEntity, stated } from '../conformance/graph-fixture.ts'

let dir: string
let local: Place

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-tenants-'))
  local = await openPlace(SettingsSchema.parse({ data_dir: join(dir, 'data') }))
})
afterAll(async () => {
  await local.close()
  rmSync(dir, { recursive: true })
})

const principal = (tenant: string): Principal => ({ kind: 'user', id: 'ana', tenant, scopes: SCOPES })

type RouteHandler = (
  event: object,
  context: { readonly world: World; readonly principal: Principal },
) => Promise<{ readonly statusCode: number; readonly body: string | Uint8Array }>

/** Calls a route as somebody of a tenant. */
async function call(tenant: string, name: string, more: Readonly<Record<string, unknown>> = {}) {
  const { file } = FUNCTIONS.find((line) => line.name === name) ?? { file: '' }
  const module = (await import(join('../../functions', file))) as { readonly handler: RouteHandler }
  const { params = null, query = null, body } = more
  const event = {
    httpMethod: ROUTES.find((route) => route.name === name)?.method,
    path: '/',
    pathParameters: params,
    queryStringParameters: query,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    isBase64Encoded: false,
  }
  const answer = await module.handler(event, { world: local.world, principal: principal(tenant) })
  const text = Buffer.from(answer.body).toString()
  return { status: answer.statusCode, text, json: text.startsWith('{') ? JSON.parse(text) : {} }
}
const a = { params: { entity_id: idOf('a') } }
const hits = async (tenant: string, q: string) =>
  (await call(tenant, 'search-graph', { query: { q } })).json.hits.map((hit: { entity_id: string }) => hit.entity_id)

describe('of two tenants', () => {
  test('neither reads, finds, walks to, changes or deletes an entity of the other', async () => {
    await call('acme', 'put-entities', { body: { entities: [placeEntity('a', ['b']), placeEntity('b')] } })
    await call('globex', 'put-entities', { body: { entities: [placeEntity('b', [], { label: 'Globex B' })] } })
    expect((await call('globex', 'get-entity', a)).status).toBe(404)
    expect((await call('globex', 'get-neighbors', a)).status).toBe(404)
    const ofB = { params: { entity_id: idOf('b') } }
    expect((await call('globex', 'get-neighbors', ofB)).json).toMatchObject({ entities: [], edges: [] })
    expect((await call('acme', 'get-neighbors', ofB)).json.entities).toMatchObject([{ entity_id: idOf('a') }])
    expect([await hits('globex', 'a'), await hits('globex', 'b')]).toEqual([[], [idOf('b')]])
    expect(await hits('acme', 'globex')).toEqual([])
    expect((await call('globex', 'delete-entity', a)).json).toMatchObject({ outcome: 'absent' })
    await call('globex', 'delete-entities', { body: { entity_ids: [idOf('a'), idOf('b')] } })
    await call('globex', 'put-triples', { body: { triples: [stated('a', 'geo.capital', 'theirs')] } })
    expect((await call('acme', 'get-entity', a)).text).not.toContain('theirs')
    expect((await call('acme', 'get-entity', ofB)).json.entity.label).toBe('B')
    expect(await hits('acme', 'a')).toEqual([idOf('a')])
  })

  test('neither reads a body of the other, nor has it searched, nor learns whether it is there', async () => {
    const { json } = await call('acme', 'put-object', { body: 'The vault opens at nine.' })
    const there = await call('globex', 'get-object', { params: { sha256: json.sha256 } })
    const nowhere = await call('globex', 'get-object', { params: { sha256: '0'.repeat(64) } })
    expect([there.status, nowhere.status]).toEqual([404, 404])
    expect(there.text.replaceAll(json.sha256, '')).toBe(nowhere.text.replaceAll('0'.repeat(64), ''))
    const entities = [
      placeEntity('spy', [], { objectstore_ref: json.ref }),
      placeEntity('guess', [], { objectstore_ref: json.ref.replace('acme', 'globex') }),
    ]
    const { results } = (await call('globex', 'put-entities', { body: { entities } })).json
    expect(results).toMatchObject([{ ok: false }, { ok: false }])
    expect(await hits('globex', 'vault')).toEqual([])
  })

  test('neither sees a question of the other, and its chain finds nothing of the other', async () => {
    const asked = await call('globex', 'start-research', { body: { topic: 'When does the vault open?' } })
    expect(asked.status).toBe(201)
    const run = { params: { run_id: asked.json.run_id }, query: { wait: '20' } }
    expect((await call('acme', 'get-research', run)).status).toBe(404)
    const answer = await call('globex', 'get-research', run)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('nine')
    const loop = { params: { entity_id: asked.json.loop } }
    expect((await call('globex', 'get-entity', loop)).status).toBe(200)
    expect((await call('acme', 'get-entity', loop)).status).toBe(404)
  })
})
