import { setTimeout as pause } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageSchema } from '../../shared/webhooks/event-schema.ts'
import { BusSettingsSchema } from '../../shared/webhooks/settings.ts'
import { slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Buses of the deployed application: functions and roles of the templates, EventBridge over the wire. */
const COMPANY = 'arn:aws:events:eu-central-1:444455556666:event-bus/company'
/** What a test asks whether it may, and may not. */
const REFUSED = [COMPANY, `${COMPANY}2`].map((bus) => `sluice-dev-send-bus-events: events:PutEvents on ${bus}`)
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  const { slack: _, ...settings } = slackSettings()
  const buses = BusSettingsSchema.parse([
    { name: 'all', events: 'all' },
    { name: 'ends', bus: COMPANY, events: ['run:completed'] },
    { name: 'others', bus: 'other', events: 'all', dags: ['another'] },
  ])
  made = await synthesize({}, { ...settings, buses })
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close(REFUSED)
  made?.remove()
})

const fitsSchema = new Ajv2020({ strict: false, validateFormats: false }).compile(messageSchema())

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
  for (const end = Date.now() + 90_000; !fits(); await pause(50)) {
    if (Date.now() > end) throw new Error(JSON.stringify([place.eventBridge.taken, place.denied]).slice(0, 2_000))
  }
}

test('a run is on its buses from its start to its end, in order, with the rights of the roles', async () => {
  // EventBridge refuses one in an answer of 200: the sweep puts it again, and what follows waits.
  place.eventBridge.refuse(1, 'InternalFailure')
  const id = await caller.start({ dag })
  const events = await caller.until(id, isEnd)
  const on = (bus: string) => place.eventBridge.taken.filter(({ EventBusName }) => EventBusName === bus)
  await until(() => on('default').at(-1)?.DetailType === 'run:completed' && on(COMPANY).length > 0)
  const details = on('default').map(({ Detail }) => JSON.parse(Detail))
  expect(details.map((detail) => detail.id)).toEqual(events.map(({ seq }) => `${id}-${seq}-all`))
  expect(details.map(({ seq, type, run_id, data }) => ({ seq, type, run_id, data }))).toMatchObject(
    events.map(({ seq, type }) => ({ seq, type, run_id: id })),
  )
  expect(on('default').map(({ DetailType }) => DetailType)).toEqual(events.map(({ type }) => type))
  expect(on('default').map(({ Time }) => Time * 1_000)).toEqual(events.map(({ at }) => Date.parse(at)))
  expect(on(COMPANY).map(({ DetailType, Source }) => [DetailType, Source])).toEqual([['run:completed', 'sluice.dev']])
  expect(on('other')).toEqual([])
  expect(details.filter((detail) => !fitsSchema(detail))).toEqual([])
  expect(place.denied).toEqual([])
}, 120_000)

test('its routes list buses and put a test on one; a role puts events of no other source, and on no other bus', async () => {
  const listed = await caller.call('GET', '/api/webhooks')
  expect(listed.json).toMatchObject({ webhooks: [], buses: [{ name: 'all', bus: 'default' }, { bus: COMPANY }, {}] })
  const tested = await caller.call('POST', '/api/webhooks/test', { name: 'ends' })
  expect(tested).toMatchObject({ status: 200, json: { endpoint: 'ends', delivered: true } })
  expect(place.eventBridge.taken.at(-1)).toMatchObject({ EventBusName: COMPANY, DetailType: 'webhook:test' })
  place.eventBridge.refuse(1, 'NotAuthorizedForSourceException')
  const refused = await caller.call('POST', '/api/webhooks/test', { name: 'ends' })
  expect(refused.json).toMatchObject({ delivered: false, reason: expect.stringContaining('NotAuthorizedForSource') })
  expect(place.denied).toEqual([])
  const may = (source: string, resource: string) =>
    place.allows('sluice-dev-send-bus-events', { action: 'events:PutEvents', resource, source })
  expect(may('sluice.dev', COMPANY)).toBe(true)
  expect([may('sluice.prod', COMPANY), may('sluice.dev', `${COMPANY}2`), may('aws.ec2', COMPANY)]).toEqual([
    false,
    false,
    false,
  ])
}, 60_000)
