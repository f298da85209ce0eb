import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunGraphSchema } from '../../shared/plan/graph-schema.ts'
import { PlanSchema } from '../../shared/plan/plan-schema.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Routes that say what a document will do and what a run is doing, in the local place. */
const PASS = { mode: 'deterministic', deterministic: { handler: 'pass' }, outputs: { text: 'string' } }
const DOCUMENT = {
  name: 'release',
  blocks: [
    { id: 'plan', ...PASS, inputs: { text: { type: 'string', default: 'x' } } },
    { id: 'build', ...PASS, inputs: { text: { from: 'plan.text' } } },
    { id: 'publish', ...PASS, inputs: { text: { from: 'build.text' } }, approval: { prompt: 'Go?' } },
  ],
}

let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace({}, { safety: { max_parallel: 7 } })
})
afterAll(() => place.close())

describe('POST /api/dag/plan', () => {
  test('plans a document with the place’s own limits', async () => {
    const { status, json } = await place.call('plan-dag', '', { dag: DOCUMENT, durations: { build: 4 } })
    expect(status).toBe(200)
    expect(PlanSchema.parse(json)).toMatchObject({
      critical_path: { blocks: ['plan', 'build', 'publish'], seconds: 6 },
      makespan: { seconds: 6, max_parallel: 7 },
      // Three blocks, an approval, _settle, _end, _done.
      transitions: 7,
    })
  })

  test.each<[string, object, number, string]>([
    ['a document with errors', { dag: { blocks: [{ id: 'a' }] } }, 400, 'invalid_dag'],
    ['a block that is not there', { dag: DOCUMENT, durations: { biuld: 1 } }, 400, 'unknown_block'],
    ['a negative duration', { dag: DOCUMENT, durations: { build: -1 } }, 400, 'bad_body'],
    ['too many items', { dag: DOCUMENT, items: { build: 1_001 } }, 400, 'bad_body'],
    ['another key', { dag: DOCUMENT, duration: 1 }, 400, 'bad_body'],
  ])('refuses %s', async (_, body, status, code) => {
    const answer = await place.call('plan-dag', '', body)
    expect(answer).toMatchObject({ status, json: { code } })
  })
})

describe('GET /api/dag/runs/{run_id}/graph', () => {
  test('shows what each block is doing, and goes on with it', async () => {
    const runId = await place.start(DOCUMENT)
    const asked = await place.until(runId, ({ type }) => type === 'approval:requested')
    const { status, json } = await place.call('get-run-graph', runId)
    expect(status).toBe(200)
    const graph = RunGraphSchema.parse(json)
    expect(graph).toMatchObject({ run_id: runId, dag: 'release', state: 'paused_approval' })
    expect(graph.nodes.map(({ id, state, attempt }) => [id, state, attempt])).toEqual([
      ['plan', 'completed', 1],
      ['build', 'completed', 1],
      ['publish', 'paused_approval', 0],
    ])
    expect(graph.nodes[0]).toMatchObject({ started_at: expect.any(String), ended_at: expect.any(String), layer: 0 })
    expect(graph.edges).toEqual([
      { from: 'plan', to: 'build', wires: ['text -> text'], join: false },
      { from: 'build', to: 'publish', wires: ['text -> text'], join: false },
    ])
    // What has not started counts as one second.
    expect(graph.critical_path.blocks).toEqual(['plan', 'build', 'publish'])
    // Those that ended may have taken no millisecond.
    expect(graph.critical_path.seconds).toBeGreaterThanOrEqual(1)

    const digest = asked.type === 'approval:requested' ? asked.data.digest : ''
    await place.call('decide-approval', runId, { decision: 'approve', digest })
    await place.ended(runId)
    const after = RunGraphSchema.parse((await place.call('get-run-graph', runId)).json)
    expect(after).toMatchObject({ state: 'completed' })
    expect(after.nodes.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed'])
    const seconds = after.nodes.map((node) => node.seconds ?? Number.NaN)
    expect(after.critical_path.seconds).toBeCloseTo(
      seconds.reduce((sum, one) => sum + one, 0),
      6,
    )
  })

  test('knows no run of another name', async () => {
    const answer = await place.call('get-run-graph', `run_${'0'.repeat(26)}`)
    expect(answer).toMatchObject({ status: 404, json: { code: 'unknown_run' } })
  })
})

test('GET /api/dag/schema answers a schema that takes the document', async () => {
  const { status, json } = await place.call('get-dag-schema', '')
  expect(status).toBe(200)
  const validate = new Ajv2020({ strict: false }).compile(json)
  expect(validate(DOCUMENT)).toBe(true)
  expect(validate({ blocks: [{ id: 1 }] })).toBe(false)
})
