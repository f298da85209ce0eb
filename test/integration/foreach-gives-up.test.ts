import { afterEach, describe, expect, test } from 'vitest'
import { withCircuitBreaker } from '../../functions/providers/registry.ts'
import { readPinned } from '../../functions/record/pinned-run.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { brokenInvariants } from './check-invariants.ts'
import { expectFoldStored } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const silent = { info: () => undefined, error: () => undefined }
const files = (n: number) => Array.from({ length: n }, (_, i) => `f${i}`)
const RETRY = { max_attempts: 3, backoff: 'none', delay_ms: 1, jitter: 'none' }

/** Block `read`: one dispatch an item of the run input `files`. */
function reading(foreach: object = {}, over: object = {}) {
  return {
    id: 'read',
    inputs: { files: 'json' },
    outputs: { text: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: '{{inputs.file}}' },
    foreach: { items: '{{inputs.files}}', as: 'file', ...foreach },
    contract_repair_attempts: 0,
    ...over,
  }
}

async function placeWith(probe: Provider): Promise<TestPlace> {
  open = await openTestPlace({ providers: { probe }, log: silent })
  return open
}

async function runOf(place: TestPlace, block: object, count: number, options: object = {}) {
  const id = await place.start({ blocks: [block] }, { context: { files: files(count) }, options })
  const events = await place.ended(id)
  expect((await place.call('verify-run', id)).json).toMatchObject({ ok: true })
  await expectFoldStored(place, id)
  const { json } = await place.call('get-run', id)
  const { read } = json.blocks as unknown as { read: { items: Record<string, { state: string; error?: object }> } }
  return { id, events, items: Object.values(read.items) }
}

const of = (events: readonly RunEvent[], type: RunEvent['type'], isItem: boolean) =>
  events.filter((event) => event.type === type && (event.item !== undefined) === isItem)

const reasonOf = (events: readonly RunEvent[]) => {
  const [failed] = of(events, 'block:failed', false)
  return failed?.type === 'block:failed' ? failed.data : undefined
}

/** A provider that is not there, and how often it was asked. */
function dead() {
  const calls: string[] = []
  const probe = provider(({ prompt }) => {
    calls.push(prompt)
    throw new Fault('Unavailable', 'provider_unavailable', 'nobody is there')
  })
  return { calls, probe }
}

