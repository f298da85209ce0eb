import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ACCURACY, contractOf, judge, judgedDag, judgedRun, openGoalPlace } from '../goals/goal-place.ts'
import type { TestPlace } from '../test-place.ts'
import { allRuns, goalOf, HIGH, keyOf, LOW, missingDag, nextOf, problemsOf } from './pivot-place.ts'

let open: TestPlace
beforeEach(async () => {
  open = await openGoalPlace()
})
afterEach(() => open.close())

const low = { inputs: { said: LOW } }
const pivot = (run_id: string, body: object = {}) => open.call('pivot-run', run_id, body)

describe('a person pivots a run that missed its goal', () => {
  test('the next run has the same document and contract, and is told what was missing and what they say', async () => {
    const first = await judge(open, missingDag('manual'), low)
    expect(first.end).toMatchObject({ type: 'run:partial', data: { final_status: 'PARTIAL', row: 'PASS x NOT_MET' } })
    const answer = await pivot(first.run_id, { inputs: { said: HIGH }, feedback: 'Use the other table.' })
    expect(answer).toMatchObject({ status: 201, json: { run_id: nextOf(first.run_id), pivots: first.run_id } })
    const second = await judgedRun(open, nextOf(first.run_id))
    expect(second.end).toMatchObject({ type: 'run:completed', data: { final_status: 'SUCCESS' } })
    const { dag_hash, goal } = first.meta
    expect(second.meta).toMatchObject({ dag_hash, goal, root: first.run_id, pivots: { run_id: first.run_id } })
    const { feedback, suggestions, said } = (await open.place.world.runs.context(keyOf(second.run_id)))?.values ?? {}
    expect(said).toBe(HIGH)
    expect(feedback).toMatch(
      /^Attempt 1 of 3 did not reach the goal: 0\/1 criteria are met\.\n- AC1: .+\nA person says:\nUse the other table\.$/,
    )
    expect(suggestions).toEqual([expect.stringMatching(/^AC1: /)])
    expect(second.events[0]).toMatchObject({
      data: { pivots: first.run_id, goal: { contract_hash: goal?.contract_hash } },
    })
    for (const run_id of await allRuns(open)) expect(await problemsOf(open, run_id)).toEqual([])
  })

  test('both runs show each other, and the goal of both its attempts', async () => {
    const first = await judge(open, missingDag('manual'), low)
    await pivot(first.run_id, { inputs: { said: HIGH } })
    const second = await judgedRun(open, nextOf(first.run_id))
    const lineage = [{ run_id: second.run_id, from: first.run_id, kind: 'pivot' }]
    expect((await open.call('get-run', first.run_id)).json).toMatchObject({
      run: { pivoted_by: second.run_id, state: 'partial', final_status: 'PARTIAL', row: 'PASS x NOT_MET' },
      lineage,
    })
    const goal = { met: 1, total: 1, attempt: 2, row: 'PASS x MET' }
    expect((await open.call('get-run', second.run_id)).json).toMatchObject({
      run: { pivots: first.run_id, goal },
      lineage,
    })
    expect(await goalOf(open, first.run_id)).toMatchObject({
      attemptNumber: 1,
      pivot: { mode: 'manual', shouldPivot: true, next_run: second.run_id },
      lastGoalAttempt: { attemptNumber: 1, run_id: first.run_id, status: 'PARTIAL', metCount: 0, totalCount: 1 },
    })
    expect(await goalOf(open, second.run_id)).toMatchObject({
      ...{ attemptNumber: 2, maxAttempts: 3, metCount: 1, final_status: 'SUCCESS', row: 'PASS x MET' },
      lastGoalAttempt: { attemptNumber: 2, run_id: second.run_id, status: 'SUCCESS' },
      attempts: [{ attemptNumber: 1, run_id: first.run_id, status: 'PARTIAL' }],
    })
  })

  test('asked again it is the same run; with other words it is refused, and names the run there is', async () => {
    const first = await judge(open, missingDag('manual'), low)
    const next = nextOf(first.run_id)
    expect(await pivot(first.run_id, { feedback: 'a' })).toMatchObject({ status: 201, json: { run_id: next } })
    expect(await pivot(first.run_id, { feedback: 'a' })).toMatchObject({ status: 200, json: { run_id: next } })
    expect(await pivot(first.run_id, { feedback: 'b' })).toMatchObject({
      status: 409,
      json: {
        code: 'pivot_made',
        detail: `Cannot pivot run "${first.run_id}": its next attempt was made with other words or values, as run "${next}". Look at that one; when it ends partial, it can be pivoted in turn.`,
      },
    })
    await open.ended(next)
    expect(await allRuns(open)).toEqual([first.run_id, next])
  })

  test('of ten who pivot it at once all get one run', async () => {
    const first = await judge(open, missingDag('manual'), low)
    const answers = await Promise.all(Array.from({ length: 10 }, () => pivot(first.run_id, { feedback: 'again' })))
    expect(new Set(answers.map(({ json }) => json.run_id))).toEqual(new Set([nextOf(first.run_id)]))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await open.ended(nextOf(first.run_id))
    expect(await allRuns(open)).toHaveLength(2)
    expect(await open.place.world.runs.lineage('main', first.run_id)).toHaveLength(1)
  })

  test('of ten with words of their own one is heard', async () => {
    const first = await judge(open, missingDag('manual'), low)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => pivot(first.run_id, { feedback: `no ${i}` })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    expect(await allRuns(open)).toHaveLength(2)
  })

  test('values are checked as at a start', async () => {
    const first = await judge(open, missingDag('manual'), low)
    expect(await pivot(first.run_id, { inputs: { said: 7 } })).toMatchObject({
      status: 400,
      json: { code: 'invalid_inputs' },
    })
    expect(await pivot(first.run_id, { input: {} })).toMatchObject({ status: 400 })
    expect(await allRuns(open)).toHaveLength(1)
  })
})

