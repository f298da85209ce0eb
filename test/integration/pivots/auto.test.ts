import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readPinned } from '../../../functions/record/pinned-run.ts'
import { makePivotRun } from '../../../functions/runs/goal-pivot.ts'
import type { GoalEvaluation } from '../../../shared/goals/completion.ts'
import { childOf, deployDocument, child as outer } from '../child-place.ts'
import { ACCURACY, contractOf, type Judged, judge, judgedRun, openGoalPlace, QUIET } from '../goals/goal-place.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'
import { allRuns, endOf, goalOf, HIGH, keyOf, LOW, learningDag, missingDag, nextOf, problemsOf } from './pivot-place.ts'

let open: TestPlace
beforeEach(async () => {
  open = await openGoalPlace()
})
afterEach(() => open.close())

const low = { inputs: { said: LOW } }

/** The run and all that tried its goal again by themselves, each at its end. */
async function chainFrom(run_id: string): Promise<readonly Judged[]> {
  const run = await judgedRun(open, run_id)
  const next = run.end.data.next_run
  return next === undefined ? [run] : [run, ...(await chainFrom(next))]
}

const numbers = (chain: readonly Judged[]) => chain.map(({ evaluated }) => evaluated?.data.attempt)
const ends = (chain: readonly Judged[]) => chain.map(({ end }) => end.data.final_status)
const attemptsOf = (root: string) => open.place.world.runs.goalAttempts('main', root)

describe('completion.pivot: auto', () => {
  test('tries again until the last attempt, which is BLOCKED', async () => {
    const chain = await chainFrom(await open.start(missingDag('auto', { max_goal_attempts: 2 }), low))
    expect(ends(chain)).toEqual(['PARTIAL', 'BLOCKED'])
    expect(numbers(chain)).toEqual([1, 2])
    const [first, last] = chain.map(({ run_id }) => run_id)
    expect(chain[0]?.end).toMatchObject({ type: 'run:partial', data: { next_run: nextOf(first ?? '') } })
    expect(chain[1]?.evaluation?.goal.blockers).toEqual(['Maximum attempts reached'])
    expect(chain[1]?.end.data.reason).toContain('Maximum attempts reached')
    expect(await allRuns(open)).toEqual([first, last])
    expect(await attemptsOf(first ?? '')).toMatchObject([{ n: 1, run_id: first, status: 'PARTIAL', unmet: ['AC1'] }])
    for (const run_id of await allRuns(open)) expect(await problemsOf(open, run_id)).toEqual([])
  })

  test('a goal met on the last attempt is SUCCESS', async () => {
    const better = `$contains(inputs.feedback, 'Attempt 2 of 3') ? '${HIGH}' : inputs.said`
    const chain = await chainFrom(await open.start(learningDag(better), low))
    expect(ends(chain)).toEqual(['PARTIAL', 'PARTIAL', 'SUCCESS'])
    expect(numbers(chain)).toEqual([1, 2, 3])
    const last = chain[2]?.run_id ?? ''
    expect(await goalOf(open, last)).toMatchObject({ attemptNumber: 3, maxAttempts: 3, metCount: 1, row: 'PASS x MET' })
    expect((await goalOf(open, last)).attempts).toHaveLength(2)
  })

  test('a criterion that two distinct approaches failed before is out of reach, however many attempts are left', async () => {
    const chain = await chainFrom(await open.start(missingDag('auto', { max_goal_attempts: 9 }), low))
    expect(ends(chain)).toEqual(['PARTIAL', 'PARTIAL', 'BLOCKED'])
    const { completion, goal } = chain[2]?.evaluation ?? ({} as GoalEvaluation)
    expect(goal.blockers).toEqual([expect.stringMatching(/^Unachievable: /)])
    expect(completion.pivot).toMatchObject({
      shouldPivot: false,
      unachievable: ['AC1'],
      attemptNumber: 3,
      maxAttempts: 9,
    })
    const prints = (await attemptsOf(chain[0]?.run_id ?? '')).map(({ fingerprint }) => fingerprint)
    expect(new Set(prints).size).toBe(2)
  })

  test('nothing is tried again where only trust is missing', async () => {
    const chain = await chainFrom(await open.start(missingDag('auto'), { inputs: { said: HIGH, score: 10 } }))
    expect(chain.map(({ end }) => [end.type, end.data.row])).toEqual([['run:partial', 'FAIL x MET']])
    expect(await attemptsOf(chain[0]?.run_id ?? '')).toEqual([])
  })

  test('an untrusted miss counts, and is tried again', async () => {
    const chain = await chainFrom(
      await open.start(missingDag('auto', { max_goal_attempts: 2 }), { inputs: { said: LOW, score: 10 } }),
    )
    expect(chain.map(({ end }) => end.data.row)).toEqual(['FAIL x NOT_MET', 'FAIL x BLOCKED'])
  })

  test('needs no second place among the active runs', async () => {
    await open.close()
    open = await openTestPlace(QUIET, { safety: { max_runs: 1 } })
    const chain = await chainFrom(await open.start(missingDag('auto'), low))
    expect(ends(chain)).toEqual(['PARTIAL', 'PARTIAL', 'BLOCKED'])
  })

  test('a person who pivots it, too, gets the run that was made; with other words, its id', async () => {
    const run_id = await open.start(missingDag('auto'), low)
    const [, second] = await chainFrom(run_id)
    expect(await open.call('pivot-run', run_id, {})).toMatchObject({ status: 200, json: { run_id: second?.run_id } })
    expect(await open.call('pivot-run', run_id, { feedback: 'no' })).toMatchObject({
      status: 409,
      json: { code: 'pivot_made' },
    })
  })
})

