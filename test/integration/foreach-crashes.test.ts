import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import { expectFoldStored } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const files = (n: number) => Array.from({ length: n }, (_, i) => `f${i}`)
const read = {
  id: 'read',
  inputs: { files: 'json' },
  outputs: { text: { type: 'string' } },
  agent: { provider: 'probe', model: 'm', prompt: '{{inputs.file}}' },
  foreach: { items: '{{inputs.files}}', as: 'file', max_concurrency: 4 },
}
const runOf = (run_id: string) => ({ tenant: 'main', run_id })
const of = (events: readonly RunEvent[], type: RunEvent['type'], item?: number) =>
  events.filter((event) => event.type === type && event.item === item && event.block_id === 'read')

/** Items from the `from`th on hang until the place is closed, as long as `hangs` says so. */
async function hanging(from: number, options: object = {}) {
  const calls: string[] = []
  const hangs = { on: true }
  const probe = provider(({ prompt, signal }) => {
    calls.push(prompt)
    if (!hangs.on || Number(prompt.slice(1)) < from) return prompt.toUpperCase()
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  open = await openTestPlace({ providers: { probe }, log: silent })
  const id = await open.start({ blocks: [read] }, { context: { files: files(10) }, options })
  await expect.poll(() => calls.length).toBe(Math.min(from + 4, 10))
  return { place: open, id, calls, hangs }
}

const silent = { info: () => undefined, error: () => undefined }

describe('a foreach block that is cut off', () => {
  test('by kill -9 goes on: what completed is not dispatched again, what was lost is', async () => {
    const { place, id, calls, hangs } = await hanging(3)
    await expect.poll(async () => of(await place.events(id), 'block:completed', 2).length).toBe(1)
    hangs.on = false
    await place.kill()
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const times = new Map(files(10).map((name) => [name, calls.filter((call) => call === name).length]))
    expect([...times.values()]).toEqual([1, 1, 1, 2, 2, 2, 2, 1, 1, 1])
    expect(of(events, 'block:retrying', 3)).toMatchObject([{ data: { code: 'ATTEMPT_LOST' } }])
    expect(of(events, 'block:started')).toHaveLength(1)
    expect(of(events, 'block:completed')).toHaveLength(1)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    await expectFoldStored(place, id)
  })

  test('by kill -9 leaves each item all tries of its retry', async () => {
    const calls: string[] = []
    const probe = provider(({ prompt, signal }) => {
      calls.push(prompt)
      if (prompt !== 'f1') return prompt
      const nth = calls.filter((call) => call === 'f1').length
      if (nth === 2) throw new Fault('Unavailable', 'busy', 'busy')
      if (nth > 2) return prompt
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    open = await openTestPlace({ providers: { probe }, log: silent })
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 0 }
    const id = await open.start({ blocks: [{ ...read, retry }] }, { context: { files: files(2) } })
    await expect.poll(() => calls.filter((call) => call === 'f1').length, { timeout: 10_000 }).toBe(1)
    await open.kill()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(of(events, 'block:started', 1).map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    await expectFoldStored(open, id)
  })

  test('by a stop ends at once: items in flight are aborted, none begins', async () => {
    const { place, id, calls } = await hanging(0, { max_parallel: 0 })
    expect((await place.call('stop-run', id, {})).status).toBe(200)
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:cancelled')
    expect(of(events, 'block:completed')).toEqual([])
    const { json } = await place.call('get-run', id)
    expect(json).toMatchObject({
      blocks: { read: { state: 'cancelled', item_count: 10, items: { 0: { state: 'cancelled' } } } },
    })
    expect(calls).toHaveLength(4)
  })
})

describe('a foreach block that is cut off before its items begin', () => {
  test('between its claim and the verdicts of its pre-gates: the attempt is lost, the next one begins them', async () => {
    const calls: string[] = []
    const probe = provider(({ prompt }) => {
      calls.push(prompt)
      return prompt
    })
    open = await openTestPlace({ providers: { probe }, log: silent })
    const { runs } = open.place.world
    const append = runs.append.bind(runs)
    const cut: typeof append = (change) => {
      if (change.events.some(({ type }) => type === 'block:gate')) throw new Fault('Unavailable', 'store_busy', 'cut')
      return append(change)
    }
    Object.assign(runs, { append: cut })
    const gate = { name: 'some', check: { type: 'expr', expression: 'inputs.files.length > 1' } }
    const id = await open.start({ blocks: [{ ...read, pre_gates: [gate] }] }, { context: { files: files(2) } })
    const started = await open.until(id, ({ type }) => type === 'block:started')
    const lease = started.type === 'block:started' ? Date.parse(started.data.lease_until) - Date.parse(started.at) : 0
    // On AWS nobody knows that a holder is gone: only its lease says so.
    expect(lease).toBeLessThanOrEqual(30_000)
    await open.kill()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(of(events, 'block:retrying')).toMatchObject([{ data: { code: 'ATTEMPT_LOST' } }])
    expect(of(events, 'block:started').map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(of(events, 'block:gate')).toHaveLength(1)
    expect(calls.toSorted()).toEqual(files(2))
    await expectFoldStored(open, id)
  })
})

describe('calls of its machine that come late or again', () => {
  /** Calls run-block as its machine would. */
  const call = ({ place }: TestPlace, id: string, payload: object) =>
    place.invoke('run-block', { in: { v: 1, tenant: 'main', run_id: id }, block: 'read', ...payload })

  test('an item of an ended block writes nothing, the list is empty, the close signals again', async () => {
    const probe = provider(({ prompt }) => prompt)
    open = await openTestPlace({ providers: { probe } })
    const hold = { id: 'hold', outputs: read.outputs, agent: read.agent, approval: true }
    const waits = { ...hold, agent: { ...read.agent, prompt: 'x' } }
    const id = await open.start({ blocks: [read, waits] }, { context: { files: ['f0', 'f1'] } })
    await open.until(
      id,
      ({ type, item, block_id }) => type === 'block:completed' && item === undefined && block_id === 'read',
    )
    await open.until(id, ({ type }) => type === 'approval:requested')
    const before = await open.events(id)
    expect(await call(open, id, { phase: 'items' })).toEqual([])
    expect(await call(open, id, { item: 1 })).toMatchObject({ block: 'read' })
    expect(await call(open, id, { item: 7 })).toMatchObject({ block: 'read' })
    expect(await call(open, id, { phase: 'close' })).toMatchObject({ state: 'completed' })
    expect(await open.events(id)).toEqual(before)
  })

  test('the list of a block at work is what it began with, whatever the context says now', async () => {
    const { place, id, hangs } = await hanging(0)
    expect((await place.call('patch-context', id, { set: { files: ['other'] }, if_version: 0 })).status).toBe(200)
    expect(await call(place, id, { phase: 'items' })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    hangs.on = false
    await place.kill()
    const events = await place.ended(id)
    expect(of(events, 'block:completed')).toHaveLength(1)
    expect(of(events, 'block:completed', 9)).toHaveLength(1)
  })

  test('an item whose projection was lost with its writer is read again from the events', async () => {
    const { place, id, hangs } = await hanging(9)
    await expect.poll(async () => of(await place.events(id), 'block:completed', 8).length).toBe(1)
    const { runs } = place.place.world
    const later = ordinal({ epoch: 0, attempt: 1, phase: PHASE.completed })
    const [seen] = await runs.itemProjections(runOf(id), 0, [4])
    expect(seen?.ordinal).toBe(later)
    hangs.on = false
    await place.place.close()
    forgetEnd(place, '0.4')
    await place.reopen()
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await place.place.world.runs.itemProjections(runOf(id), 0, [4])).toEqual([seen])
  })
})

/** A lane's projection as a crash between HEAD and it leaves it: still at the claim. */
function forgetEnd({ folder }: TestPlace, lane: string): void {
  const db = new DatabaseSync(join(folder, 'data', 'sluice.db'))
  const claim = ordinal({ epoch: 0, attempt: 1, phase: PHASE.claimed })
  const body = `json_remove(json_set(body, '$.ordinal', ${claim}, '$.state', 'running'), '$.outputs')`
  const { changes } = db
    .prepare(`UPDATE lanes SET projected = ${claim}, state = 'running', body = ${body} WHERE lane = ?`)
    .run(lane)
  db.close()
  expect(changes).toBe(1)
}
