import { describe, expect, test } from 'vitest'
import { contractWithDefaults } from '../../../shared/goals/goal-contract.ts'
import type { StoredGoalAttempt } from '../../../shared/runs/run-store.ts'
import { viewGoal } from '../../../shared/views/goal.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

const GIVEN = contractOf(ACCURACY, { kind: 'marker_required', marker: 'LIMITATION' })
const CONTRACT = contractWithDefaults({ ...GIVEN, max_goal_attempts: 5 })
const ANY_COUNT = contractWithDefaults(contractOf({ kind: 'finding_count', minCount: 0 }))
const at = (minute: number) => `2026-11-22T10:0${minute}:00.000Z`
const stored = (n: number, run_id: string, minute: number): StoredGoalAttempt => ({
  ...{ n, run_id, at: at(minute), status: 'PARTIAL', fingerprint: `f${n}`, unmet: ['AC1'] },
  ...{ metCount: n, totalCount: 2 },
})
const shown = (n: number, run_id: string, minute: number) => ({
  ...{ attemptNumber: n, run_id, at: at(minute), status: 'PARTIAL', metCount: n, totalCount: 2 },
})

type Parts = Parameters<typeof viewGoal>[0]
const PARTS: Parts = {
  run_id: 'run_b',
  state: 'running',
  goal: { completion: { quality: 'standard', pivot: 'manual', contract: 'optional' } },
  contract: undefined,
  judged: undefined,
  attempts: [],
  lineage: [],
  end: undefined,
}
const end = (type: string, data: object = {}): Parts['end'] =>
  // Of an event only its type and data are read.
  ({ type, data: { code: 'c', reason: 'r', final_status: 'FAILED', ...data } }) as Parts['end']

describe('the goal of a run that is not judged yet', () => {
  test('without a contract says so, and nothing else', () => {
    expect(viewGoal(PARTS)).toEqual({
      ...{ run_id: 'run_b', state: 'running', contract_hash: null, contract_from: null, goal_text: null },
      ...{ criteriaCount: 0, metCount: 0, attemptNumber: 1, maxAttempts: 3, criteria: [] },
      ...{ trust: null, quality: null, row: null, pivot: null, warnings: [], final_status: null },
      ...{ lastGoalAttempt: null, attempts: [] },
    })
  })

  test('has what is wanted, each criterion with its target', () => {
    const goal = { ...PARTS.goal, contract_hash: 'abc', source: 'request' as const }
    const pending = { status: 'PENDING', actual: null, message: 'it is not judged yet', source: null }
    expect(viewGoal({ ...PARTS, goal, contract: CONTRACT })).toMatchObject({
      ...{ contract_hash: 'abc', contract_from: 'request', goal_text: 'Reach it', criteriaCount: 2, maxAttempts: 5 },
      criteria: [
        { id: 'AC1', kind: 'metric_threshold', target: 0.9, ...pending },
        { id: 'AC2', kind: 'marker_required', target: 'LIMITATION', ...pending },
      ],
    })
    expect(viewGoal({ ...PARTS, contract: ANY_COUNT }).criteria[0]?.target).toBe(0)
  })

  test('counts the attempts before it, and knows the newest', () => {
    const attempts = [stored(1, 'run_x', 2), stored(2, 'run_a', 1)]
    expect(viewGoal({ ...PARTS, attempts })).toMatchObject({
      attemptNumber: 3,
      attempts: [shown(1, 'run_x', 2), shown(2, 'run_a', 1)],
      lastGoalAttempt: shown(1, 'run_x', 2),
    })
    expect(viewGoal({ ...PARTS, attempts, run_id: 'run_x' }).attemptNumber).toBe(1)
  })

  test.each([
    [end('run:failed'), 'FAILED'],
    [end('run:cancelled', { final_status: 'ABORTED' }), 'ABORTED'],
    [end('run:started'), null],
    [end('block:failed'), null],
  ])('ended as its last event says: %j', (last, final_status) => {
    expect(viewGoal({ ...PARTS, end: last }).final_status).toBe(final_status)
  })
})

