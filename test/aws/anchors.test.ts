import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Anchors on the deployed application: bundles, roles and calls of the templates, a bucket that keeps S3's rules of locks. */
let made: Synthesized
let place: Deployment
let caller: Caller
beforeAll(async () => {
  const audit = { anchor: 's3-object-lock' }
  made = await synthesize({}, SettingsSchema.parse({ ...readStageSettings(ROOT, { stage: 'dev' }), audit }))
  place = await deploy(made.out)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  made?.remove()
})

const DAG = {
  name: 'anchored',
  blocks: [
    {
      id: 'a',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'A plan' },
    },
  ],
}

interface Verified {
  readonly ok: boolean
  readonly anchor: { readonly seq: number; readonly hash: string } | null
  readonly seal: { readonly seq: number; readonly hash: string } | null
}

test('a run is anchored at its end, with the rights of the roles, and verified against its anchor', async () => {
  const id = await caller.start({ dag: DAG })
  const events = await caller.until(id, isEnd)
  const put = () => place.anchors?.answered.filter((line) => line.startsWith(`PUT anchors/main/${id}/`)) ?? []
  for (const end = Date.now() + 60_000; put().length === 0 && Date.now() < end; ) await pause(50)
  expect(put()).toEqual([`PUT anchors/main/${id}/${events.length} 200`])
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/verify`)
  const { ok, anchor, seal } = json as unknown as Verified
  expect([ok, anchor?.seq, anchor?.hash]).toEqual([true, seal?.seq, seal?.hash])
  expect(place.denied).toEqual([])
})
