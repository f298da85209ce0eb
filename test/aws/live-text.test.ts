import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { BlockDelta } from '../../shared/api/run-routes.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { streamOf } from '../emulators/openai-server.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { startScriptedModel } from '../emulators/scripted-model.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** A deployment that tells what models say while they say it, and what an agent said and did afterwards. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/model-AbCdEf'
const KEY = 'sk-canary-41d0c2aa'
const goOn = Promise.withResolvers<void>()
let model: ProviderServer
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  model = await startScriptedModel(({ turn, model: named }) => {
    if (named === 'agent') {
      const write = { tool: 'artifact__write', arguments: { name: 'a.md', text: 'Hello' } }
      return turn === 0 ? { text: 'I write.', calls: [write] } : 'Done.'
    }
    return {
      serve: async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const events = streamOf('First words, and the end.').split(/(?<=\n\n)/)
        const half = events.length - 10
        response.write(events.slice(0, half).join(''))
        await goOn.promise
        response.end(events.slice(half).join(''))
      },
    }
  }, KEY)
  const { providers } = SettingsSchema.parse({
    providers: { scripted: { type: 'openai-compatible', url: `${model.url}/v1`, key: { secret: SECRET } } },
  })
  const shipped = readStageSettings(join(import.meta.dirname, '../..'), { stage: 'dev' })
  const settings = { ...shipped, providers: { ...shipped.providers, ...providers }, live_text: true }
  made = await synthesize({}, settings)
  place = await deploy(made.out, { [SECRET]: KEY })
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  goOn.resolve()
  await place?.close()
  await model?.close()
  made?.remove()
})

const agent = (named: string) => ({ provider: 'scripted', model: named, prompt: 'Go.' })

test('what a model says is in the stream before it has ended', async () => {
  const block = { id: 'say', outputs: { text: 'string' }, agent: agent('slow') }
  const id = await caller.start({ dag: { name: 'says', blocks: [block] } })
  let told = ''
  const order: string[] = []
  for await (const { event, data } of caller.messages(id)) {
    order.push(event)
    if (event !== 'block:delta') continue
    const delta: BlockDelta = JSON.parse(data)
    expect(delta).toMatchObject({ block_id: 'say', from: told.length })
    told += delta.text
    // The model goes on when its first words were seen.
    if (told.startsWith('First words')) goOn.resolve()
  }
  expect('First words, and the end.').toContain(told)
  expect(order.indexOf('block:delta')).toBeGreaterThan(0)
  expect(order.indexOf('block:delta')).toBeLessThan(order.indexOf('block:output'))
})

test('what an agent said and did is read as a transcript', async () => {
  const block = { id: 'act', outputs: { answer: 'string' }, agent: { ...agent('agent'), tools: ['artifact.write'] } }
  const id = await caller.start({ dag: { name: 'acts', blocks: [block] } })
  await caller.until(id, isEnd)
  const { status, json } = await caller.call('GET', `/api/dag/runs/${id}/blocks/act/transcript`)
  expect([status, json]).toMatchObject([
    200,
    {
      state: 'completed',
      turns: [
        { turn: 1, text: 'I write.', calls: [{ use: 'artifact.write', state: 'completed' }] },
        { turn: 2, text: 'Done.', calls: [] },
      ],
    },
  ])
})
