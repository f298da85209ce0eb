import { expect, test } from 'vitest'
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
