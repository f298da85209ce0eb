import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { startHttpProvider } from '../../emulators/http-provider-server.ts'
import { json, type ProviderServer, serveProvider } from '../../emulators/provider-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** max_concurrency of a provider, over all runs of a place. */
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

/** A server that notes how many calls it had under way at once; the first ones stay until `together` are there. */
async function counting(ms: number, together = 1): Promise<ProviderServer & { most(): number }> {
  const seen = { now: 0, most: 0 }
  const enough = Promise.withResolvers<void>()
  const server = await serveProvider(async (response, asked) => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    if (seen.now >= together) enough.resolve()
    await enough.promise
    await pause(ms)
    seen.now -= 1
    return json(200, { text: 'done', tokens_in: 1, tokens_out: 1 })(response, asked)
  })
  open.push(server)
  return { ...server, most: () => seen.most }
}

async function placeWith(server: Pick<ProviderServer, 'url'>, more: object): Promise<TestPlace> {
  const place = await openTestPlace({}, { providers: { own: { type: 'http', url: server.url, ...more } } })
  open.push(place)
  return place
}

const agent = { provider: 'own', model: 'm', prompt: 'Go' }
const blocks = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `b${i}`, outputs: { text: 'string' }, agent, ...more }))

describe('max_concurrency', () => {
  test('of 50 blocks of two runs never more are asked at once, and all are', async () => {
    const server = await counting(20, 4)
    const place = await placeWith(server, { max_concurrency: 4 })
    const ids = await Promise.all([0, 1].map(() => place.start({ blocks: blocks(25) })))
    for (const id of ids) expect((await place.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(server.asked).toHaveLength(50)
    expect(server.most()).toBe(4)
    expect(await place.place.world.runs.leases({ tenant: 'main', name: 'provider/own' })).toEqual({})
  })

  test('no wait for a place is an attempt', async () => {
    const server = await counting(30)
    const place = await placeWith(server, { max_concurrency: 1 })
    const events = await place.ended(await place.start({ blocks: blocks(6) }))
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(6)
    expect(events.filter(({ type }) => type === 'block:retrying')).toEqual([])
    expect(server.most()).toBe(1)
  })

  test('holds for judges too, also where block and judge ask the same provider', async () => {
    const server = await counting(5)
    const place = await placeWith(server, { max_concurrency: 1 })
    const check = {
      type: 'llm_review',
      provider: 'own',
      model: 'judge',
      port: 'text',
      criteria: 'Is it done?',
      samples: 1,
    }
    const judge = { name: 'judged', check }
    const events = await place.ended(await place.start({ blocks: blocks(4, { post_gates: [judge] }) }))
    expect(server.asked.length).toBeGreaterThan(8)
    expect(server.most()).toBe(1)
    expect(events.at(-1)?.type).toMatch(/^run:/)
  })

  test('a place of a call that died with its process is free after a restart', async () => {
    const server = await counting(10)
    const place = await placeWith(server, { max_concurrency: 1 })
    const pool = { tenant: 'main', name: 'provider/own' }
    const until = new Date(Date.now() + 600_000).toISOString()
    await place.place.world.runs.takeLease(pool, 'another-boot/x', until, 1)
    const events = await place.ended(await place.start({ blocks: blocks(1) }))
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('a run that is stopped while its block waits ends without asking', async () => {
    const slow = await startHttpProvider(() => ({ text: 'x' }))
    open.push(slow)
    const place = await placeWith(slow, { max_concurrency: 1 })
    const pool = { tenant: 'main', name: 'provider/own' }
    const { boot } = place.place.world.ids
    await place.place.world.runs.takeLease(pool, `${boot}/x`, new Date(Date.now() + 600_000).toISOString(), 1)
    const id = await place.start({ blocks: blocks(1) })
    await pause(200)
    await place.call('stop-run', id, {})
    expect((await place.ended(id)).at(-1)?.type).toBe('run:cancelled')
    expect(slow.asked).toEqual([])
  })
})
