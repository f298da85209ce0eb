import { afterEach, describe, expect, test } from 'vitest'
import { stopBlock } from '../../functions/runs/stop.ts'
import type { EventType, RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { principalOf } from '../faults/system.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** One block is stopped: it ends at once and for good, what depends on it is skipped, the rest of its run goes on. */
const places: TestPlace[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

/** Provider `slow` answers only when its call is aborted, then with an error; `quick` at once. */
async function open(): Promise<{
  readonly place: TestPlace
  readonly aborted: () => number
  readonly asked: string[]
}> {
  let aborted = 0
  const asked: string[] = []
  const slow = provider(({ signal, prompt }) => {
    asked.push(prompt)
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted += 1
        reject(signal.reason)
      })
    })
  })
  const quick = provider(({ prompt }) => {
    asked.push(prompt)
    return 'done'
  })
  const place = await openTestPlace({ providers: { slow, quick } })
  places.push(place)
  return { place, aborted: () => aborted, asked }
}

const block = (id: string, by: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: by, model: 'm', prompt: id },
  ...more,
})
const behind = (from: string) => ({ inputs: { text: { from: `${from}.text` } } })
const all = <T extends EventType>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
const started = (place: TestPlace, run: string, id: string) =>
  place.until(run, ({ type, block_id }) => type === 'block:started' && block_id === id)
const stop = (place: TestPlace, run: string, block_id: string, reason?: string) =>
  place.call('stop-run', run, { block_id, ...(reason === undefined ? {} : { reason }) })