describe('the goal of a run that was judged', () => {
  const { completion, goal, trust } = evaluated({ contract: GIVEN, output: '[LIMITATION] x', trust: 70 })
  const judged: NonNullable<Parts['judged']> = {
    event: { at: at(5) },
    evaluation: { completion, goal, trust, request: { texts: [], artifacts: [], trust_scores: [] } },
  }
  const ended = end('run:partial', { final_status: 'PARTIAL' })
  const view = (more: Partial<Parts> = {}) => viewGoal({ ...PARTS, contract: CONTRACT, judged, end: ended, ...more })

  test('is what the gates said, with its warnings and who starts the next attempt', () => {
    expect(view()).toMatchObject({
      ...{ run_id: 'run_b', goal_text: 'Reach it', criteriaCount: 2, metCount: 1, attemptNumber: 1, maxAttempts: 3 },
      criteria: [
        { id: 'AC1', kind: 'metric_threshold', status: 'NOT_MET', target: 0.9 },
        { id: 'AC2', kind: 'marker_required', status: 'MET' },
      ],
      trust: { score: 70, passed: false, band: 'PARTIAL' },
      quality: { score: 100, violations: [] },
      ...{ row: 'FAIL x NOT_MET', final_status: 'PARTIAL', warnings: completion.warnings },
      lastGoalAttempt: { ...shown(1, 'run_b', 5), metCount: 1 },
    })
    expect(view().pivot).toEqual({ mode: 'manual', ...completion.pivot })
    expect(view({ contract: undefined }).goal_text).toBeNull()
  })

  test('the newest attempt of the lineage may be a later one', () => {
    expect(view({ attempts: [stored(1, 'run_b', 5), stored(2, 'run_c', 7)] }).lastGoalAttempt).toEqual(
      shown(2, 'run_c', 7),
    )
  })

  test('is not over before the run is: there is no final status and no pivot yet', () => {
    const attempts = [stored(1, 'run_a', 3), stored(2, 'run_b', 5)]
    const open = view({ attempts, end: undefined })
    expect(open).toMatchObject({ final_status: null, row: 'FAIL x NOT_MET', pivot: { shouldPivot: false } })
    expect(open.lastGoalAttempt).toEqual(shown(2, 'run_b', 5))
    expect(view({ attempts: [stored(1, 'run_a', 3)], end: undefined }).lastGoalAttempt).toEqual(shown(1, 'run_a', 3))
  })

  test('ended as the run did, whatever was noted of it before', () => {
    const stopped = end('run:cancelled', { final_status: 'ABORTED' })
    const noted = stored(1, 'run_b', 8)
    const { final_status, pivot, lastGoalAttempt } = view({ attempts: [noted], end: stopped })
    expect([final_status, pivot?.shouldPivot, lastGoalAttempt?.status]).toEqual(['ABORTED', false, 'ABORTED'])
    expect(lastGoalAttempt).toMatchObject({ run_id: 'run_b', at: at(5) })
  })

  test('a run that ended partial without an attempt left is not tried again', () => {
    const { completion: used } = evaluated({ contract: { ...GIVEN, max_goal_attempts: 1 } })
    const evaluation = { ...judged.evaluation, completion: used }
    expect(view({ judged: { ...judged, evaluation } }).pivot?.shouldPivot).toBe(false)
    expect(view().pivot?.shouldPivot).toBe(true)
  })

  test.each([
    ['its last event names', { end: end('run:partial', { next_run: 'run_c' }) }, 'run_c'],
    ['was made from it', { lineage: [link('run_d', 'run_b', 'pivot')] }, 'run_d'],
    ['is named, before one that was made', both('run_c'), 'run_c'],
    ['is none, where others were made', { lineage: [link('run_d', 'run_a', 'pivot')] }, undefined],
    ['is none, where it was only retried', { lineage: [link('run_d', 'run_b', 'retry')] }, undefined],
  ])('the run that tries again %s', (_, parts: Partial<Parts>, next_run) => {
    expect(view(parts).pivot?.next_run).toBe(next_run)
  })

  function link(run_id: string, from: string, kind: 'pivot' | 'retry') {
    return { run_id, from, kind, at: at(6) }
  }
  function both(next_run: string): Partial<Parts> {
    return { end: end('run:partial', { next_run }), lineage: [link('run_d', 'run_b', 'pivot')] }
  }
})