describe('a fan-out that cannot succeed any more', () => {
  test('asks a dead provider for 60 items no more than those that began at once have tries', async () => {
    const { calls, probe } = dead()
    const place = await placeWith(probe)
    const { events, items } = await runOf(place, reading({ max_concurrency: 4 }, { retry: RETRY }), 60)
    expect(calls.length).toBeLessThanOrEqual(4 * RETRY.max_attempts)
    expect(new Set(calls).size).toBe(4)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'items_failed', block_id: 'read' } })
    expect(reasonOf(events)).toMatchObject({
      code: 'items_failed',
      reason: expect.stringMatching(
        /^\d of 60 items failed, tolerated are 0, 56 were not begun.*: item \d: .*nobody is/,
      ),
    })
    const left = items.filter(({ state }) => state === 'skipped')
    expect(left).toHaveLength(56)
    expect(left[0]).toMatchObject({ attempt: 0, error: { code: 'items_failed' } })
    expect(of(events, 'block:started', true).length).toBe(calls.length)
  })

  test('with fail_fast: false asks for all of them', async () => {
    const { calls, probe } = dead()
    const place = await placeWith(probe)
    const { events, items } = await runOf(place, reading({ fail_fast: false, max_concurrency: 4 }), 20)
    expect(calls).toHaveLength(20)
    expect(items.every(({ state }) => state === 'failed')).toBe(true)
    expect(reasonOf(events)?.reason).toMatch(/^20 of 20 items failed, tolerated are 0: item 0/)
  })

  test('counts only failures for good, and begins what is left while they are tolerated', async () => {
    const seen: string[] = []
    const place = await placeWith(
      provider(({ prompt }) => {
        seen.push(prompt)
        const isFirst = seen.filter((one) => one === prompt).length === 1
        if (prompt === 'f0' || (prompt === 'f1' && isFirst)) throw new Fault('Unavailable', 'busy', 'busy')
        return prompt
      }),
    )
    const soft = reading({ max_concurrency: 1, tolerate: 1 }, { retry: { ...RETRY, max_attempts: 2 } })
    const { events } = await runOf(place, soft, 5)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(seen).toEqual(['f0', 'f0', 'f1', 'f1', 'f2', 'f3', 'f4'])
  })

  test('lets those at work end, and their answers count; none of them is tried again', async () => {
    const [both, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const calls: string[] = []
    const place = await placeWith(
      provider(async ({ prompt }) => {
        calls.push(prompt)
        if (calls.length === 3) both.resolve()
        await both.promise
        if (prompt === 'f0') return ''
        await end.promise
        if (prompt === 'f1') throw new Fault('Unavailable', 'busy', 'busy')
        return prompt
      }),
    )
    const block = reading({ max_concurrency: 3 }, { retry: { ...RETRY, max_attempts: 1 } })
    const id = await place.start({ blocks: [block] }, { context: { files: files(9) } })
    await place.until(id, ({ type, item }) => type === 'block:failed' && item === 0)
    expect(of(await place.events(id), 'block:failed', false)).toEqual([])
    end.resolve()
    const events = await place.ended(id)
    expect(calls.toSorted()).toEqual(['f0', 'f1', 'f2'])
    expect(of(events, 'block:completed', true)).toMatchObject([{ item: 2 }])
    expect(reasonOf(events)?.reason).toMatch(/^2 of 9 items failed, tolerated are 0, 6 were not begun: item 0: /)
  })

  test('fails at once, though another item waits an hour for its next try', async () => {
    const first = Promise.withResolvers<void>()
    const place = await placeWith(
      provider(async ({ prompt }) => {
        if (prompt === 'f1') throw new Fault('Unavailable', 'slow', 'later', { facts: { retry_after_ms: 3_600_000 } })
        await first.promise
        throw new Fault('Rejected', 'provider_refused', 'no')
      }),
    )
    const block = reading({ max_concurrency: 2 }, { retry: RETRY })
    const id = await place.start({ blocks: [block] }, { context: { files: files(4) } })
    await place.until(id, ({ type, item }) => type === 'block:retrying' && item === 1)
    first.resolve()
    const failed = await place.until(id, ({ type, item }) => type === 'block:failed' && item === undefined)
    expect(failed).toMatchObject({
      data: {
        reason: expect.stringMatching(/^1 of 4 items failed.*, 2 were not begun, 1 were not tried again: item 0/),
      },
    })
    const { json } = await place.call('get-run', id)
    expect(json).toMatchObject({
      blocks: { read: { state: 'failed', items: { 1: { state: 'cancelled' }, 2: { state: 'skipped' } } } },
    })
  })

  test('is retried with the items that completed taken over, and all others run', async () => {
    const calls: string[] = []
    const isDown = { now: true }
    const place = await placeWith(
      provider(({ prompt }) => {
        calls.push(prompt)
        return prompt === 'f1' && isDown.now ? '' : prompt
      }),
    )
    const { id } = await runOf(place, reading({ max_concurrency: 1 }), 5)
    expect(calls).toEqual(['f0', 'f1'])
    isDown.now = false
    const { json } = await place.call('retry-run', id, {})
    const events = await place.ended(String(json.run_id))
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls.slice(2).toSorted()).toEqual(['f1', 'f2', 'f3', 'f4'])
  })

  test('after kill -9 begins no further item either', async () => {
    const calls: string[] = []
    const place = await placeWith(
      provider(({ prompt, signal }) => {
        calls.push(prompt)
        if (prompt === 'f0') return ''
        return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    )
    const block = reading({ max_concurrency: 2 })
    const id = await place.start({ blocks: [block] }, { context: { files: files(8) } })
    await place.until(id, ({ type, item }) => type === 'block:failed' && item === 0)
    await expect.poll(() => calls.length).toBe(2)
    await place.kill()
    const events = await place.ended(id)
    expect(calls).toEqual(['f0', 'f1'])
    expect(reasonOf(events)?.reason).toMatch(
      /^1 of 8 items failed, tolerated are 0, 6 were not begun, 1 were not tried/,
    )
    expect((await place.call('verify-run', id)).json).toMatchObject({ ok: true })
  })
})

