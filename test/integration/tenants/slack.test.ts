import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANA, deploy, openSlackPlace, type SlackPlace } from '../slack/slack-place.ts'
import { type Door, doorTo } from './door.ts'
import { eventually } from './fill-tenant.ts'

/** A workspace of one tenant of two. */
let open: SlackPlace
let door: Door
beforeAll(async () => {
  open = await openSlackPlace({ tenant: 'acme' }, { tenants: ['main', 'acme'], auth: { mode: 'token' } })
  const { data_dir } = open.place.world.settings
  const tokenOf = (tenant: string) =>
    readFileSync(join(data_dir, tenant === 'main' ? 'first-token' : `first-token-${tenant}`), 'utf8').trim()
  door = doorTo(open.place.url ?? '', tokenOf)
})
afterAll(() => open.close())

async function asking(tenant: string): Promise<string> {
  const { json } = await door.call(tenant, 'POST', '/api/dag/run', { body: { dag: deploy() } })
  await eventually(async () => (await stateOf(tenant, json.run_id)) === 'paused_approval', 'it asks')
  return json.run_id
}
const stateOf = async (tenant: string, run_id: string) =>
  (await door.call(tenant, 'GET', `/api/dag/runs/${run_id}`)).json.run.state
const outboxOf = async (tenant: string, run_id: string) =>
  (await open.place.world.runs.head({ tenant, run_id }))?.outbox ?? []

test('what another tenant asks is owed to nobody there, and its end neither', async () => {
  const run_id = await asking('main')
  expect(await outboxOf('main', run_id)).toEqual([])
  await door.call('main', 'POST', `/api/dag/runs/${run_id}/stop`, { body: {} })
  const theirs = await asking('acme')
  await open.message(({ text }) => text.includes('deploy'))
  expect(JSON.stringify(open.slack.messages)).toContain(theirs)
  expect(JSON.stringify(open.slack.messages)).not.toContain(run_id)
})

test('a click decides in the tenant of the workspace, and in no other', async () => {
  const mine = await asking('acme')
  const theirs = await asking('main')
  const message = await open.message(({ blocks }) => JSON.stringify(blocks).includes(mine))
  const body = open.slack.clickBody(message, 'sluice_approve', ANA)
  // Signed by the app, as if it had asked for the other one.
  await open.slack.deliver(body.replaceAll(mine.slice(4), theirs.slice(4)))
  await open.slack.deliver(body)
  await eventually(async () => (await stateOf('acme', mine)) === 'completed', 'it is decided')
  expect(await stateOf('main', theirs)).toBe('paused_approval')
})
