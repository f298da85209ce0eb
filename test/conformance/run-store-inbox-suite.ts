import { describe, expect, test } from 'vitest'
import type { HeadApproval } from '../../shared/runs/head.ts'
import { type InboxFilter, type RunKey, type RunStore, shownApprovalStatus } from '../../shared/runs/run-store.ts'
import { atMost } from '../how-much.ts'
import { ending, keyOf, newRun, pending, question, step, time } from './run-store-fixture.ts'

type Store = () => RunStore

/** Index 3: what people of a tenant were asked, over all its runs. */
export function inboxTests(store: Store, heavy: string[]): void {
  describe('the inbox', () => {
    openTests(store)
    closedTests(store)
    cursorTests(store, heavy)
  })
}

/** Asks about one block of a run, `ms` after the run began. */
export async function ask(store: Store, run: RunKey, block: number, ms = block): Promise<string> {
  const id = `apr_${run.run_id.slice(4)}_${block.toString(36)}_0`
  const item = { ...question(id, block), requested_at: time(ms) }
  await store().putApproval(run, item, `token-${block}`)
  await store().append(step(run, `a${block}`, 10, { approval: { id, was: null, set: pending(block) }, at: time(ms) }))
  return id
}

async function decide(store: Store, run: RunKey, id: string, ms: number, status: HeadApproval['status'] = 'approved') {
  const block = Number.parseInt(id.split('_')[2] ?? '', 36)
  const set = { ...pending(block), status, decided_by: 'user:ana', decided_at: time(ms) }
  await store().append(step(run, `a${block}`, 90, { approval: { id, was: 'pending', set }, at: time(ms) }))
}

async function begun(store: Store, n: number, tenant = 'main'): Promise<RunKey> {
  const run = newRun(n, { tenant })
  await store().create(run)
  return keyOf(run.meta)
}

/** Every page, each as `<run>/<block> <status>`. */
async function pages(store: Store, closed: boolean, limit: number, tenant = 'main'): Promise<readonly string[][]> {
  const found: string[][] = []
  let after: string | undefined
  do {
    const filter: InboxFilter = { closed, limit, ...(after === undefined ? {} : { after }) }
    const page = await store().inbox(tenant, filter)
    found.push(
      page.asked.map(
        ({ item, meta, head }) => `${Number(meta.run_id.slice(4))}/${item.block} ${shownApprovalStatus(head, item.id)}`,
      ),
    )
    after = page.next
  } while (after !== undefined)
  return found
}

const all = async (...given: Parameters<typeof pages>) => (await pages(...given)).flat()

function openTests(store: Store): void {
  test('what is open, over all runs, longest waiting first, with item, META and HEAD', async () => {
    const [one, two] = [await begun(store, 1), await begun(store, 2)]
    await ask(store, one, 0, 30)
    await ask(store, two, 3, 10)
    const id = await ask(store, one, 2, 5)
    expect(await all(store, false, 10)).toEqual(['1/2 pending', '2/3 pending', '1/0 pending'])
    const { asked } = await store().inbox('main', { closed: false, limit: 1 })
    const head = await store().head(one)
    const item = { ...question(id, 2), requested_at: time(5) }
    expect(asked).toEqual([{ item, meta: newRun(1).meta, head, at: time(5) }])
    expect(JSON.stringify(asked)).not.toContain('token-')
  })

  test('one decided, expired or cancelled with its block or its run is open no more', async () => {
    const [run, other] = [await begun(store, 1), await begun(store, 2)]
    const ids = [await ask(store, run, 0), await ask(store, run, 1), await ask(store, run, 2), await ask(store, run, 3)]
    await ask(store, other, 0)
    for (const [i, status] of (['approved', 'expired', 'cancelled'] as const).entries()) {
      await decide(store, run, ids[i] ?? '', 20 + i, status)
    }
    await store().append(ending(other))
    expect(await all(store, false, 10)).toEqual(['1/3 pending'])
  })

  test('a vote that is not the last leaves it open, at its place', async () => {
    const run = await begun(store, 1)
    const id = await ask(store, run, 0)
    await ask(store, run, 1)
    const set = { ...pending(0), votes: [{ by: 'user:ana', via: 'cli', at: time(9) }] }
    await store().append(step(run, 'a0', 60, { approval: { id, was: 'pending', set }, at: time(9) }))
    expect(await all(store, false, 10)).toEqual(['1/0 pending', '1/1 pending'])
  })

  test('what was described and never asked is not there', async () => {
    const run = await begun(store, 1)
    await store().putApproval(run, question('apr_x_0_0', 0), 'token')
    expect(await all(store, false, 10)).toEqual([])
    await store().append(ending(run))
    expect([await all(store, false, 10), await all(store, true, 10)]).toEqual([[], []])
  })

  test('a question repeated after its answer does not come back', async () => {
    const run = await begun(store, 1)
    const id = await ask(store, run, 0)
    await decide(store, run, id, 20)
    await store().putApproval(run, question(id, 0), 'token-again')
    expect(await all(store, false, 10)).toEqual([])
    expect(await all(store, true, 10)).toEqual(['1/0 approved'])
  })

  test('tenants see their own', async () => {
    const runs = [await begun(store, 1), await begun(store, 2, 'other'), await begun(store, 3, 'main#R#x')]
    for (const run of runs) await ask(store, run, 0)
    const tenants = ['main', 'other', 'main#R#x', 'nobody', 'mai']
    const seen = await Promise.all(tenants.map((tenant) => all(store, false, 10, tenant)))
    expect(seen).toEqual([['1/0 pending'], ['2/0 pending'], ['3/0 pending'], [], []])
  })
}

