import { expect, test } from 'vitest'
import { attemptAndWaitSpans } from '../../../clients/console/run/session/critical-path.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'

/** Events from 1 on; data as little as the fold reads. */
function eventsOf(...rows: readonly (readonly [type: string, block_id: string, data?: object])[]): readonly RunEvent[] {
  const at = '2026-01-01T00:00:00.000Z'
  return rows.map(
    ([type, block_id, data = {}], n) =>
      ({ seq: n + 1, id: `l/${n}/0`, run_id: 'run_x', at, type, block_id, attempt: 1, data }) as unknown as RunEvent,
  )
}

const ASKED = { approval_id: 'apr_1', approvers: [], quorum: 1, digest: '', expires_at: '' }
const YES = { approval_id: 'apr_1', decision: 'approve', by: { kind: 'user', id: 'ada' }, have: 1, need: 1 }

test('an attempt lasts from its start to its end, a question from being asked to being decided', () => {
  const events = eventsOf(
    ['approval:requested', 'ship', ASKED],
    ['approval:decided', 'ship', YES],
    ['block:started', 'ship'],
    ['block:completed', 'ship'],
  )
  expect(attemptAndWaitSpans(foldRun(events), events)).toEqual([
    { key: 'step 1', block_id: 'ship', started_seq: 3, ended_seq: 4 },
    { key: 'apr_1', block_id: 'ship', started_seq: 1, ended_seq: 2 },
  ])
})

test('what goes on has no end, also when later events are known but not shown', () => {
  const events = eventsOf(['approval:requested', 'ship', ASKED], ['approval:decided', 'ship', YES])
  expect(attemptAndWaitSpans(foldRun(events.slice(0, 1)), events)).toEqual([
    { key: 'apr_1', block_id: 'ship', started_seq: 1 },
  ])
})

test('a question nobody decided was open until the end of the run', () => {
  const events = eventsOf(['approval:requested', 'ship', ASKED], ['run:cancelled', '', { code: 'c', reason: 'r' }])
  expect(attemptAndWaitSpans(foldRun(events), events)).toMatchObject([{ key: 'apr_1', ended_seq: 2 }])
})

test('items, and questions in the middle of an attempt, are inside it', () => {
  const started = eventsOf(
    ['block:started', 'each', { items: { count: 1, inputs_ref: '' } }],
    ['block:started', 'each'],
    ['approval:requested', 'each', { ...ASKED, about: 'post_gates' }],
  )
  const events = started.map((event, n) => (n === 1 ? { ...event, id: '0.0/1/0' } : event))
  expect(foldRun(events).steps.map(({ item }) => item)).toEqual([undefined, 0])
  expect(attemptAndWaitSpans(foldRun(events), events).map(({ key }) => key)).toEqual(['step 1'])
})