describe('invariant 7', () => {
  test('finds an item that begins, or is tried again, after too many failed; documents of earlier versions let it', async () => {
    const place = await placeWith(dead().probe)
    const { id, events } = await runOf(place, reading({ max_concurrency: 2 }), 10)
    const dag = await pinnedDag(place, id)
    const broken = (log: readonly RunEvent[], of: Dag = dag) =>
      brokenInvariants(log, of).filter((problem) => problem.startsWith('7: '))
    expect(broken(events)).toEqual([])
    const [begun] = of(events, 'block:started', true)
    const end = events.findIndex(({ type, item }) => type === 'block:failed' && item === undefined)
    if (begun === undefined) throw new Error('nothing began')
    const late: RunEvent = { ...begun, item: 9, id: begun.id.replace(/\.\d+/, '.9') }
    const planted = events.toSpliced(end, 0, late).map((event, i) => ({ ...event, seq: i + 1 }))
    expect(broken(planted)).toEqual([expect.stringContaining('items begin (events')])
    const before = dag.blocks.map((block) => {
      const { fail_fast: _, ...foreach } = block.foreach ?? {
        as: '',
        items: [],
        item_gates: [],
        max_concurrency: 1,
        tolerate: 0,
      }
      return { ...block, foreach }
    })
    expect(broken(planted, { ...dag, blocks: before })).toEqual([])
  })

  async function pinnedDag({ place: { world } }: TestPlace, run_id: string): Promise<Dag> {
    return (await readPinned(world, { tenant: 'main', run_id })).dag
  }
})

describe('a document that was pinned before there was fail_fast', () => {
  test('lets all items run, as it was promised', async () => {
    const { calls, probe } = dead()
    const place = await placeWith(probe)
    const { objects } = place.place.world
    const { put } = objects
    Object.assign(objects, {
      // What an earlier version pinned.
      put: (tenant: string, body: Uint8Array) => {
        const text = Buffer.from(body).toString('utf8')
        return put.call(objects, tenant, Buffer.from(text.replace('"fail_fast":true,', '')))
      },
    })
    const { events } = await runOf(place, reading({ max_concurrency: 1 }), 6)
    expect(calls).toHaveLength(6)
    expect(reasonOf(events)?.reason).toMatch(/^6 of 6 items failed/)
  })
})

describe('a fan-out whose provider is left alone', () => {
  test('has one item wait for it with all its tries; the others do not', async () => {
    const asked: string[] = []
    const away: Provider = {
      dispatch({ prompt }) {
        asked.push(prompt)
        throw new Fault('Unavailable', 'provider_unavailable', 'nobody is there')
      },
    }
    // Never closed again by itself: the clock of the breaker stands.
    const guarded = withCircuitBreaker('probe', away, { failures: 2, open_ms: 1 }, () => 0)
    const place = await placeWith(guarded)
    const block = reading({ max_concurrency: 1, tolerate: 5 }, { retry: RETRY })
    const { events, items } = await runOf(place, block, 60)
    expect(asked).toEqual(['f0', 'f0'])
    expect(of(events, 'block:retrying', true).map(({ item }) => item)).toEqual([0, 0])
    expect(items.filter(({ state }) => state === 'failed')).toHaveLength(6)
    expect(items.filter(({ state }) => state === 'skipped')).toHaveLength(54)
    expect(reasonOf(events)?.reason).toMatch(/^6 of 60 items failed, tolerated are 5, 54 were not begun: item 0: /)
  })
})