describe('attempts', () => {
  test('of the same approach are no other approach: a goal retried as it was is not out of reach', async () => {
    const first = await judge(open, missingDag('manual', { max_goal_attempts: 9 }), low)
    let last = first
    for (let i = 0; i < 3; i += 1) {
      const { json } = await open.call('retry-run', last.run_id, {})
      last = await judgedRun(open, String(json.run_id))
    }
    const attempts = await attemptsOf(first.run_id)
    expect(attempts.map(({ n }) => n)).toEqual([1, 2, 3, 4])
    expect(new Set(attempts.map(({ fingerprint }) => fingerprint)).size).toBe(1)
    expect(last.evaluation?.completion.pivot).toMatchObject({ shouldPivot: true, unachievable: [], attemptNumber: 4 })
    await open.call('pivot-run', last.run_id, { feedback: 'x' })
    expect((await judgedRun(open, nextOf(last.run_id))).end.data.final_status).toBe('PARTIAL')
    await open.call('pivot-run', nextOf(last.run_id), { feedback: 'y' })
    expect((await judgedRun(open, nextOf(nextOf(last.run_id)))).end.data.reason).toContain('Unachievable')
  })

  test('survive a restart and a kill of the place', async () => {
    const first = await judge(open, missingDag('manual', { max_goal_attempts: 3 }), low)
    await open.reopen()
    await open.call('pivot-run', first.run_id, { feedback: 'x' })
    const second = await judgedRun(open, nextOf(first.run_id))
    expect(second.evaluated?.data.attempt).toBe(2)
    await open.kill()
    await open.call('pivot-run', second.run_id, { feedback: 'y' })
    const third = await judgedRun(open, nextOf(second.run_id))
    expect(third.evaluated?.data).toMatchObject({ attempt: 3, status: 'BLOCKED' })
  })

  test('of ten runs of one lineage that end at once have ten numbers', async () => {
    const first = await judge(open, missingDag('manual', { max_goal_attempts: 99 }), low)
    const retries = await Promise.all(Array.from({ length: 9 }, () => open.call('retry-run', first.run_id, {})))
    const judged = await Promise.all(retries.map(({ json }) => judgedRun(open, String(json.run_id))))
    const told = [first, ...judged].map(({ evaluated }) => evaluated?.data.attempt ?? 0)
    expect(told.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const kept = (await attemptsOf(first.run_id)).map(({ n, run_id }) => [run_id, n])
    expect(new Map([first, ...judged].map(({ run_id }, i) => [run_id, told[i]]))).toEqual(
      new Map(kept as [string, number][]),
    )
  })
})

test('a run that was made to try again and is not named by the end of the other is cancelled, and leaves nothing', async () => {
  const asks = { id: 'wait', mode: 'approval', approval: true }
  const run_id = await open.start({
    goal_contract: contractOf(ACCURACY),
    completion: { pivot: 'auto' },
    blocks: [asks],
  })
  await open.until(run_id, ({ type }) => type === 'approval:requested')
  const pivot = { shouldPivot: true, suggestions: [], unachievable: [], attemptNumber: 1, maxAttempts: 3 }
  const evaluation = { completion: { final_status: 'PARTIAL', met_count: 0, total_count: 1, pivot } }
  const { world } = open.place
  // As a settlement that came to its end too late: somebody stops the run first.
  const made = await makePivotRun(world, keyOf(run_id), await readPinned(world, keyOf(run_id)), evaluation as never)
  expect(made).toBe(nextOf(run_id))
  expect(await world.runs.head(keyOf(made ?? ''))).toMatchObject({ state: 'running', queued: true, outbox: [] })
  await open.call('stop-run', run_id, {})
  await world.runs.moveCheck(
    keyOf(made ?? ''),
    (await world.runs.head(keyOf(made ?? '')))?.check_at ?? '',
    new Date().toISOString(),
  )
  expect(endOf(await open.ended(made ?? ''))).toMatchObject({ type: 'run:cancelled', code: 'not_pivoted' })
  expect(await world.runs.lineage('main', run_id)).toEqual([])
})

test('a child run does not pivot: its parent waits for it alone, and fails naming how far it came', async () => {
  deployDocument(open, 'inner', (missingDag('auto') as { blocks: object[] }).blocks, {
    ...(missingDag('auto') as object),
  })
  const parent = await open.start(
    { blocks: [outer('sub', 'inner', { inputs: { said: 'string' }, outputs: { score: 'number' } })] },
    low,
  )
  expect(endOf(await open.ended(parent))).toMatchObject({ type: 'run:failed', code: 'child_partial' })
  const child = await childOf(open, parent, 'sub')
  const { end } = await judgedRun(open, child)
  expect(end).toMatchObject({ type: 'run:partial' })
  expect(end.data).not.toHaveProperty('next_run')
  const { status, json } = await open.call('pivot-run', child, {})
  expect([status, json.code, json.detail]).toEqual([
    409,
    'run_is_child',
    `Cannot pivot run "${child}": it is the child of a block of run "${parent}", which alone waits for it. Retry or pivot that one.`,
  ])
})

test('a model is asked again, with what the attempt before missed', async () => {
  await open.close()
  const feedback: (readonly string[])[] = []
  const probe = provider((request) => {
    feedback.push([...(request.feedback ?? [])])
    return feedback.length === 1 ? LOW : HIGH
  })
  open = await openTestPlace({ ...QUIET, providers: { probe } })
  const [, verify] = (missingDag('auto') as { readonly blocks: readonly object[] }).blocks
  const work = { id: 'work', outputs: { text: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'Work.' } }
  const chain = await chainFrom(await open.start({ ...missingDag('auto'), inputs: SCORE, blocks: [work, verify] }))
  expect(ends(chain)).toEqual(['PARTIAL', 'SUCCESS'])
  expect(feedback).toEqual([[], [expect.stringMatching(/^Attempt 1 of 3 did not reach the goal/)]])
})

const SCORE = { score: { type: 'number', default: 90 } }
