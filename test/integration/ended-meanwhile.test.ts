import { afterEach, expect, test } from 'vitest'
import { post, WAITS } from './safety/safety-place.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let open: TestPlace
afterEach(() => open.close())

test('a run that ends while the sweep looks at it, and whose nudge is lost, is looked at again and owes nothing', async () => {
  open = await openTestPlace({ sweep_ms: 0 })
  const { world } = open.place
  const run = { tenant: 'main', run_id: await open.start(WAITS) }
  await open.until(run.run_id, ({ type }) => type === 'approval:requested')
  const { runs, outbox } = world
  const overdue = new Date(Date.now() - 1_000).toISOString()
  await runs.moveCheck(run, (await runs.head(run, []))?.check_at ?? '', overdue)
  // Between what the sweep saw of the run and what it writes, the run is stopped; its nudge comes to nobody.
  const moves: string[] = []
  const moveCheck: typeof runs.moveCheck = async (...given) => {
    moves.push(given[1])
    if (moves.length === 1) expect((await post(open, 'stop-run', { run_id: run.run_id })).status).toBe(200)
    await runs.moveCheck(...given)
  }
  Object.assign(world, { runs: { ...runs, moveCheck }, outbox: { ...outbox, nudge: async () => {} } })
  await open.place.invoke('sweep', {})
  Object.assign(world, { runs, outbox })

  const ended = await runs.head(run, [])
  expect(moves).toEqual([overdue])
  expect(ended).toMatchObject({ state: 'cancelled', check_at: overdue })
  expect(ended?.outbox).not.toEqual([])
  await open.place.invoke('sweep', {})
  await expect.poll(async () => (await runs.head(run, []))?.outbox, { timeout: 30_000 }).toEqual([])
})
