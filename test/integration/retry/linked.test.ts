import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endRun } from '../../../functions/runs/end-run.ts'
import { newRunId } from '../../../shared/runs/ids.ts'
import { child, childOf, deployDocument } from '../child-place.ts'
import { ai, expectRetried, openRetryPlace, type RetryPlace } from './retry-place.ts'

let place: RetryPlace
beforeEach(async () => {
  place = await openRetryPlace()
})
afterEach(() => place.place.close())

const runOf = (run_id: string) => ({ tenant: 'main', run_id })

describe('a block that is a run of its own, in a retry', () => {
  beforeEach(() => {
    deployDocument(place.place, 'inner', [ai('one'), ai('two', ['one']), ai('three', ['two'])])
  })
  const outer = { blocks: [ai('a'), child('sub', 'inner'), { ...ai('end'), inputs: { sub: { from: 'sub.text' } } }] }

  test('is taken over without a new child', async () => {
    place.failing.add('end')
    const first = await place.run(outer)
    place.failing.clear()
    place.asked()
    const again = await place.retry(first)
    expectRetried(place, again, { asked: ['end'], taken: { a: first.id, sub: first.id } })
    const started = again.events.find(({ type, block_id }) => type === 'block:started' && block_id === 'sub')
    expect(started?.data).not.toHaveProperty('child')
  })

  test('that failed has a child which takes over what the earlier child completed', async () => {
    place.failing.add('three')
    const first = await place.run(outer)
    expect(first.end).toBe('run:failed')
    place.failing.clear()
    place.asked()
    const again = await place.retry(first)
    expect(again.end).toBe('run:completed')
    expectRetried(place, again, { asked: ['three', 'end'], taken: { a: first.id } })
    const before = await childOf(place.place, first.id, 'sub')
    const after = await childOf(place.place, again.id, 'sub')
    expect((await place.place.call('get-run', after)).json).toMatchObject({ run: { retry_of: before, role: 'child' } })
  })

  test('that failed begins anew when the retry is from it', async () => {
    place.failing.add('three')
    const first = await place.run(outer)
    place.failing.clear()
    place.asked()
    const again = await place.retry(first, { from_block: 'sub' })
    expectRetried(place, again, { asked: ['one', 'two', 'three', 'end'], taken: { a: first.id } })
  })

  test('is retried through its parent alone', async () => {
    const first = await place.run(outer)
    const inner = await childOf(place.place, first.id, 'sub')
    await expect(place.retry(inner)).rejects.toThrow(new RegExp(`run_is_child.*Retry that one|${first.id}`))
  })
})

describe('the machine of a retry', () => {
  test('is made at its start, where no run has been on it before', async () => {
    const { world } = place.place.place
    const calls: string[] = []
    const { ensure, start } = world.machine
    Object.assign(world.machine, {
      ensure: (...given: Parameters<typeof ensure>) => {
        calls.push('ensure')
        return ensure(...given)
      },
      start: (order: Parameters<typeof start>[0]) => {
        calls.push('start')
        return start(order)
      },
    })
    const first = await place.run({ blocks: [ai('a')] })
    expect(calls).toEqual(['ensure', 'start'])
    await place.retry(first)
    expect(calls.splice(0)).toEqual(['ensure', 'start', 'start'])
    const edited = await place.retry(first, { dag: { blocks: [ai('a'), ai('b')] } })
    expect([edited.end, calls]).toEqual(['run:completed', ['start', 'ensure', 'start']])
  })

  test('is started though the place died right after the retry was written', async () => {
    const first = await place.run({ blocks: [ai('a')] })
    const { outbox } = place.place.place.world
    Object.assign(outbox, { nudge: async () => {} })
    const { json } = await place.place.call('retry-run', first.id, { dag: { blocks: [ai('a'), ai('b')] } })
    await place.place.kill()
    const events = await place.place.ended(String(json['run_id' as never]))
    expect(events.at(-1)?.type).toBe('run:completed')
    const lineage = await place.place.place.world.runs.lineage('main', first.id)
    expect(lineage).toMatchObject([{ kind: 'retry', from: first.id }])
  })
})

describe('lineage', () => {
  test('has one root however runs are linked, oldest first', async () => {
    const first = await place.run({ blocks: [ai('a')] })
    const cycle = await place.run({ blocks: [ai('a')] }, { continues: first.id })
    const retried = await place.retry(cycle)
    const again = await place.retry(retried)
    const { json } = await place.place.call('get-run', cycle.id)
    const [a, b, c, d] = [first.id, cycle.id, retried.id, again.id]
    expect(json).toMatchObject({
      run: { continues: a, root: a, retried_by: [c] },
      lineage: [
        { run_id: b, from: a, kind: 'continue' },
        { run_id: c, from: b, kind: 'retry' },
        { run_id: d, from: c, kind: 'retry' },
      ],
    })
    expect((await place.place.call('get-run', a)).json).toMatchObject({ run: { continued_by: [b] } })
    // A retry goes on from where the retried run did.
    expect((await place.place.call('get-run', c)).json).toMatchObject({ run: { continues: a, retry_of: b } })
  })

  test('is told by the list of runs', async () => {
    const first = await place.run({ blocks: [ai('a')] })
    const retried = await place.retry(first)
    const { json } = await place.place.call('list-runs', '')
    const [newest, oldest] = (json as unknown as { runs: readonly object[] }).runs
    expect(newest).toMatchObject({ run_id: retried.id, retry_of: first.id })
    expect(oldest).not.toHaveProperty('retry_of')
  })

  test('is nothing for a run without links', async () => {
    const { id } = await place.run({ blocks: [ai('a')] })
    const { json } = await place.place.call('get-run', id)
    expect(json).not.toHaveProperty('lineage')
    expect(json).not.toHaveProperty('run.root')
  })
})

describe('an iterated run', () => {
  test('ends for good, names the next run, and stops what is left of it', async () => {
    const id = await place.place.start({ blocks: [ai('a', [], { approval: true })] })
    await place.place.until(id, ({ type }) => type === 'approval:requested')
    const { world } = place.place.place
    const next = newRunId(world.ids.random(17))
    const ending = { state: 'iterated', code: 'iterated', reason: `goes on as ${next}`, next_run: next } as const
    expect(await endRun(world, runOf(id), { ...ending, stop: true })).toMatchObject({ ok: true })
    const events = await place.place.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:iterated', data: { next_run: next } })
    const { json } = await place.place.call('get-run', id)
    expect(json).toMatchObject({ run: { state: 'iterated', next_run: next }, blocks: { a: { state: 'cancelled' } } })
    const { runs } = await world.runs.list('main', { state: 'iterated', limit: 10 })
    expect(runs.map(({ run_id }) => run_id)).toEqual([id])
    expect(await endRun(world, runOf(id), { ...ending, stop: true })).toEqual({ ok: false, because: 'terminal' })
  })

  test('may be retried like any ended run', async () => {
    const id = await place.place.start({ blocks: [ai('a'), ai('b', ['a'], { approval: true })] })
    await place.place.until(id, ({ type }) => type === 'approval:requested')
    const ending = { state: 'iterated', code: 'iterated', reason: 'goes on', next_run: id, stop: true } as const
    await endRun(place.place.place.world, runOf(id), ending)
    const again = await place.retry(id, { dag: { blocks: [ai('a')] } })
    expect([again.end, again.taken]).toEqual(['run:completed', { a: id }])
  })
})