function closedTests(store: Store): void {
  test('what is closed, the last one first, by when that was', async () => {
    const [run, other] = [await begun(store, 1), await begun(store, 2)]
    const ids = [await ask(store, run, 0), await ask(store, run, 1)]
    await ask(store, other, 0, 2)
    await decide(store, run, ids[1] ?? '', 40, 'rejected')
    await store().append(ending(other, { at: time(50) }))
    await decide(store, run, ids[0] ?? '', 60)
    expect(await all(store, true, 10)).toEqual(['1/0 approved', '2/0 cancelled', '1/1 rejected'])
    const { asked } = await store().inbox('main', { closed: true, limit: 10 })
    expect(asked.map(({ at }) => at)).toEqual([time(60), time(50), time(40)])
  })

  test('decided while the pages are read: none is shown twice, and what stays open is not missed', async () => {
    const run = await begun(store, 1)
    const ids: string[] = []
    for (let block = 0; block < 6; block += 1) ids.push(await ask(store, run, block))
    const first = await store().inbox('main', { closed: false, limit: 2 })
    await decide(store, run, ids[1] ?? '', 50)
    await decide(store, run, ids[2] ?? '', 51)
    const rest: string[] = []
    for (let after = first.next; after !== undefined; ) {
      const page = await store().inbox('main', { closed: false, limit: 2, after })
      const open = page.asked.filter(({ head, item }) => shownApprovalStatus(head, item.id) === 'pending')
      rest.push(...open.map(({ item }) => item.id))
      after = page.next
    }
    expect(first.asked.map(({ item }) => item.id)).toEqual(ids.slice(0, 2))
    expect(rest).toEqual(ids.slice(3))
    expect(await all(store, true, 1)).toEqual(['1/2 approved', '1/1 approved'])
  })
}

function cursorTests(store: Store, tags: string[]): void {
  const A_RUN = atMost(100)

  test('a thousand open ones of ten runs come in pages, each once, in order', { tags, timeout: 120_000 }, async () => {
    const runs = await Promise.all(Array.from({ length: 10 }, (_, n) => begun(store, n)))
    // Many of one moment: what is equally old keeps an order.
    await Promise.all(
      runs.map(async (run, n) => {
        for (let block = 0; block < A_RUN; block += 1) await ask(store, run, block, block + (n % 2))
      }),
    )
    const found = await pages(store, false, A_RUN)
    const flat = found.flat()
    expect(new Set(flat).size).toBe(10 * A_RUN)
    expect(flat).toHaveLength(10 * A_RUN)
    expect(found.slice(0, 10).map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => A_RUN))
    const times = flat.map((one) => {
      const [run = 0, block = 0] = one.split(/[/ ]/).map(Number)
      return block + (run % 2)
    })
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(await all(store, false, 3 * A_RUN + 3)).toEqual(flat)
  })

  test('a cursor shows no key and is refused changed, of another tenant, or of another list', async () => {
    const run = await begun(store, 1)
    const ids = [await ask(store, run, 0), await ask(store, run, 1), await ask(store, run, 2), await ask(store, run, 3)]
    for (const id of ids.slice(0, 2)) await decide(store, run, id, 20)
    const open = (await store().inbox('main', { closed: false, limit: 1 })).next ?? ''
    const closed = (await store().inbox('main', { closed: true, limit: 1 })).next ?? ''
    await begun(store, 2)
    const runs = (await store().list('main', { limit: 1 })).next ?? ''
    for (const cursor of [open, closed]) {
      expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/run_|apr_|main|2026/)
    }
    const bad = { name: 'InvalidInput', code: 'bad_cursor' }
    const turned = [...open].map((char, i) => open.slice(0, i) + (char === 'A' ? 'B' : 'A') + open.slice(i + 1))
    for (const after of [...turned, closed, runs, '', 'x', `${open}=`]) {
      await expect(store().inbox('main', { closed: false, limit: 1, after })).rejects.toMatchObject(bad)
    }
    await expect(store().inbox('main', { closed: true, limit: 1, after: open })).rejects.toMatchObject(bad)
    await expect(store().inbox('other', { closed: false, limit: 1, after: open })).rejects.toMatchObject(bad)
    await expect(store().list('main', { limit: 1, after: open })).rejects.toMatchObject(bad)
  })
}
