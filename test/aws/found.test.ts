import { expect, test } from 'vitest'
import type { BulkRun } from '../../shared/runs/bulk.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

/** Labels, notes, searches and holds on the synthesized stacks. Erasing: test/integration/aws/erasure.test.ts. */
const aws = shippedStack()

const found = async (q: string) => {
  const { json } = await aws.caller.call('GET', `/api/dag/search?q=${encodeURIComponent(q)}`)
  return (json.runs as readonly { readonly run_id: string }[]).map(({ run_id }) => run_id)
}

test('a run is found by its labels, its state and the words of its end, and not by labels it has no more', async () => {
  const inputs = { goal: 'Plan a small garden' }
  const id = await aws.caller.start({ name: 'basic', inputs, labels: { team: 'growth', stage: 'prod' } })
  const other = await aws.caller.start({ name: 'basic', inputs })
  await Promise.all([id, other].map((one) => aws.caller.until(one, isEnd)))
  await expect.poll(() => found('label:team=growth state:completed'), { timeout: 20_000 }).toEqual([id])
  await expect.poll(async () => (await found('dag:basic')).toSorted(), { timeout: 20_000 }).toEqual([id, other].sort())
  const labels = { set: { team: 'core' }, remove: ['stage'] }
  const noted = await aws.caller.call('POST', `/api/dag/runs/${id}/notes`, { text: 'The source was down.', labels })
  expect(noted).toMatchObject({ status: 201, json: { labels: { team: 'core' } } })
  expect(await Promise.all(['label:team=growth', 'label:stage', 'label:team=core'].map(found))).toEqual([[], [], [id]])
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/notes`)
  expect(json.notes).toMatchObject([{ text: 'The source was down.', labels: { set: { team: 'core' } } }])
  const wrong = await aws.caller.call('GET', '/api/dag/search?q=labl:team')
  expect(wrong).toMatchObject({ status: 400, json: { code: 'bad_run_search' } })
})

test('a search has a name, its runs are counted, and exactly these are labelled and erased in bulk; what came later is not', async () => {
  const inputs = { goal: 'Plan a small garden' }
  const start = () => aws.caller.start({ name: 'basic', inputs, labels: { batch: 'first' }, subject: 'person-4711' })
  const ids = [await start(), await start()].toSorted()
  await Promise.all(ids.map((one) => aws.caller.until(one, isEnd)))
  const q = 'label:batch=first'
  await expect.poll(async () => (await found(`${q} state:completed`)).toSorted(), { timeout: 20_000 }).toEqual(ids)
  expect((await found('subject:"person-4711"')).toSorted()).toEqual(ids)
  expect(await found('subject:"person-47"')).toEqual([])

  expect((await aws.caller.call('PUT', '/api/dag/views/firsts', { q })).status).toBeLessThan(300)
  expect((await aws.caller.call('GET', '/api/dag/views')).json.views).toMatchObject([{ name: 'firsts', q }])
  expect((await aws.caller.call('DELETE', '/api/dag/views/firsts')).status).toBeLessThan(300)
  expect((await aws.caller.call('GET', '/api/dag/views')).json.views).toEqual([])
  const counted = await aws.caller.call('GET', `/api/dag/count?q=${encodeURIComponent(q)}&by=state`)
  expect(counted.json).toMatchObject({ counted: 2, counts: [{ value: 'completed', runs: 2 }] })

  const labels = { set: { seen: 'yes' } }
  const shown = await planned({ action: 'label', q, labels })
  expect(shown).toMatchObject({ count: 2, state: 'planned' })
  const late = await start()
  await aws.caller.until(late, isEnd)
  expect(await carriedOut(shown.bulk_id)).toMatchObject({ state: 'done', done: 2, refused: 0 })
  expect((await found('label:seen=yes')).toSorted()).toEqual(ids)

  expect((await aws.caller.call('PUT', `/api/dag/runs/${ids[0]}/hold`, { reason: 'a lawsuit' })).status).toBe(200)
  const erasing = await planned({ action: 'erase', q: 'label:seen=yes', reason: 'asked for' })
  expect(await carriedOut(erasing.bulk_id)).toMatchObject({ state: 'done', done: 1, refused: 1 })
  const { json } = await aws.caller.call('GET', `/api/dag/bulk/${erasing.bulk_id}`)
  expect(json.runs).toContainEqual(
    expect.objectContaining({
      run_id: ids[0],
      outcome: expect.objectContaining({ refused: expect.objectContaining({ code: 'run_held' }) }),
    }),
  )
  expect((await aws.caller.call('GET', `/api/dag/runs/${ids[1]}/erasure`)).json).toMatchObject({
    erasure: { reason: 'asked for' },
  })
  expect((await aws.caller.call('GET', `/api/dag/runs/${late}/erasure`)).json.erasure).toBeUndefined()
})

test('what goes on is stopped in bulk, and what was stopped is tried again in bulk, each as a run of its own', async () => {
  const asks = ({ type }: { readonly type: string }) => type === 'approval:requested'
  const start = () => aws.caller.start({ name: 'coding', labels: { batch: 'second' } })
  const ids = [await start(), await start()].toSorted()
  await Promise.all(ids.map((one) => aws.caller.until(one, asks)))
  const open = 'label:batch=second state:paused_approval'
  await expect.poll(async () => (await found(open)).toSorted(), { timeout: 20_000 }).toEqual(ids)
  const stopping = await planned({ action: 'stop', q: open, reason: 'a change of plan' })
  expect(await carriedOut(stopping.bulk_id)).toMatchObject({ state: 'done', done: 2, refused: 0 })
  await expect.poll(async () => (await found('label:batch=second state:cancelled')).toSorted()).toEqual(ids)

  const retrying = await planned({ action: 'retry', q: 'label:batch=second state:cancelled' })
  expect(await carriedOut(retrying.bulk_id)).toMatchObject({ state: 'done', done: 2, refused: 0 })
  const { json } = await aws.caller.call('GET', `/api/dag/bulk/${retrying.bulk_id}`)
  const made = (json.runs as readonly BulkRun[]).map(({ outcome }) => outcome?.run_id ?? '')
  expect(new Set(made).size).toBe(2)
  await Promise.all(made.map((one) => aws.caller.until(one, asks)))
  for (const one of made) {
    expect((await aws.caller.call('GET', `/api/dag/runs/${one}`)).json.run).toMatchObject({ state: 'paused_approval' })
    await aws.caller.call('POST', `/api/dag/runs/${one}/stop`)
  }
})

interface PlannedBulk {
  readonly bulk_id: string
  readonly state: string
}

async function planned(body: object): Promise<PlannedBulk> {
  const { status, json, text } = await aws.caller.call('POST', '/api/dag/bulk', body)
  if (status !== 201) throw new Error(`plan: ${status} ${text}`)
  return json.bulk as PlannedBulk
}

/** Started, and looked at until it is done. */
async function carriedOut(bulk_id: string): Promise<PlannedBulk> {
  const path = `/api/dag/bulk/${bulk_id}`
  expect((await aws.caller.call('POST', path, { do: 'start' })).status).toBe(202)
  const stands = async () => (await aws.caller.call('GET', path)).json.bulk as PlannedBulk
  await expect.poll(async () => (await stands()).state, { timeout: 60_000 }).toBe('done')
  return stands()
}

test('a run that is held is not erased; one that goes on neither', async () => {
  const id = await aws.caller.start({ name: 'basic', inputs: { goal: 'Plan a small garden' } })
  await aws.caller.until(id, isEnd)
  const path = `/api/dag/runs/${id}`
  const reason = 'a lawsuit'
  expect((await aws.caller.call('PUT', `${path}/hold`, { reason })).status).toBe(200)
  expect((await aws.caller.call('GET', `${path}/erasure`)).json).toMatchObject({ run_id: id, hold: { reason } })
  const refused = await aws.caller.call('DELETE', path, { reason: 'asked for' })
  expect(refused).toMatchObject({ status: 409, json: { code: 'run_held' } })
  expect((await aws.caller.call('DELETE', `${path}/hold`, { reason: 'it is over' })).status).toBe(200)
  const waiting = await aws.caller.start({ name: 'coding' })
  await aws.caller.until(waiting, ({ type }) => type === 'approval:requested')
  const goes = await aws.caller.call('DELETE', `/api/dag/runs/${waiting}`, { reason: 'asked for' })
  expect(goes).toMatchObject({ status: 409, json: { code: 'run_not_ended' } })
})
