import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** A stage whose settings say `authoring: deployed_only`: only a deployment makes machines. */
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  made = await synthesize({}, { ...readStageSettings(ROOT, { stage: 'dev' }), authoring: 'deployed_only' })
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  made?.remove()
})

const DAG = {
  name: 'brought',
  blocks: [
    {
      id: 'a',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'A plan' },
    },
  ],
}

test('a document that comes with a request is refused in words, and no machine is asked for', async () => {
  const { status, json } = await caller.call('POST', '/api/dag/run', { dag: DAG })
  expect([status, json.code]).toEqual([403, 'authoring_closed'])
  expect(json.detail).toContain('"brought"')
  expect(json.detail).toContain('Deploy the change')
})

test('a deployed document runs to its end, and again', async () => {
  const id = await caller.start({ name: 'basic', inputs: { goal: 'Plan a garden' } })
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  const again = await caller.call('POST', `/api/dag/runs/${id}/retry`, {})
  expect([again.status, again.text]).toEqual([201, expect.any(String)])
  expect((await caller.until(String(again.json.run_id), isEnd)).at(-1)?.type).toBe('run:completed')
})

test('no function wanted what its role does not allow', async () => {
  await place.lambda.settled()
  expect(place.api.errors).toEqual([])
  expect(place.denied).toEqual([])
})
