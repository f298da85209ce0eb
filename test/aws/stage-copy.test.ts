import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Sign } from '../../clients/cli/aws/signed-target.ts'
import type { Target } from '../../clients/cli/server/api.ts'
import { exportStage } from '../../clients/cli/stage/export-stage.ts'
import { importStage } from '../../clients/cli/stage/import-stage.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { place as entity, idOf, stated } from '../conformance/graph-fixture.ts'
import { richRun } from '../integration/rich-run.ts'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** A copy goes from a local place to a deployed stage, from there to another one, and back into a local place. */
const quiet = () => undefined
const sign: Sign = async ({ url }) => ({
  url,
  headers: {
    authorization:
      'AWS4-HMAC-SHA256 Credential=Deployer/20261122/eu-central-1/execute-api/aws4_request, SignedHeaders=host, Signature=0',
  },
})
const stage = (place: Deployment): Target => ({ url: place.api.url, named: true, sign })
const here = ({ place }: TestPlace): Target => ({ url: place.url ?? '', named: true })

let root: string
let from: TestPlace
let rich: string
let first: Deployment
let second: Deployment
let caller: Caller
let own: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-copies-'))
  const made = await richRun({ port: 0 }, true, { listen: true })
  ;({ place: from, run_id: rich } = made)
  const entities = [{ ...entity('rome'), triples: [stated('rome', 'geo.borders', idOf('ostia'))] }, entity('ostia')]
  const url = here(from).url
  const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ entities }) }
  expect((await fetch(`${url}/api/graph/entities`, init)).status).toBe(200)
  first = await deploy(inject('assembly'))
  caller = callerOf(first.api.url)
  own = await caller.start({ name: 'basic', inputs: { goal: 'Plan a garden' } })
  await caller.until(own, isEnd)
}, 240_000)
afterAll(async () => {
  await first?.close()
  await second?.close()
  await from?.close()
  rmSync(root, { recursive: true, force: true })
})

const eventsOf = async (place: Deployment, id: string): Promise<readonly RunEvent[]> =>
  callerOf(place.api.url).events(id)

async function expectSound(place: Deployment, id: string): Promise<void> {
  const { status, json } = await callerOf(place.api.url).call('GET', `/api/dag/runs/${id}/verify`)
  expect([status, json]).toEqual([
    200,
    expect.objectContaining({ ok: true, seal: expect.objectContaining({ matches: true }) }),
  ])
}

test('from a local place to a stage on AWS, which has runs of its own', async () => {
  const folder = join(root, 'from-local')
  await exportStage(here(from), folder, quiet)
  const taken = await importStage(stage(first), folder, quiet)
  expect(taken).toMatchObject({ refused: [], there: 0 })
  expect(await eventsOf(first, rich)).toEqual(await from.events(rich))
  await expectSound(first, rich)
  await expectSound(first, own)
  const { json } = await caller.call('GET', `/api/graph/entities/${encodeURIComponent(idOf('rome'))}`)
  expect(json).toMatchObject({ entity: { entity_id: idOf('rome') } })
  const listed = await caller.call('GET', '/api/dag/runs?limit=10')
  expect((listed.json.runs as { run_id: string }[]).map(({ run_id }) => run_id).toSorted()).toEqual(
    [rich, own].toSorted(),
  )
  const decided = await caller.call('GET', '/api/dag/approvals?status=decided')
  expect(decided.text).toContain(rich)
  // Again: all of it is there.
  rmSync(folder, { recursive: true })
  await exportStage(here(from), folder, quiet)
  expect(await importStage(stage(first), folder, quiet)).toMatchObject({
    bodies: expect.any(Number),
    taken: 0,
    refused: [],
  })
})

test('from there to another stage on AWS, and back into a local place', async () => {
  const folder = join(root, 'from-aws')
  expect(await exportStage(stage(first), folder, quiet)).toMatchObject({ runs: 2, left_out: [] })
  second = await deploy(inject('assembly'))
  expect(await importStage(stage(second), folder, quiet)).toMatchObject({ refused: [], there: 0 })
  const back = await openTestPlace({ listen: true }, { port: 0 })
  expect(await importStage(here(back), folder, quiet)).toMatchObject({ refused: [], there: 0 })
  for (const id of [rich, own]) {
    expect(await eventsOf(second, id)).toEqual(await eventsOf(first, id))
    await expectSound(second, id)
    expect(await back.events(id)).toEqual(await eventsOf(first, id))
    const verified = await fetch(`${here(back).url}/api/dag/runs/${id}/verify`)
    expect(await verified.json()).toMatchObject({ ok: true, seal: { matches: true } })
  }
  // What ran on AWS is gone on with here.
  const again = await back.call('retry-run', own, {})
  expect(again.status).toBe(201)
  expect((await back.ended(String(again.json.run_id))).at(-1)?.type).toBe('run:completed')
  await back.close()
})

test('no function wanted what its role does not allow', async () => {
  for (const place of [first, second]) {
    await place.lambda.settled()
    expect(place.api.errors).toEqual([])
    expect(place.denied).toEqual([])
  }
})
