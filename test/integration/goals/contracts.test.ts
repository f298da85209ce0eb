import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, judgedRun, openGoalPlace, VERIFIED } from './goal-place.ts'

let open: TestPlace
beforeAll(async () => {
  open = await openGoalPlace()
})
afterAll(() => open.close())

const said = '[METRIC:accuracy] 0.85'
const HARD = contractOf(ACCURACY)
const EASY = contractOf({ ...ACCURACY, target: 0.8 })
const start = (dag: object, more: object = {}) =>
  open.call('start-run', '', { dag, inputs: { said }, ...more }) as Promise<{ status: number; json: never }>
const runsSoFar = async () => (await open.call('list-runs', '')).json.runs as unknown as readonly unknown[]

describe('the contract of a run', () => {
  test('of the request goes before that of the document; both are to be seen', async () => {
    const { meta, end, events } = await judge(open, judgedDag(HARD), { inputs: { said }, goal_contract: EASY })
    expect(end.type).toBe('run:completed')
    expect(meta.goal?.source).toBe('request')
    expect(events[0]?.data).toMatchObject({ goal: { source: 'request', contract_hash: meta.goal?.contract_hash } })
    const { objects } = open.place.world
    const stored = JSON.parse(Buffer.from(await objects.get('main', meta.goal?.contract_ref ?? '')).toString())
    expect(stored.acceptance_criteria[0].target).toBe(0.8)
    const document = JSON.parse(Buffer.from(await objects.get('main', meta.dag_ref)).toString())
    expect(document.goal_contract.acceptance_criteria[0].target).toBe(0.9)
  })

  test('turns the judgement on by itself: without a verifier trust fails, in words', async () => {
    const { completion: _, ...plain } = judgedDag() as { completion: object }
    for (const run of [
      await judge(open, plain, { inputs: { said }, goal_contract: EASY }),
      await judge(open, { ...plain, goal_contract: EASY }, { inputs: { said } }),
    ]) {
      expect(run.end).toMatchObject({ type: 'run:partial', data: { row: 'FAIL x MET', code: 'trust_failed' } })
      expect(run.end.data.reason).toBe('Trust gate failed: no verifier gave a trust score (FAIL x MET)')
    }
  })

  test('has one hash however it is written: YAML text, an object, defaults said or not', async () => {
    const yaml = `goal_contract:\n  goal_text: Build model with >= 90% accuracy\n  version: 1\n  acceptance_criteria:\n  - { tolerance: 0, op: '>=', kind: metric_threshold, id: AC1, target: 0.80, metric: accuracy }\n`
    const runs = [
      await judge(open, judgedDag(), { inputs: { said }, goal_contract: EASY }),
      await judge(open, judgedDag(), { inputs: { said }, goal_contract: { max_goal_attempts: 3, ...EASY } }),
      await judge(open, judgedDag(), { inputs: { said }, goal_contract: yaml }),
      await judge(open, judgedDag(EASY), { inputs: { said } }),
    ]
    expect(new Set(runs.map(({ meta }) => meta.goal?.contract_hash)).size).toBe(1)
    expect(runs.map(({ meta }) => meta.goal?.source)).toEqual(['request', 'request', 'request', 'dag'])
  })

  test('takes its target from an input when the run starts, and keeps it', async () => {
    const bare = judgedDag(contractOf({ ...ACCURACY, target: { input: 'wanted' } })) as { inputs: object }
    const dag = { ...bare, inputs: { ...bare.inputs, wanted: { type: 'number', default: 0.9 } } }
    const [missed, met] = [
      await judge(open, dag, { inputs: { said } }),
      await judge(open, dag, { inputs: { said, wanted: 0.7 } }),
    ]
    expect([missed.end.type, met.end.type]).toEqual(['run:partial', 'run:completed'])
    expect(missed.meta.goal?.contract_hash).not.toBe(met.meta.goal?.contract_hash)
  })
})

