import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'
import type { TestPlace } from '../test-place.ts'
import { type OpenSafe, post, QUICK, startOf } from './safety-place.ts'

/** Requests of one caller that change something, on one kind of store. */
export function rateSuite(store: string, openSafe: OpenSafe): void {
  let open: TestPlace
  const stop = () => post(open, 'stop-all')

  describe(`max_requests_per_min, on ${store},`, () => {
    afterEach(() => open.close())

    test('refuses what is over it until the next minute, and says how long that is', async () => {
      const clock = createVirtualClock(Date.parse('2026-01-01T00:00:20Z'))
      open = await openSafe({ max_requests_per_min: 3 }, { clock, sweep_ms: 0 })
      const statuses = await Promise.all(Array.from({ length: 5 }, stop))
      expect(statuses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
      const refused = await stop()
      expect([refused.json.code, refused.headers['retry-after']]).toEqual(['too_many_requests', '40'])
      expect(refused.json.facts).toMatchObject({ max_requests_per_min: 3, caller: expect.stringMatching(/^user:/) })
      await clock.advance(40_000)
      expect((await stop()).status).toBe(200)
    })

    test('counts no reads, no validation, no plan, and nothing that is refused before', async () => {
      open = await openSafe({ max_requests_per_min: 1 })
      for (let i = 0; i < 4; i += 1) {
        expect((await post(open, 'get-safety', { body: null })).status).toBe(200)
        expect((await post(open, 'stop-all', { body: { unknown: true } })).status).toBe(400)
      }
      expect((await startOf(open, QUICK)).status).toBe(201)
      expect((await startOf(open, QUICK)).json.code).toBe('too_many_requests')
    })

    test.each(['validate-dag', 'plan-dag'])('counts %s, which costs as much as a change', async (name) => {
      const clock = createVirtualClock(Date.parse('2026-01-01T00:00:20Z'))
      open = await openSafe({ max_requests_per_min: 1 }, { clock, sweep_ms: 0 })
      expect((await post(open, name, { body: { dag: QUICK } })).status).toBe(200)
      const { status, json } = await post(open, name, { body: { dag: QUICK } })
      expect({ status, code: json.code }).toEqual({ status: 429, code: 'too_many_requests' })
    })

    test('of a tenant counts all its callers together, and none that is over its own', async () => {
      const clock = createVirtualClock(Date.parse('2026-01-01T00:00:20Z'))
      open = await openSafe({ max_requests_per_min: 2, max_tenant_requests_per_min: 3 }, { clock, sweep_ms: 0 })
      const { world } = open.place
      // Somebody else of the tenant.
      const others = await world.runs.countRequest('main', '*', '2026-01-01T00:00', 3)
      const statuses = await Promise.all(Array.from({ length: 5 }, stop))
      expect([others, ...statuses.map(({ status }) => status).sort()]).toEqual([true, 200, 200, 429, 429, 429])
      expect(statuses.map(({ json }) => json.code).filter((code) => code === 'too_many_tenant_requests')).toEqual([])
      await clock.advance(40_000)
      for (let i = 0; i < 3; i += 1) await world.runs.countRequest('main', '*', '2026-01-01T00:01', 3)
      const refused = await stop()
      expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([
        429,
        'too_many_tenant_requests',
        '60',
      ])
      expect(refused.json.facts).toMatchObject({ max_tenant_requests_per_min: 3 })
    })

    test('lets requests pass that the store cannot count', async () => {
      open = await openSafe({ max_requests_per_min: 1 })
      const { world } = open.place
      const countRequest = () => Promise.reject(new Error('away'))
      Object.assign(world, { runs: { ...world.runs, countRequest } })
      expect([(await stop()).status, (await stop()).status]).toEqual([200, 200])
    })
  })

  test('every route that changes something, or checks a document, counts who calls it', () => {
    // A request that another service signs has no caller of ours: the route's own throttle bounds it.
    const called = ROUTES.filter(({ signed_by }) => signed_by === undefined)
    const changing = called.filter(({ method }) => method !== 'GET')
    const files = new Map(FUNCTIONS.map(({ name, file }) => [name, readFileSync(`functions/${file}`, 'utf8')]))
    expect(changing.filter(({ name }) => !files.get(name)?.includes('= changeHandler('))).toEqual([])
  })
}
