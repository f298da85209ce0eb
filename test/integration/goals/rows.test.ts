import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, openGoalPlace, passing, VERIFIED } from './goal-place.ts'

let open: TestPlace
beforeAll(async () => {
  open = await openGoalPlace()
})
afterAll(() => open.close())

const MET = '[METRIC:accuracy] 0.95'
const MISSED = '[METRIC:accuracy] 0.75'
const COMPLETION = { ...VERIFIED, blockers: 'stop.blockers', claim: 'claim.claimed' }
const MORE = [passing('stop', 'blockers'), passing('claim', 'claimed')]
const run = (inputs: object, contract: object | undefined = contractOf(ACCURACY)) =>
  judge(open, judgedDag(contract, COMPLETION, MORE), { inputs: { blockers: [], claimed: 'SUCCESS', ...inputs } })

describe('the six rows of the decision table, as runs', () => {
  test.each([
    ['PASS x MET', { said: MET, score: 80 }, 'run:completed', 'SUCCESS', 'accept'],
    ['PASS x NOT_MET', { said: MISSED, score: 80 }, 'run:partial', 'PARTIAL', 'pivot'],
    ['PASS x BLOCKED', { said: MET, score: 80, blockers: ['no data'] }, 'run:blocked', 'BLOCKED', 'none'],
    ['FAIL x MET', { said: MET, score: 79.9 }, 'run:partial', 'PARTIAL', 'rework_trust'],
    ['FAIL x NOT_MET', { said: MISSED, score: 79.9 }, 'run:partial', 'PARTIAL', 'rework_and_pivot'],
    ['FAIL x BLOCKED', { said: MISSED, score: 0, blockers: ['no data'] }, 'run:blocked', 'BLOCKED', 'none'],
  ])('%s', async (row, inputs, type, final_status, action) => {
    const { end, evaluated } = await run(inputs)
    expect(end).toMatchObject({ type, data: { final_status, row } })
    expect(evaluated?.data).toMatchObject({ row, final_status, action })
  })

  test('and without a contract: trust and quality decide alone', async () => {
    const dag = judgedDag(undefined)
    const [passed, failed, flawed] = [
      await judge(open, dag, { inputs: { said: MET } }),
      await judge(open, dag, { inputs: { said: MET, score: 10 } }),
      await judge(open, dag, { inputs: { said: '[FINDING] without statistics' } }),
    ]
    expect([passed, failed, flawed].map(({ end }) => [end.type, end.data.row, end.data.code])).toEqual([
      ['run:completed', 'PASS x NO_CONTRACT', 'completed'],
      ['run:partial', 'FAIL x NO_CONTRACT', 'trust_failed'],
      ['run:partial', 'PASS x NO_CONTRACT', 'quality_failed'],
    ])
  })
})

describe('what a run says of its end', () => {
  test('names what did not hold, or what did', async () => {
    const reasons = [
      (await run({ said: MET })).end.data.reason,
      (await run({ said: MISSED })).end.data.reason,
      (await run({ said: MET, score: 60 })).end.data.reason,
      (await run({ said: MET, blockers: ['the licence ran out'] })).end.data.reason,
    ]
    expect(reasons).toEqual([
      'all 4 blocks completed; 1/1 criteria passed (PASS x MET)',
      'Goal criteria not met: 0/1 criteria passed (PASS x NOT_MET)',
      'Trust gate failed: the trust score is 60 (PARTIAL), 80 is needed (FAIL x MET)',
      'Goal criteria not met: 1/1 criteria passed; The goal is blocked: the licence ran out (PASS x BLOCKED)',
    ])
  })

  test('is FAILED where a block failed, and ABORTED where it was stopped: nothing is judged then', async () => {
    const broken = { ...passing('broken', 'x'), inputs: { blockers: 'json' } }
    const failed = await judge(open, judgedDag(contractOf(ACCURACY), VERIFIED, [broken]), {
      inputs: { said: MET, blockers: [] },
    })
    expect([failed.end.type, failed.end.data.final_status, failed.evaluated]).toEqual([
      'run:failed',
      'FAILED',
      undefined,
    ])
    const waiting = { id: 'wait', mode: 'approval', approval: { approvers: ['user:somebody'] } }
    const id = await open.start(judgedDag(undefined, {}, [waiting]), { inputs: { said: MET } })
    await open.until(id, ({ type }) => type === 'approval:requested')
    await open.call('stop-run', id, {})
    const last = (await open.ended(id)).at(-1)
    expect(last).toMatchObject({ type: 'run:cancelled', data: { final_status: 'ABORTED' } })
  })

  test('a run that is judged by nothing but its blocks says nothing of it', async () => {
    const { completion: _, ...plain } = judgedDag() as { completion: object }
    const { end, meta, evaluated } = await judge(open, plain, { inputs: { said: MET } })
    expect([end.type, meta.goal, evaluated]).toEqual(['run:completed', undefined, undefined])
    expect(end.data).toEqual({ code: 'completed', reason: 'all 2 blocks completed', spent: expect.anything() })
  })
})

describe('a claim', () => {
  test.each([
    ['PARTIAL', 'run:partial', 'claimed_partial'],
    ['BLOCKED', 'run:blocked', 'claimed_blocked'],
    ['FAILED', 'run:failed', 'claimed_failed'],
    ['ABORTED', 'run:cancelled', 'claimed_aborted'],
  ])('of %s is never upgraded', async (claimed, type, code) => {
    const { end } = await run({ said: MET, claimed })
    expect(end).toMatchObject({ type, data: { code, final_status: claimed, row: 'PASS x MET' } })
  })

  test('of SUCCESS changes nothing, one nobody knows is PARTIAL', async () => {
    const missed = await run({ said: MISSED, claimed: 'SUCCESS\n' })
    expect(missed.end.data).toMatchObject({ final_status: 'PARTIAL', code: 'goal_missed' })
    for (const claimed of ['success', 'DONE', 5, ['SUCCESS'], { status: 'SUCCESS' }]) {
      const { end, evaluation } = await run({ said: MET, claimed })
      expect([claimed, end.data.final_status]).toEqual([claimed, 'PARTIAL'])
      expect(evaluation?.completion.warnings.map(({ code }) => code)).toEqual(['CLAIM_UNKNOWN'])
    }
  })
})
