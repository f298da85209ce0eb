import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

/** Texts of machines in the data folder of a local place: what no run needs goes, and nothing else. */
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
let ahead = 0
const clock = { ...systemClock, now: () => Date.now() + ahead }

let open: TestPlace
afterEach(async () => {
  await open.close()
  ahead = 0
})

const OPTIONS = { sweep_ms: 0, clock, providers: { mine: provider(() => '{"text":"ok"}') } }
const openPlace = async (safety: object = {}) => {
  open = await openTestPlace(OPTIONS, { safety, providers: { mine: { type: 'local' } } })
}
const block = (id: string, more: object = {}) => ({
  ...{ id, outputs: { text: { type: 'string' } }, agent: { provider: 'mine', model: 'm', prompt: 'p' } },
  ...more,
})
const asks = (name: string) => ({
  name,
  blocks: [block('a', { approval: { required: true, prompt: 'Go on?', timeout_sec: 604_800 } })],
})
const clear = () => open.place.invoke('clear-machines', {})
/** As where there are too many: what was not used for an hour goes. */
const clearCrowded = () =>
  open.place.world.machine.clear({ unused_since: 0, most: 0, crowded_since: clock.now() - HOUR_MS })
const approve = async (id: string) => {
  const asked = await open.until(id, ({ type }) => type === 'approval:requested')
  const { approval_id, digest } = asked.data as { readonly approval_id: string; readonly digest: string }
  return open.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
}

test('a machine is removed a week after its last run has ended, and made again by the next start', async () => {
  await openPlace()
  const document = { blocks: [block('a')] }
  await open.ended(await open.start(document))
  expect(await clear()).toEqual({ removed: 0 })
  ahead = 8 * DAY_MS
  expect(await clear()).toEqual({ removed: 1 })
  const events = await open.ended(await open.start(document))
  expect(events.at(-1)?.type).toBe('run:completed')
})

test('a run that waits for a person keeps its machine, across a restart', async () => {
  await openPlace()
  const id = await open.start(asks('waits'))
  await open.until(id, ({ type }) => type === 'approval:requested')
  ahead = 2 * HOUR_MS
  expect(await clearCrowded()).toBe(0)
  await open.reopen()
  expect((await approve(id)).status).toBe(200)
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
})

test('a run that stands in the queue keeps the machine it has not started on', async () => {
  await openPlace({ max_runs: 1, queue: true })
  const first = await open.start(asks('first'))
  const second = await open.start({ name: 'second', blocks: [block('b')] })
  ahead = 2 * HOUR_MS
  expect(await clearCrowded()).toBe(0)
  await approve(first)
  await open.ended(first)
  await open.place.invoke('sweep', {})
  expect((await open.ended(second)).at(-1)?.type).toBe('run:completed')
})

test('what an older program kept, without a word of when it was used, goes when nothing needs it', async () => {
  await openPlace()
  await open.ended(await open.start({ name: 'over', blocks: [block('a')] }))
  const waiting = await open.start(asks('waits'))
  await open.until(waiting, ({ type }) => type === 'approval:requested')
  await open.place.close()
  const db = new DatabaseSync(`${open.folder}/data/sluice.db`)
  db.exec('DROP TABLE machine_uses')
  db.close()
  await open.reopen()
  expect(await clearCrowded()).toBe(1)
  await approve(waiting)
  expect((await open.ended(waiting)).at(-1)?.type).toBe('run:completed')
})