describe('a start is refused', () => {
  test.each([
    ['null', null],
    ['an empty object', {}],
    ['a list', [EASY]],
    ['a number', 5],
    ['an empty text', ''],
    ['no criteria', { ...EASY, acceptance_criteria: [] }],
    ['an unknown key', { ...EASY, strict: true }],
    ['a target that is no number', contractOf({ ...ACCURACY, target: '0.8' })],
    ['a target that is an input without a value', contractOf({ ...ACCURACY, target: { input: 'nothing' } })],
    ['an id that is there twice', contractOf(ACCURACY, ACCURACY)],
  ])('with a contract that is %s: it is never taken for none', async (_, goal_contract) => {
    const before = (await runsSoFar()).length
    const answer = await start(judgedDag(), { goal_contract })
    expect(answer).toMatchObject({ status: 400, json: { code: 'goal_contract_invalid' } })
    expect((await runsSoFar()).length).toBe(before)
  })

  test('with every error of the contract, each at its place', async () => {
    const goal_contract = { goal_text: ' ', acceptance_criteria: [{ id: 'A', kind: 'metric_treshold' }] }
    const { json } = await start(judgedDag(), { goal_contract })
    expect(json).toMatchObject({
      errors: [
        { path: 'goal_contract.goal_text' },
        { path: 'goal_contract.acceptance_criteria[0].kind', message: expect.stringContaining('metric_threshold') },
      ],
    })
  })

  test('with a malformed contract in the document', async () => {
    const answer = await start({ ...judgedDag(), goal_contract: { goal_text: 'x' } })
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_dag' } })
  })

  test('without any where one is required, and not with one', async () => {
    const dag = judgedDag(undefined, { ...VERIFIED, contract: 'required' })
    expect(await start(dag)).toMatchObject({ status: 400, json: { code: 'goal_contract_missing' } })
    expect(await start(dag, { goal_contract: EASY })).toMatchObject({ status: 201 })
    expect(await start({ ...dag, goal_contract: EASY })).toMatchObject({ status: 201 })
  })
})

describe('a retry', () => {
  test('keeps the contract its request brought, and reads that of the document anew', async () => {
    const asked = await judge(open, judgedDag(HARD), { inputs: { said }, goal_contract: EASY })
    const own = await judge(open, judgedDag(HARD), { inputs: { said } })
    const metas = []
    for (const { run_id } of [asked, own]) {
      const retry = String((await open.call('retry-run', run_id, {})).json.run_id)
      await open.ended(retry)
      metas.push(await open.place.world.runs.meta({ tenant: 'main', run_id: retry }))
    }
    expect(metas.map((meta) => meta?.goal)).toEqual([asked.meta.goal, own.meta.goal])
  })

  test.each([
    ['with nothing new', {}, 0.9],
    ['with another value', { inputs: { said: '[METRIC:accuracy] 0.6' } }, 0.9],
    ['with another target', { inputs: { target: 0.5 } }, 0.5],
  ])('%s is judged by the target somebody set at a start, whatever became of the context', async (_, body, target) => {
    const wait = {
      id: 'wait',
      mode: 'approval',
      inputs: { text: { from: 'work.text' } },
      approval: { prompt: 'Go?', show: ['text'] },
    }
    const contract = contractOf({ ...ACCURACY, target: { input: 'target' } })
    const document = judgedDag(contract, VERIFIED, [wait]) as { readonly inputs: object }
    const dag = { ...document, inputs: { ...document.inputs, target: 'number' } }
    const run_id = await open.start(dag, { inputs: { said: '[METRIC:accuracy] 0.45', target: 0.9 } })
    const { data } = await open.until(run_id, ({ type }) => type === 'approval:requested')
    expect((await open.call('patch-context', run_id, { set: { target: 0.4 }, if_version: 0 })).status).toBe(200)
    const { approval_id, digest } = data as { approval_id: string; digest: string }
    await open.call('decide-approval', run_id, { approval_id, digest, decision: 'approve' })
    expect((await judgedRun(open, run_id)).end.type).toBe('run:partial')
    const retry = await open.call('retry-run', run_id, body)
    const meta = await open.place.world.runs.meta({ tenant: 'main', run_id: String(retry.json.run_id) })
    const frozen = await open.place.world.objects.get('main', meta?.goal?.contract_ref ?? '')
    expect(JSON.parse(Buffer.from(frozen).toString())).toMatchObject({ acceptance_criteria: [{ target }] })
    expect(meta?.goal?.source).toBe('dag')
  })
})
