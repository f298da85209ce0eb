import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { openDatabase } from '../../../infra/local/database.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import { createWaker } from '../../../infra/local/waker.ts'
import type { Append } from '../../../shared/runs/run-store.ts'

const run = { tenant: 'main', run_id: `run_${'0'.repeat(26)}` }
const other = { tenant: 'main', run_id: `run_${'1'.repeat(26)}` }
const AT = '2026-11-21T00:00:00.000Z'

async function open() {
  const made = createWaker(openRunStore(openDatabase(':memory:')), systemClock)
  const hash = 'a'.repeat(64)
  for (const key of [run, other]) {
    await made.runs.create({
      meta: {
        ...key,
        dag_name: 'd',
        dag_hash: hash,
        dag_ref: 'r',
        machine: 'm',
        starter: 'user:a',
        created_at: AT,
        body_hash: hash,
        inputs_hash: hash,
        overrides: {},
        options: { max_parallel: 0, fail_fast: false, deadline_sec: 1 },
        blocks: 9,
      },
      context: {},
      deadline_at: AT,
      check_at: AT,
      event: {
        type: 'run:started',
        data: { dag_name: 'd', dag_hash: hash, inputs_hash: hash, starter: 'a', deadline_at: AT, caps: {} },
      },
      outbox: [],
    })
  }
  let step = 0
  const append = async (more: Partial<Append> = {}, key = run) => {
    step += 1
    const base = { run: key, lane: '0', ordinal: step, guard: { below: step }, at: AT }
    const done = await made.runs.append({
      ...base,
      events: [{ type: 'block:ready', block_id: 'b', data: {} }],
      ...more,
    })
    expect(done.ok).toBe(true)
  }
  return { ...made, append }
}

/** Labels in the order in which their promises resolved, `ms` later. */
async function resolvedWithin(ms: number, promises: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const order: string[] = []
  for (const [label, promise] of Object.entries(promises)) void promise.then(() => order.push(label))
  await new Promise((resolve) => setTimeout(resolve, ms))
  return order
}

describe('createWaker()', () => {
  it('wakes every reader of a run that changed, and nobody of another run', async () => {
    const { waker, append } = await open()
    const promises = { a: waker.changed(run, 5_000), b: waker.changed(run, 5_000), c: waker.changed(other, 5_000) }
    await append()
    expect(await resolvedWithin(20, promises)).toEqual(['a', 'b'])
  })

  it('resolves after its time at the latest, and rejects when aborted', async () => {
    const { waker } = await open()
    expect(await resolvedWithin(80, { a: waker.changed(run, 20) })).toEqual(['a'])
    const stop = new AbortController()
    const waiting = waker.changed(run, 5_000, stop.signal)
    stop.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(waker.changed(run, 5_000, stop.signal)).rejects.toThrow('gone')
  })

  it('gives one freed place to the claim that waits longest', async () => {
    const { waker, append } = await open()
    const promises = { a: waker.slot(run, 5_000), b: waker.slot(run, 5_000), c: waker.slot(run, 5_000) }
    await append({ end: { block: 0 } })
    await append()
    await append({ end: { block: 1 } })
    expect(await resolvedWithin(20, promises)).toEqual(['a', 'b'])
  })

  it('gives two places that become free at the same moment to two claims', async () => {
    const { waker, append } = await open()
    const promises = { a: waker.slot(run, 5_000), b: waker.slot(run, 5_000), c: waker.slot(run, 5_000) }
    await Promise.all([append({ lane: '0', end: { block: 0 } }), append({ lane: '1', end: { block: 1 } })])
    expect(await resolvedWithin(20, promises)).toEqual(['a', 'b'])
  })

  it('does not let a claim sleep whose place became free just before it began to wait', async () => {
    const { waker, append } = await open()
    await append({ end: { block: 0 } })
    expect(await resolvedWithin(20, { a: waker.slot(run, 5_000), b: waker.slot(run, 5_000) })).toEqual(['a'])
  })

  it('wakes every waiting claim when the run ends', async () => {
    const { waker, append } = await open()
    const promises = { a: waker.slot(run, 5_000), b: waker.slot(run, 5_000) }
    const data = { code: 'completed', reason: 'done' }
    await append({
      lane: 'run',
      ordinal: 90,
      guard: { below: 90 },
      state: 'completed',
      events: [{ type: 'run:completed', data }],
    })
    expect(await resolvedWithin(20, promises)).toEqual(['a', 'b'])
  })
})