describe('a pivot is refused, in words', () => {
  const refused = async (run_id: string) => {
    const { status, json } = await pivot(run_id)
    return [status, json.code, String(json.detail).replace(run_id, 'R')]
  }
  const only = 'Only a run that ended partial with criteria its next attempt may still meet is tried again.'

  test('of a run that reached its goal', async () => {
    const { run_id } = await judge(open, missingDag('manual'), { inputs: { said: HIGH } })
    expect(await refused(run_id)).toEqual([
      409,
      'not_to_pivot',
      `Cannot pivot run "R": it ended completed (SUCCESS, PASS x MET). ${only}`,
    ])
  })

  test('of a run that nobody trusts, and of one that has used up its attempts', async () => {
    const untrusted = await judge(open, missingDag('manual'), { inputs: { said: HIGH, score: 10 } })
    expect(await refused(untrusted.run_id)).toEqual([
      409,
      'not_to_pivot',
      `Cannot pivot run "R": it ended partial (PARTIAL, FAIL x MET), and what it needs is evidence that can be trusted: mend that and retry it. ${only}`,
    ])
    const last = await judge(open, missingDag('manual', { max_goal_attempts: 1 }), low)
    expect(await refused(last.run_id)).toEqual([
      409,
      'not_to_pivot',
      `Cannot pivot run "R": it ended blocked (BLOCKED, PASS x BLOCKED). ${only}`,
    ])
  })

  test('of a run that was stopped, is not over, has no goal, is not there', async () => {
    const waits = { id: 'wait', mode: 'approval', approval: true }
    const dag = { completion: {}, blocks: [waits] }
    const run_id = await open.start(dag)
    await open.until(run_id, ({ type }) => type === 'approval:requested')
    expect(await refused(run_id)).toEqual([
      409,
      'run_not_ended',
      'Cannot pivot run "R": it has not ended. Wait for it with `sluice run watch`, or stop it.',
    ])
    await open.call('stop-run', run_id, {})
    expect(await refused(run_id)).toEqual([
      409,
      'not_to_pivot',
      `Cannot pivot run "R": it ended cancelled, before its completion was judged. ${only}`,
    ])
    const plain = await judge(open, {
      blocks: [{ id: 'a', mode: 'deterministic', deterministic: { handler: 'pass' } }],
    })
    expect(await refused(plain.run_id)).toEqual([
      409,
      'no_goal',
      'Cannot pivot run "R": it has no goal: neither a goal contract nor `completion`. `sluice run retry` starts it again.',
    ])
    expect((await pivot(nextOf(plain.run_id))).status).toBe(404)
  })
})

describe('GET run/goal', () => {
  test('before a run is judged tells what is wanted; of a run without a goal that it has none', async () => {
    const waits = { id: 'wait', mode: 'approval', approval: true, outputs: {} }
    const run_id = await open.start({ goal_contract: contractOf(ACCURACY), blocks: [waits] })
    await open.until(run_id, ({ type }) => type === 'approval:requested')
    expect(await goalOf(open, run_id)).toMatchObject({
      ...{ state: 'paused_approval', goal_text: 'Build model with >= 90% accuracy', contract_from: 'dag' },
      ...{
        criteriaCount: 1,
        metCount: 0,
        attemptNumber: 1,
        maxAttempts: 3,
        final_status: null,
        row: null,
        trust: null,
      },
      criteria: [{ id: 'AC1', kind: 'metric_threshold', status: 'PENDING', actual: null, target: 0.9, source: null }],
      ...{ lastGoalAttempt: null, attempts: [] },
    })
    await open.call('stop-run', run_id, {})
    expect(await goalOf(open, run_id)).toMatchObject({ state: 'cancelled', final_status: 'ABORTED', row: null })
    const plain = await open.start({ blocks: [waits] })
    expect(await open.call('get-goal', plain)).toMatchObject({ status: 404, json: { code: 'no_goal' } })
  })

  test('of completion without a contract tells the gates alone', async () => {
    const { run_id } = await judge(open, judgedDag(undefined), low)
    expect(await goalOf(open, run_id)).toMatchObject({
      ...{ goal_text: null, contract_hash: null, criteriaCount: 0, row: 'PASS x NO_CONTRACT', final_status: 'SUCCESS' },
      trust: { score: 90, passed: true, band: 'VERIFIED' },
    })
  })
})
