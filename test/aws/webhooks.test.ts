import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type WebhookReceiver } from '../emulators/webhook-receiver.ts'
import { slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { WEBHOOK_SECRETS, webhookSettings } from '../integration/aws/webhook-settings.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Webhooks on the deployed application: bundles, roles and routes of the templates, a receiver of the tests. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OLD_SECRET = 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA=='
let hook: WebhookReceiver
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  hook = await openReceiver([SECRET, OLD_SECRET])
  const { slack: _, ...settings } = slackSettings()
  // Stage settings refuse both; the receiver stands on this machine.
  const http_gates = { ...settings.http_gates, loopback: true, ports: [hook.port] }
  made = await synthesize({}, { ...settings, http_gates, webhooks: [webhookSettings({ url: hook.url })] })
  const [now, old] = WEBHOOK_SECRETS
  place = await deploy(made.out, { [now]: SECRET, [old]: OLD_SECRET })
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await hook?.close()
  made?.remove()
})

const dag = {
  name: 'told',
  blocks: [
    {
      id: 'a',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'A plan' },
    },
  ],
}

async function until(fits: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !fits(); await pause(50)) {
    if (Date.now() > end) throw new Error(JSON.stringify([hook.received, place.denied]).slice(0, 2_000))
  }
}

test('a run is told from its start to its end, in order, signed by both secrets, with the rights of the roles', async () => {
  // The second message fails once: the sweep sends it again, and what follows waits.
  hook.react(204, 500, 204)
  const id = await caller.start({ dag })
  const events = await caller.until(id, isEnd)
  const mine = () => hook.received.filter(({ body }) => body.run_id === id)
  await until(() => mine().at(-1)?.body.type === 'run:completed')
  const ids = mine().map((message) => message.id)
  expect([...new Set(ids)]).toEqual(events.map(({ seq }) => `${id}-${seq}-billing`))
  expect(ids).toHaveLength(events.length + 1)
  expect(mine().every(({ signed_by }) => signed_by.join() === '0,1')).toBe(true)
  expect(place.denied).toEqual([])
}, 120_000)

test('its routes list, test and say what nobody took', async () => {
  hook.react(204)
  const listed = await caller.call('GET', '/api/webhooks')
  expect(listed.json).toMatchObject({ webhooks: [{ name: 'billing', host: new URL(hook.url).host, keys: 2 }] })
  const tested = await caller.call('POST', '/api/webhooks/test', { name: 'billing' })
  expect(tested.json).toMatchObject({ delivered: true, status: 204 })
  const dead = await caller.call('GET', '/api/webhooks/dead')
  expect(dead).toMatchObject({ status: 200, json: { dead: [], next_cursor: null } })
  const replayed = await caller.call('POST', '/api/webhooks/replay', { id: 'x' })
  expect(replayed).toMatchObject({ status: 404, json: { code: 'unknown_dead_webhook' } })
  expect(place.denied).toEqual([])
  const logs = JSON.stringify([listed, tested, dead, replayed, place.templates.all('AWS::Lambda::Function')])
  for (const secret of [SECRET, OLD_SECRET]) expect(logs).not.toContain(secret)
}, 60_000)