describe('a block that is stopped', () => {
  test('while it runs: its call is hung up, the run goes on and ends failed, naming block and person', async () => {
    const { place, aborted } = await open()
    const blocks = [
      block('a', 'slow'),
      block('b', 'quick', behind('a')),
      block('c', 'quick'),
      block('d', 'quick', behind('c')),
    ]
    const id = await place.start({ blocks })
    await started(place, id, 'a')
    await place.until(id, ({ type, block_id }) => type === 'block:completed' && block_id === 'd')
    const answer = await stop(place, id, 'a', 'too dear')
    expect(answer).toEqual({ status: 200, json: { run_id: id, block_id: 'a', status: 'cancelled', stopped: 1 } })
    const events = await place.ended(id)
    // Nothing else would end that call.
    await expect.poll(() => aborted()).toBe(1)
    const [cancelled, ...more] = all(events, 'block:cancelled')
    expect(more).toEqual([])
    expect(cancelled).toMatchObject({
      block_id: 'a',
      attempt: 1,
      data: { code: 'stopped', reason: expect.stringMatching(/^stopped by user:.+: too dear$/) },
    })
    expect(all(events, 'block:skipped').map(({ block_id, data }) => [block_id, data])).toEqual([
      ['b', { because: ['a'] }],
    ])
    expect(events.at(-1)).toMatchObject({
      type: 'run:failed',
      data: { code: 'block_cancelled', block_id: 'a', reason: `Block "a" was ${cancelled?.data.reason}` },
    })
    const { blocks: folded } = foldRun(events)
    expect(Object.entries(folded).map(([name, { state }]) => [name, state])).toEqual(
      expect.arrayContaining([
        ['a', 'cancelled'],
        ['b', 'skipped'],
        ['c', 'completed'],
        ['d', 'completed'],
      ]),
    )
  })

  test('before it begins: it never does', async () => {
    const { place, asked } = await open()
    const id = await place.start({
      blocks: [block('a', 'slow'), block('b', 'quick', behind('a')), block('c', 'quick', behind('b'))],
    })
    await started(place, id, 'a')
    expect((await stop(place, id, 'b')).status).toBe(200)
    expect((await stop(place, id, 'a')).status).toBe(200)
    const events = await place.ended(id)
    expect(asked).toEqual(['a'])
    expect(all(events, 'block:cancelled').map(({ block_id }) => block_id)).toEqual(['b', 'a'])
    expect(all(events, 'block:skipped').map(({ block_id }) => block_id)).toEqual(['c'])
    expect(events.at(-1)?.data).toMatchObject({ code: 'block_cancelled', block_id: 'b' })
  })

  test('while a person is asked: the question is withdrawn and nobody can decide it', async () => {
    const { place, asked } = await open()
    const id = await place.start({ blocks: [block('a', 'quick', { approval: true }), block('b', 'quick')] })
    const question = await place.until(id, ({ type }) => type === 'approval:requested')
    expect((await stop(place, id, 'a')).status).toBe(200)
    const events = await place.ended(id)
    expect(asked).toEqual(['b'])
    const { approval_id, digest } = (question as Extract<RunEvent, { type: 'approval:requested' }>).data
    expect(foldRun(events).approvals[approval_id]?.status).toBe('cancelled')
    const head = await place.place.world.runs.head({ tenant: 'main', run_id: id })
    expect(head?.approvals[approval_id]?.status).toBe('cancelled')
    const late = await place.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
    expect(late).toMatchObject({ status: 409, json: { code: 'already_decided' } })
  })

  test('while it waits for its next try: there is none', { tags: ['thorough'] }, async () => {
    const { place } = await open()
    const failing = block('a', 'quick', {
      outputs: { n: 'number' },
      contract_repair_attempts: 0,
      retry: { max_attempts: 5, delay_ms: 2_000, backoff: 'none', jitter: 'none' },
    })
    const id = await place.start({ blocks: [failing] })
    await place.until(id, ({ type }) => type === 'block:retrying')
    expect((await stop(place, id, 'a')).status).toBe(200)
    const events = await place.ended(id)
    expect(all(events, 'block:started')).toHaveLength(1)
    expect(events.at(-1)?.data).toMatchObject({ code: 'block_cancelled' })
  })

  test('while an item of it ends: what that item had reserved is settled once', async () => {
    const held = Promise.withResolvers<string>()
    const place = await openTestPlace({ providers: { held: provider(() => held.promise) } })
    places.push(place)
    const each = block('a', 'held', { foreach: { items: [1, 2], as: 'n', max_concurrency: 2 } })
    const id = await place.start({ budget: { tokens: 100_000 }, blocks: [each] })
    for (const item of [0, 1]) await place.until(id, (event) => event.type === 'budget:reserved' && event.item === item)
    const { world } = place.place
    // Between what the stop has read and its append.
    const append: typeof world.runs.append = async (wanted) => {
      if (wanted.events.some(({ type }) => type === 'block:cancelled')) {
        held.resolve('done')
        await place.until(id, ({ type, item }) => type === 'block:completed' && item !== undefined)
      }
      return world.runs.append(wanted)
    }
    const run = { tenant: 'main', run_id: id }
    await stopBlock({ ...world, runs: { ...world.runs, append } }, run, principalOf('main'), { block_id: 'a' }).catch(
      () => undefined,
    )
    await place.ended(id)
    const { committed_tokens = 0, spent_tokens = 0 } = (await world.runs.head(run))?.budget ?? {}
    expect(spent_tokens).toBeLessThanOrEqual(committed_tokens)
  })

  test('while the record of an item is on its way: what that item had reserved is settled once (simulated seed 500264)', async () => {
    let asked = 0
    const never = new Promise<string>(() => undefined)
    const place = await openTestPlace({ providers: { held: provider(() => (asked++ === 0 ? never : 'done')) } })
    places.push(place)
    const { world } = place.place
    const id = await place.start({
      budget: { tokens: 100_000 },
      blocks: [
        block('a', 'held', {
          foreach: { items: [1], as: 'n' },
          timeout_ms: 1_000,
          retry: { max_attempts: 3, delay_ms: 60_000, backoff: 'none', jitter: 'none' },
        }),
      ],
    })
    const run = { tenant: 'main', run_id: id }
    await place.until(id, ({ type, item }) => type === 'budget:reserved' && item === 0)
    const before = await world.runs.itemProjections(run, 0)
    await place.until(id, ({ type, item }) => type === 'block:retrying' && item === 0)
    // The item's projection as it was before it was sent to wait.
    const runs = { ...world.runs, itemProjections: async () => before }
    await stopBlock({ ...world, runs }, run, principalOf('main'), { block_id: 'a' })
    const { committed_tokens = 0, spent_tokens = 0 } = (await world.runs.head(run))?.budget ?? {}
    expect(spent_tokens).toBeLessThanOrEqual(committed_tokens)
  })

  test('with items at work: all their calls are hung up, and their slots are free again', async () => {
    const { place, aborted } = await open()
    const each = block('a', 'slow', { foreach: { items: [1, 2, 3, 4], as: 'n', max_concurrency: 3 } })
    const id = await place.start({
      blocks: [each, block('b', 'quick', { inputs: { text: { from: 'a.text', type: 'json' } } })],
    })
    await expect.poll(async () => all(await place.events(id), 'block:started').length).toBe(4)
    expect((await stop(place, id, 'a')).status).toBe(200)
    const events = await place.ended(id)
    await expect.poll(() => aborted()).toBe(3)
    const head = await place.place.world.runs.head({ tenant: 'main', run_id: id })
    expect(head?.running).toEqual([])
    const fold = foldRun(events)
    expect(fold.blocks.a?.state).toBe('cancelled')
    expect(fold.steps.every(({ state }) => state === 'cancelled')).toBe(true)
    expect(events.filter(({ item, type }) => item !== undefined && type !== 'block:started')).toEqual([])
  })

  test('in a bounce module: it stays stopped in every further pass', async () => {
    const { place } = await open()
    const gate = { name: 'never', check: { type: 'contains', port: 'text', values: ['nowhere'] }, on_fail: 'route' }
    const judge = block('judge', 'quick', {
      ...behind('make'),
      depends: 'make.succeeded && side.done',
      post_gates: [gate],
      on_gate_fail: [{ when_gate: 'never', route_to: 'make', reset_blocks: ['side'], max_bounces: 1 }],
    })
    const side = block('side', 'slow', behind('make'))
    const id = await place.start({ blocks: [block('make', 'quick'), side, judge] })
    await started(place, id, 'side')
    expect((await stop(place, id, 'side')).status).toBe(200)
    const events = await place.ended(id)
    expect(all(events, 'block:started').filter(({ block_id }) => block_id === 'side')).toHaveLength(1)
    expect(all(events, 'block:rerouted')).toHaveLength(1)
    expect(all(events, 'block:cancelled').map(({ block_id }) => block_id)).toEqual(['side', 'side'])
  })
})

describe('a stop that comes too late, or means nothing', () => {
  test('is refused: ended block, unknown block, ended run, unknown run', async () => {
    const { place } = await open()
    const id = await place.start({ blocks: [block('first', 'quick'), block('second', 'slow', behind('first'))] })
    await started(place, id, 'second')
    expect(await stop(place, id, 'first')).toMatchObject({ status: 409, json: { code: 'block_ended' } })
    expect(await stop(place, id, 'secnd')).toMatchObject({
      status: 404,
      json: { code: 'unknown_block', detail: expect.stringContaining('Did you mean "second"?') },
    })
    expect((await stop(place, id, 'second')).status).toBe(200)
    await place.ended(id)
    expect(await stop(place, id, 'second')).toMatchObject({ status: 409, json: { code: 'run_ended' } })
    expect(await stop(place, 'run_00000000000000000000000000', 'a')).toMatchObject({
      status: 404,
      json: { code: 'unknown_run' },
    })
  })
})
