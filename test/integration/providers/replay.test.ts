import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Recording } from '../../../shared/providers/recording.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { startOpenai } from '../../emulators/openai-server.ts'
import { hang, type ProviderServer } from '../../emulators/provider-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** A run is recorded over the wire; then provider `replay` stands in for the servers it asked. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-replay-'))
const file = join(dir, 'recording.json')
let server: ProviderServer
let recorded: { readonly ref: string; readonly calls: number; readonly recording: Recording }
let first: readonly RunEvent[]
const open: TestPlace[] = []

const agent = (prompt: string) => ({ provider: 'own', model: 'm-1', prompt, model_params: { temperature: 0 } })
const review = {
  name: 'judged',
  check: { type: 'llm_review', provider: 'own', model: 'j-1', port: 'text', criteria: 'Names a risk.', samples: 3 },
}
const dag = {
  name: 'replayed',
  blocks: [
    {
      id: 'plan',
      inputs: { topic: { type: 'string' } },
      outputs: { text: 'string' },
      agent: agent('Plan {{inputs.topic}}'),
      post_gates: [review],
    },
    {
      id: 'title',
      inputs: { plan: { type: 'string', from: 'plan.text' } },
      outputs: { title: 'string', steps: 'number' },
      agent: { ...agent('Title of {{inputs.plan}}'), system: 'Be brief.' },
      strict_output: true,
      contract_repair_attempts: 1,
    },
  ],
}
const context = { topic: 'the garden' }

beforeAll(async () => {
  server = await startOpenai(({ body }) => {
    if (body.model === 'j-1') return '{"pass": true, "rationale": "It does."}'
    // The second block's first answer is no object: it is repaired.
    return JSON.stringify(body.messages).includes('refused') ? '{"title": "T", "steps": 3}' : 'Dig. The risk is rain.'
  })
  const place = await openTestPlace({}, { providers: { own: { type: 'openai-compatible', url: server.url } } })
  const id = await place.start(dag, { context })
  first = await place.ended(id)
  const answer = await place.call('record-run', id)
  recorded = answer.json as never
  writeFileSync(file, JSON.stringify(recorded.recording))
  await place.close()
})
afterEach(async () => {
  for (const place of open.splice(0)) await place.close()
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

async function replaying(record = file): Promise<TestPlace> {
  const place = await openTestPlace({}, { providers: { own: { type: 'replay', record } } })
  open.push(place)
  return place
}

describe('a recording', () => {
  test('has every call of the run, judges and repairs too', () => {
    const asked = server.asked.length
    expect(first.at(-1)?.type).toMatch(/^run:/)
    expect(recorded.calls).toBe(asked)
    expect(recorded.recording.calls).toHaveLength(asked)
    expect(recorded.recording.calls.map(({ model }) => model)).toContain('j-1')
  })

  test('of a run that goes on is refused', async () => {
    const place = await openTestPlace({}, { providers: { own: { type: 'openai-compatible', url: server.url } } })
    open.push(place)
    server.next(hang)
    const id = await place.start(dag, { context })
    expect(await place.call('record-run', id)).toMatchObject({ status: 409, json: { code: 'run_not_ended' } })
    await place.call('stop-run', id, {})
    await place.ended(id)
  })
})

/** What two runs of the same answers may differ in. */
function timeless(events: readonly RunEvent[], runId: string): unknown {
  const text = JSON.stringify(events, (key, value) =>
    ['at', 'latency_ms', 'duration_ms', 'lease_until', 'holder', 'deadline_at', 'due_at'].includes(key) ? '' : value,
  )
  return JSON.parse(text.replaceAll(runId, 'run'))
}

describe('provider replay', () => {
  test('answers a run as it was recorded, and two replays give the same events but for times and ids', async () => {
    const before = server.asked.length
    const place = await replaying()
    const ids = [await place.start(dag, { context }), await place.start(dag, { context })]
    const [one, two] = [await place.ended(ids[0] ?? ''), await place.ended(ids[1] ?? '')]
    expect(timeless(one, ids[0] ?? '')).toEqual(timeless(two, ids[1] ?? ''))
    expect(one.map(({ type, block_id }) => [type, block_id])).toEqual(
      first.map(({ type, block_id }) => [type, block_id]),
    )
    expect(server.asked).toHaveLength(before)
    const outputs = (events: readonly RunEvent[]) =>
      events.flatMap((event) => (event.type === 'block:output' ? [event.data.outputs] : []))
    expect(outputs(one)).toEqual(outputs(first))
    const [output] = one.flatMap((event) => (event.type === 'block:output' ? [event.data] : []))
    expect(output).toMatchObject({
      provider: 'own',
      usd_micros: 0,
      tokens_in: 21,
      note: expect.stringMatching(/^replayed from run run_/),
    })
  })

  test('takes the recording as an object too', async () => {
    const place = await replaying(recorded.ref)
    const body = Buffer.from(canonicalJson(recorded.recording))
    expect((await place.place.world.objects.put('main', body)).ref).toBe(recorded.ref)
    expect((await place.ended(await place.start(dag, { context }))).at(-1)?.type).toBe(first.at(-1)?.type)
  })

  test('refuses a prompt that was not recorded, naming its hash', async () => {
    const place = await replaying()
    const events = await place.ended(await place.start(dag, { context: { topic: 'the sea' } }))
    const failed = events.find(({ type }) => type === 'block:failed')
    expect(failed?.data).toMatchObject({
      code: 'provider_refused',
      reason: expect.stringMatching(/has no answer to prompt [0-9a-f]{64}: no prompt of that hash was recorded/),
    })
  })

  test.each([
    [{ model: 'm-2' }, /another model \("m-1"\)/],
    [{ model_params: { temperature: 1 } }, /another set of model_params/],
    [{ system: 'Be long.' }, /another system text/],
  ])('says what differs: %j', async (more, words) => {
    const [plan] = dag.blocks
    const place = await replaying()
    const events = await place.ended(
      await place.start(
        { ...dag, blocks: [{ ...plan, agent: { ...agent('Plan {{inputs.topic}}'), ...more } }] },
        { context },
      ),
    )
    expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({
      reason: expect.stringMatching(words),
    })
  })

  test.each([
    ['is not there', 'absent.json', /Cannot read the recording of provider "own": ENOENT/],
    ['is no recording', 'half.json', /Cannot use the recording of provider "own": "v"/],
  ])('fails the block when the recording %s', async (_, name, words) => {
    writeFileSync(join(dir, 'half.json'), '{}')
    const place = await replaying(join(dir, name))
    const events = await place.ended(await place.start(dag, { context }))
    expect(events.find(({ type }) => type === 'block:failed')?.data).toMatchObject({
      code: 'provider_invalid',
      reason: expect.stringMatching(words),
    })
  })
})
