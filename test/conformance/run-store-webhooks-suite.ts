import { describe, expect, test } from 'vitest'
import type { DeadWebhook } from '../../shared/runs/dead-webhook.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { EndpointEntry } from '../../shared/webhooks/endpoint-deliveries.ts'
import { at, ending, keyOf, newRun, step, time } from './run-store-fixture.ts'

type Store = () => RunStore

/** What telling endpoints needs: entries of the outbox that move, and messages nobody took. */
export function webhookItemTests(store: Store, heavy: string[]): void {
  describe('entries that move', () => entryTests(store))
  describe('dead webhooks', { tags: heavy }, () => deadTests(store))
}

const ENTRY: EndpointEntry = { id: 'endpoint-billing', at: time(0), kind: 'endpoint', endpoint: 'billing', from_seq: 1 }
const OTHER: EndpointEntry = { ...ENTRY, id: 'endpoint-crm', endpoint: 'crm' }

function entryTests(store: Store): void {
  const begun = async (n = 1) => {
    const run = keyOf(newRun(n).meta)
    await store().create({ ...newRun(n), outbox: [ENTRY, OTHER] })
    return run
  }
  const outbox = async (n = 1) => (await store().head(keyOf(newRun(n).meta), []))?.outbox

  test('one is replaced, or removed, only while it is exactly what was read', async () => {
    const run = await begun()
    const next = { ...ENTRY, from_seq: 4, tries: 1, failing_since: time(5), due_at: time(10_000) }
    expect(await store().moveEntry(run, ENTRY, next)).toBe(true)
    expect(await store().moveEntry(run, ENTRY, { ...ENTRY, from_seq: 9 })).toBe(false)
    expect(await store().moveEntry(run, { ...next, tries: 2 }, undefined)).toBe(false)
    expect(await outbox()).toEqual([next, OTHER])
    const [read] = (await outbox()) ?? []
    expect(await store().moveEntry(run, read ?? ENTRY, undefined)).toBe(true)
    expect(await store().moveEntry(run, next, undefined)).toBe(false)
    expect(await outbox()).toEqual([OTHER])
  })

  test('of fifty who read the same one moves it', async () => {
    const run = await begun()
    const moved = await Promise.all(
      Array.from({ length: 50 }, (_, i) => store().moveEntry(run, ENTRY, { ...ENTRY, from_seq: i + 2 })),
    )
    expect(moved.filter(Boolean)).toHaveLength(1)
  })

  test('events of the run and its end change nothing of it', async () => {
    const run = await begun()
    await store().append(step(run, '0', at(1, 10)))
    await store().append(ending(run))
    expect(await store().moveEntry(run, ENTRY, { ...ENTRY, from_seq: 3 })).toBe(true)
  })

  test('a run there is none of has none', async () => {
    expect(await store().moveEntry(keyOf(newRun(7).meta), ENTRY, undefined)).toBe(false)
  })
}

function dead(n: number, over: Partial<DeadWebhook> = {}): DeadWebhook {
  const run_id = `run_${String(n).padStart(26, '0')}`
  return {
    id: `${run_id}-3-billing`,
    endpoint: 'billing',
    run_id,
    seq: 3,
    type: 'run:completed',
    event_at: time(n * 1_000),
    tries: 14,
    last: { at: time(90_000_000), status: 500, reason: 'it answered 500' },
    ...over,
  }
}

function deadTests(store: Store): void {
  test('one is kept as it was buried first, and as its replay went', async () => {
    await store().buryWebhook('main', dead(1))
    await store().buryWebhook('main', dead(1, { tries: 99 }))
    expect(await store().deadWebhook('main', dead(1))).toEqual(dead(1))
    const replayed = dead(1, { delivered_at: time(1), last: { at: time(1), status: 204, reason: 'it answered 204' } })
    for (let i = 0; i < 2; i += 1) await store().replayedWebhook('main', replayed)
    expect(await store().deadWebhook('main', dead(1))).toEqual(replayed)
    expect((await store().deadWebhooks('main', { limit: 10 })).dead).toEqual([replayed])
  })

  test('a replay of one that was never buried is nothing', async () => {
    await store().replayedWebhook('main', dead(1))
    expect(await store().deadWebhook('main', dead(1))).toBeUndefined()
  })

  test('all of a tenant are listed page by page, latest event first, and nobody else’s', async () => {
    const all = [5, 3, 1, 4, 2].map((n) => dead(n, n === 4 ? { event_at: time(3_000) } : {}))
    for (const one of all) await store().buryWebhook('main', one)
    await store().buryWebhook('other', dead(6))
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await store().deadWebhooks('main', { limit: 2, ...(after === undefined ? {} : { after }) })
      expect(page.dead.length).toBeLessThanOrEqual(2)
      found.push(...page.dead.map(({ id }) => id))
      after = page.next
    } while (after !== undefined)
    expect(found).toEqual([5, 4, 3, 2, 1].map((n) => dead(n).id))
    expect((await store().deadWebhooks('third', { limit: 2 })).dead).toEqual([])
  })

  test('a cursor of another tenant, of another list, or a made one is refused', async () => {
    for (const n of [1, 2]) await store().buryWebhook('main', dead(n))
    for (const n of [1, 2]) await store().create(newRun(n))
    const { next = '' } = await store().deadWebhooks('main', { limit: 1 })
    const { next: ofRuns = '' } = await store().list('main', { limit: 1 })
    for (const [tenant, after] of [
      ['other', next],
      ['main', ofRuns],
      ['main', `${next}x`],
    ] as const) {
      await expect(store().deadWebhooks(tenant, { limit: 1, after })).rejects.toMatchObject({ code: 'bad_cursor' })
    }
  })
}
