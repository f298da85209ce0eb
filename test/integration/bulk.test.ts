import { afterEach, expect, test } from 'vitest'
import { actOnRun } from '../../functions/bulk/act-on-run.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let at: TestPlace
afterEach(() => at.close())

const quick: Provider = {
  dispatch: async ({ model }) => ({ text: 'done', tokens_in: 1, tokens_out: 1, model, finish_reason: 'stop' }),
}

const document = (name: string, more: object = {}) => ({
  name,
  labels: { team: 'growth' },
  blocks: [{ id: 'a', outputs: { text: 'string' }, agent: { provider: 'quick', model: 'm', prompt: 'Go' }, ...more }],
})
const asking = document('asking', { approval: { prompt: 'Go on?' } })

async function route(name: string, method: string, more: { path?: object; query?: object; body?: unknown } = {}) {
  const answer = (await at.place.invoke(name, {
    ...{ httpMethod: method, path: '/', pathParameters: more.path ?? null, queryStringParameters: more.query ?? null },
    headers: { 'content-type': 'application/json' },
    body: more.body === undefined ? null : JSON.stringify(more.body),
    isBase64Encoded: false,
  })) as { statusCode: number; body: string }
  return { status: answer.statusCode, json: JSON.parse(answer.body) }
}
const plan = async (body: object) => (await route('plan-bulk', 'POST', { body })).json
const change = (bulk_id: string, what: string) =>
  route('change-bulk', 'POST', { path: { bulk_id }, body: { do: what } })
const shown = async (bulk_id: string) => (await route('get-bulk', 'GET', { path: { bulk_id } })).json

async function carriedOut(body: object) {
  const { bulk } = await plan(body)
  expect((await change(bulk.bulk_id, 'start')).status).toBe(202)
  await expect.poll(async () => (await shown(bulk.bulk_id)).bulk.state, { timeout: 20_000 }).toBe('done')
  return shown(bulk.bulk_id)
}

async function opened() {
  at = await openTestPlace({ providers: { quick } })
}

const isAsked = ({ type }: { readonly type: string }) => type === 'approval:requested'

test('a stop is done to the runs that were shown, and to no other that the search would find by then', async () => {
  await opened()
  const live = [await at.start(asking), await at.start(asking)]
  for (const run of live) await at.until(run, isAsked)
  const over = await at.start(document('quick'))
  await at.ended(over)
  const { bulk, first } = await plan({ action: 'stop', q: 'label:team=growth', reason: 'enough' })
  expect(bulk).toMatchObject({ count: 3, state: 'planned', done: 0, refused: 0 })
  expect(first).toHaveLength(3)
  const later = await at.start(asking)
  await at.until(later, isAsked)
  await change(bulk.bulk_id, 'start')
  await expect.poll(async () => (await shown(bulk.bulk_id)).bulk.state).toBe('done')
  const { bulk: ended, runs } = await shown(bulk.bulk_id)
  expect(ended).toMatchObject({ looked: 3, done: 2, refused: 1 })
  const refused = runs.find(({ run_id }: { run_id: string }) => run_id === over)
  expect(refused.outcome.refused.code).toBe('run_ended')
  expect((await at.ended(live[0] ?? '')).at(-1)?.data).toMatchObject({
    reason: expect.stringContaining('enough, with bulk_'),
  })
  expect(await at.place.world.runs.head({ tenant: 'main', run_id: later }, [])).toMatchObject({ state: 'running' })
  expect((await change(bulk.bulk_id, 'start')).json.bulk.state).toBe('done')
  expect((await change(bulk.bulk_id, 'cancel')).json).toMatchObject({ code: 'bulk_ended' })
})

test('runs are retried and labelled once, whoever goes on with it, and a held one is not erased', async () => {
  await opened()
  const runs = [await at.start(document('one')), await at.start(document('two'))]
  for (const run of runs) await at.ended(run)
  const labelled = await carriedOut({
    action: 'label',
    q: 'dag:one',
    labels: { set: { team: 'sales' }, remove: ['none'] },
  })
  expect(labelled.bulk).toMatchObject({ count: 1, done: 1 })
  const key = { tenant: 'main', run_id: runs[0] ?? '' }
  const retried = await carriedOut({ action: 'retry', q: 'dag:one' })
  const made = retried.runs[0].outcome.run_id
  await at.ended(made)
  // As if workers had died after it was done, and before it was written down.
  const { world } = at.place
  for (const { bulk_id } of [labelled.bulk, retried.bulk]) {
    const stored = await world.runs.bulk({ tenant: 'main', bulk_id })
    if (stored === undefined) throw new Error('it is gone')
    const outcome = await actOnRun(world, stored, key.run_id)
    expect(outcome).toEqual({ at: outcome.at, ...(stored.action === 'retry' && { run_id: made }) })
  }
  expect(await world.runs.notes(key)).toHaveLength(1)
  const found = await route('search-runs', 'GET', { query: { q: 'dag:one' } })
  expect(found.json.runs.map(({ run_id }: { run_id: string }) => run_id).toSorted()).toEqual(
    [key.run_id, made].toSorted(),
  )
  expect((await at.call('hold-run', key.run_id, { reason: 'a case' })).status).toBe(200)
  const erased = await carriedOut({ action: 'erase', q: 'dag:one,two', reason: 'old' })
  expect(erased.bulk).toMatchObject({ count: 3, done: 2, refused: 1 })
  expect(erased.runs.find(({ run_id }: { run_id: string }) => run_id === key.run_id).outcome.refused.code).toBe(
    'run_held',
  )
})

test('a worker that died is taken up by the sweep, and what was cancelled goes on with nothing', async () => {
  await opened()
  const live = [await at.start(asking), await at.start(asking)]
  for (const run of live) await at.until(run, isAsked)
  const { bulk } = await plan({ action: 'stop', q: 'state:approval' })
  const { world } = at.place
  const stored = await world.runs.bulk({ tenant: 'main', bulk_id: bulk.bulk_id })
  if (stored === undefined) throw new Error('it is gone')
  // Started, and nobody was reached.
  await world.runs.moveBulk({ ...stored, version: 2, state: 'running' }, new Date(0).toISOString())
  await at.kill()
  await expect
    .poll(async () => (await shown(bulk.bulk_id)).bulk, { timeout: 20_000 })
    .toMatchObject({ state: 'done', done: 2 })
  const next = await plan({ action: 'stop', q: 'label:team' })
  expect((await change(next.bulk.bulk_id, 'cancel')).json.bulk).toMatchObject({ state: 'cancelled', looked: 0 })
  expect((await change(next.bulk.bulk_id, 'start')).json.code).toBe('bulk_cancelled')
})

test('what cannot be planned says what is missing', async () => {
  await opened()
  const refused = async (body: object) => (await route('plan-bulk', 'POST', { body })).json
  expect(await refused({ action: 'erase', q: 'state:failed' })).toMatchObject({ errors: [{ path: 'reason' }] })
  expect(await refused({ action: 'stop', q: ' ' })).toMatchObject({ errors: [{ path: 'q' }] })
  expect(await refused({ action: 'label', q: 'x' })).toMatchObject({ errors: [{ path: 'labels' }] })
  expect(await refused({ action: 'stop', q: 'stat:x' })).toMatchObject({ code: 'bad_run_search' })
  expect((await route('get-bulk', 'GET', { path: { bulk_id: `bulk_${'0'.repeat(25)}` } })).json.code).toBe(
    'unknown_bulk',
  )
  expect((await route('list-bulks', 'GET')).json).toEqual({ bulks: [], next_cursor: null })
})
