import { expect, test } from 'vitest'
import { timelineRows } from '../../../clients/console/run/timeline/timeline-rows.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { ApprovalFold, RunFold, StepFold } from '../../../shared/runs/run-fold.ts'

const at = (second: number) => new Date(second * 1_000).toISOString()
const NOTHING = foldRun([])

function step(index: number, block_id: string, from: number, to?: number, more: Partial<StepFold> = {}): StepFold {
  const ended = to === undefined ? {} : { ended_seq: to, ended_at: at(to) }
  const state = to === undefined ? 'running' : 'completed'
  return { index, block_id, epoch: 0, attempt: 1, state, started_seq: from, started_at: at(from), ...ended, ...more }
}

function asked(block_id: string, from: number, more: Partial<ApprovalFold> = {}): RunFold['approvals'] {
  const ask = {
    approval_id: 'apr_1',
    block_id,
    status: 'pending',
    requested_at: at(from),
    digest: '',
    quorum: 1,
  } as const
  return { apr_1: { ...ask, expires_at: '', approvers: [], ...more } }
}

test('lanes come in the order in which their blocks began, waits for people as bars of their own', () => {
  const steps = [step(1, 'plan', 1, 2), step(2, 'build', 9, 10)]
  const approvals = asked('build', 3, { status: 'approved', decided_at: at(8) })
  const lanes = timelineRows({ ...NOTHING, steps, approvals }, new Set(['step 1']))
  expect(lanes.map(({ block_id, bars }) => [block_id, bars.map(({ kind, from, to }) => [kind, from, to])])).toEqual([
    ['plan', [['work', 1_000, 2_000]]],
    [
      'build',
      [
        ['person', 3_000, 8_000],
        ['work', 9_000, 10_000],
      ],
    ],
  ])
  expect(lanes.flatMap(({ bars }) => bars.map(({ is_critical }) => is_critical))).toEqual([true, false, false])
})

test('what goes on has no end; a question that was cancelled ends with its run', () => {
  const open = timelineRows({ ...NOTHING, steps: [step(1, 'plan', 1)], approvals: asked('ship', 2) }, new Set())
  expect(open.map(({ bars }) => bars[0]?.to)).toEqual([undefined, undefined])
  const over = { ...NOTHING, ended_at: at(7), approvals: asked('ship', 2, { status: 'cancelled' }) }
  expect(timelineRows(over, new Set())[0]?.bars[0]).toMatchObject({ to: 7_000, state: 'cancelled' })
})

test('tries of one block share its lane, items lie beneath', () => {
  const steps = [
    step(1, 'each', 1, 5, { state: 'failed' }),
    step(2, 'each', 2, 4, { item: 0 }),
    step(3, 'each', 6, 8, { attempt: 2 }),
  ]
  const [lane, ...others] = timelineRows({ ...NOTHING, steps }, new Set())
  expect(others).toEqual([])
  expect(lane?.bars.map(({ attempt, state }) => [attempt, state])).toEqual([
    [1, 'failed'],
    [2, 'completed'],
  ])
  expect(lane?.items).toEqual([{ from: 2_000, to: 4_000, state: 'completed' }])
})

test('a question in the middle of a critical attempt is critical too', () => {
  const approvals = asked('ship', 3, { about: 'post_gates' })
  const lanes = timelineRows({ ...NOTHING, steps: [step(1, 'ship', 1)], approvals }, new Set(['step 1']))
  expect(lanes[0]?.bars.map(({ kind, is_critical }) => [kind, is_critical])).toEqual([
    ['work', true],
    ['person', true],
  ])
})
