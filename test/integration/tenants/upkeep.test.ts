import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runsPool, slotUntil } from '../../../shared/runs/run-store.ts'
import { openReceiver, type WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { HOLDS } from '../safety/safety-place.ts'
import { askingOf, documentOf, eventually } from './fill-tenant.ts'
import { openLocalDoor, SECRET } from './local-door.ts'

/** What is done without a caller is done for each tenant, and for each alone. */
let hook: WebhookReceiver
let door: Awaited<ReturnType<typeof openLocalDoor>>
beforeAll(async () => {
  hook = await openReceiver([SECRET])
  door = await openLocalDoor(hook, { safety: { max_requests_per_min: 30, max_runs: 2, queue: true } })
})
afterAll(async () => {
  await door?.close()
  await hook?.close()
})

const start = async (tenant: string, dag: object, more: object = {}): Promise<string> => {
  const { status, text, json } = await door.call(tenant, 'POST', '/api/dag/run', { body: { dag, ...more } })
  expect(status, text).toBe(201)
  return json.run_id
}
const stateOf = async (tenant: string, run_id: string) =>
  (await door.call(tenant, 'GET', `/api/dag/runs/${run_id}`)).json.run.state

test('places, the queue and its next one are of each tenant: who is full holds up nobody else', async () => {
  const acme = [await start('acme', HOLDS), await start('acme', HOLDS), await start('acme', HOLDS)]
  const other = await start('globex', HOLDS)
  await eventually(async () => (await stateOf('globex', other)) === 'waiting', 'the other one waits')
  expect(await stateOf('acme', acme[2] ?? '')).toBe('pending')
  const safety = async (tenant: string) => (await door.call(tenant, 'GET', '/api/dag/safety')).json
  expect(await safety('acme')).toMatchObject({ active_runs: 2, queued_runs: 1 })
  expect(await safety('globex')).toMatchObject({ active_runs: 1, queued_runs: 0 })
  await door.call('acme', 'POST', `/api/dag/runs/${acme[0]}/stop`, { body: {} })
  await eventually(async () => (await stateOf('acme', acme[2] ?? '')) === 'waiting', 'the queued one goes on')
})

test('the sweep takes back a place that nobody of the tenant holds any more', async () => {
  const { runs, clock } = door.place.world
  const pool = runsPool('globex')
  // Long over: a start that died before it had a HEAD.
  await runs.takeLease(pool, 'run_gone', slotUntil(clock.now() - 3_600_000), 100)
  await eventually(async () => !('run_gone' in (await runs.leases(pool))), 'the place is free')
})

test('requests are counted for each tenant alone', async () => {
  const stop = (tenant: string) => door.call(tenant, 'POST', `/api/dag/runs/run_${'0'.repeat(26)}/stop`, { body: {} })
  const refusals = async (tenant: string) => (await stop(tenant)).status
  await eventually(async () => (await refusals('acme')) === 429, 'too many requests')
  expect(await refusals('globex')).toBe(404)
})

test('an execution that ends without its run ends the run of its tenant at once', async () => {
  const run_id = await start('globex', askingOf('e'))
  await eventually(async () => (await stateOf('globex', run_id)) === 'paused_approval', 'it waits for people')
  const { runs, machine } = door.place.world
  const meta = await runs.meta({ tenant: 'globex', run_id })
  await machine.stop(meta?.machine ?? '', run_id, 'by hand')
  // The sweep would look at it within a minute.
  const isOver = async () => ['failed', 'cancelled'].includes(await stateOf('globex', run_id))
  await eventually(isOver, 'the run has ended')
})

test('a webhook is told of the runs of its tenant, and of none of another', async () => {
  hook.react(204)
  const from = hook.received.length
  const run_id = await start('globex', documentOf('told'))
  await eventually(async () => hook.received.length > from, 'its end is told')
  await eventually(async () => (await stateOf('globex', run_id)) === 'completed', 'it is over')
  const told = hook.received.slice(from).map(({ id, body }) => [id.endsWith('-hook-globex'), body.tenant])
  expect(told.filter(([own, tenant]) => !own || tenant !== 'globex')).toEqual([])
})

test('each tenant reads files of a folder of its own', async () => {
  const inputs = join(door.folder, 'inputs')
  for (const tenant of ['main', 'acme', 'globex']) {
    mkdirSync(join(inputs, tenant), { recursive: true })
    writeFileSync(join(inputs, tenant, 'a.txt'), `the file of ${tenant}`)
  }
  const reading = (path: string) => ({
    name: 'reading',
    blocks: [
      {
        ...{ id: 'read', outputs: { text: { type: 'string' } }, mode: 'deterministic' },
        deterministic: { handler: 'read-input', config: { path } },
      },
    ],
  })
  const own = await start('globex', reading('a.txt'))
  await eventually(async () => (await stateOf('globex', own)) === 'completed', 'it is read')
  const outputs = await door.call('globex', 'GET', `/api/dag/runs/${own}/outputs/read`)
  expect(outputs.json.outputs).toEqual({ text: 'the file of globex' })
  for (const path of ['../acme/a.txt', 'acme/a.txt']) {
    const other = await start('globex', reading(path))
    await eventually(async () => (await stateOf('globex', other)) === 'failed', `${path} is refused`)
  }
})
