import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { Meta } from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import { viewRun } from '../../../shared/views/run.ts'
import {
  decided,
  ended,
  logOf,
  output,
  RUN_ID,
  ready,
  requested,
  retrying,
  runEnded,
  runStarted,
  type Step,
  second,
  started,
  verdict,
} from './event-log.ts'
import { someLog } from './some-log.ts'

const ONE_VOTE = { quorum: 1, edit: [], on_reject: 'fail', max_iterations: 5 } as const

function block(id: string, index: number, upstream: readonly string[] = []): Block {
  const approval = { prompt: `Go on with ${id}?`, show: [], approvers: [], self_approval: true } as const
  return {
    id,
    index,
    name: id,
    mode: 'approval',
    inputs: {},
    outputs: {},
    pre_gates: [],
    post_gates: [],
    gate_composition: { pre: 'all', post: 'all' },
    approval: { ...approval, ...ONE_VOTE, timeout_sec: 60, on_timeout: 'reject' },
    retry: { max_attempts: 3, backoff: 'none', delay_ms: 0, max_delay_ms: 0, jitter: 'none' },
    timeout_ms: 1_000,
    strict_output: false,
    contract_repair_attempts: 0,
    upstream,
    hash: 'h',
  }
}

const dag: Dag = {
  name: 'brief',
  inputs: {},
  blocks: [block('build', 0), block('constructor', 1), block('toString', 2, ['build']), block('7', 3, ['build'])],
}

const meta: Meta = {
  tenant: 'main',
  run_id: RUN_ID,
  dag_name: 'brief',
  dag_hash: 'd',
  dag_ref: 'objstore://main/d',
  machine: 'local:d',
  starter: 'user:ana',
  created_at: second(0),
  body_hash: 'b',
  inputs_hash: 'i',
  overrides: {},
  options: { max_parallel: 50, fail_fast: false, deadline_sec: 3_600 },
  blocks: 4,
}

const view = (events: readonly RunEvent[], approvals: readonly ApprovalItem[] = [], now = Date.parse(second(50))) =>
  viewRun({
    meta,
    dag,
    head: { deadline_at: second(3_600), budget: NOTHING_SPENT, stored_bytes: 700 },
    events,
    approvals,
    now,
    max_attempts: 5,
    max_run_bytes: 1_000,
  })

function withItems(step: Step, count: number): Step {
  if (step.event.type !== 'block:started') return step
  const items = { count, inputs_ref: 'objstore://main/i' }
  return { ...step, event: { ...step.event, data: { ...step.event.data, items } } }
}

const done = (id: string) => [started(id, 1), ended(id, 1, 'completed')]

const NOTHING_SPENT = { committed_tokens: 0, committed_usd_micros: 0, spent_tokens: 0, spent_usd_micros: 0 }

describe('viewRun()', () => {
  test('has every block of the DAG, pending ones too, with the tries it has', () => {
    const { blocks } = view(logOf([runStarted, ready('build'), started('build', 1), output('build', 1)]))
    expect(Object.keys(blocks).sort()).toEqual(['7', 'build', 'constructor', 'toString'])
    expect(blocks.constructor).toEqual({
      state: 'pending',
      attempt: 0,
      max_attempts: 3,
      epoch: 0,
      gates: [],
      tokens: 0,
      usd: null,
    })
    expect(blocks.build).toMatchObject({
      state: 'running',
      attempt: 1,
      max_attempts: 3,
      started_at: second(3),
      output_ref: 'objstore://main/build.also',
      tokens: 15,
      usd: 0.00025,
    })
  })

  test('says what the run is, where its parts are and what it cost in usd', () => {
    const { run, links, dag: document } = view(logOf([runStarted, started('build', 1), output('build', 1)]))
    expect(run).toEqual({
      run_id: RUN_ID,
      dag_name: 'brief',
      dag_hash: 'd',
      role: 'root',
      state: 'running',
      waiting_for: 'block build: attempt 1 of 3, running for 48 s',
      starter: 'user:ana',
      created_at: second(0),
      started_at: second(1),
      deadline: second(3_600),
      tokens: 15,
      usd: 0.00025,
      budget: { committed_tokens: 0, committed_usd: 0, spent_tokens: 0, spent_usd: 0 },
      storage: { stored_bytes: 700, quota_bytes: 1_000 },
      last_seq: 3,
    })
    expect(links).toMatchObject({ self: `/api/dag/runs/${RUN_ID}`, events: `/api/dag/runs/${RUN_ID}/events` })
    expect(document).toBe(dag)
  })

  test('an unknown price is null, not zero', () => {
    const { run, blocks } = view(logOf([runStarted, started('build', 1), output('build', 1, null)]))
    expect([run.usd, blocks.build?.usd]).toEqual([null, null])
  })

  test('after the end blocks that never moved are cancelled, and nothing is waited for', () => {
    const { run, blocks, steps } = view(logOf([runStarted, started('build', 1), runEnded('cancelled')]))
    expect(run).toMatchObject({ state: 'cancelled', code: 'run_cancelled', reason: 'because', ended_at: second(3) })
    expect(run).not.toHaveProperty('waiting_for')
    expect(Object.values(blocks).map(({ state }) => state)).toEqual(Array(4).fill('cancelled'))
    expect(steps).toMatchObject([{ index: 1, block_id: 'build', state: 'cancelled', started_seq: 2, ended_seq: 3 }])
  })

  test('is the fold of the events, whatever they are', () => {
    fc.assert(
      fc.property(someLog, (log) => {
        const [fold, answer] = [foldRun(log), view(log)]
        expect(answer.steps).toEqual(fold.steps)
        expect(answer.run.last_seq).toBe(log.length)
        // Both are running runs, as one sees them.
        const { state: told } = answer.run
        expect(told === 'paused_approval' || told === 'waiting' ? 'running' : told).toBe(fold.state)
        for (const [id, { state, attempt, gates }] of Object.entries(fold.blocks)) {
          expect(answer.blocks[id]).toMatchObject({ state, attempt, gates })
        }
        expect(answer.run.waiting_for === undefined || fold.state === 'running').toBe(true)
      }),
    )
  })
})

describe('what a run waits for', () => {
  const asked = [runStarted, ...done('build'), ...done('constructor'), ...done('toString'), ready('7'), requested('7')]

  test('only for a person: paused_approval, saying since when', () => {
    const { run } = view(logOf(asked))
    expect(run.state).toBe('paused_approval')
    expect(run.waiting_for).toBe(`waiting for approval of 7 since ${second(9)}`)
  })

  test('not while another block runs, tries again, is ready or is about to start', () => {
    const [before, both] = [
      [runStarted, ready('7'), requested('7')],
      [...done('build'), ...done('constructor')],
    ]
    expect(view(logOf(before)).run.state).toBe('running')
    expect(view(logOf([...before, ...both])).run.state).toBe('running')
    for (const last of [ready('toString'), started('toString', 1), retrying('toString', 1)]) {
      expect(view(logOf([...before, ...both, last])).run.state).toBe('running')
    }
    expect(view(logOf([...before, ...both, ...done('toString')])).run.state).toBe('paused_approval')
    expect(view(logOf([...before, ...both, ended('toString', 1, 'failed')])).run.state).toBe('paused_approval')
  })

  test('not any more once somebody decided', () => {
    const { run } = view(logOf([...asked, decided('7', 'approve')]))
    expect([run.state, run.waiting_for]).toEqual(['running', `block 7: ready to start since ${second(10)}`])
  })

  test('a try beyond those of its retry, since one was lost, in words', () => {
    const tries = [1, 2, 3].flatMap((n) => [
      started('build', n),
      retrying('build', n, 60, n === 2 ? 'ATTEMPT_LOST' : undefined),
    ])
    expect(view(logOf([runStarted, ...tries, started('build', 4)])).run.waiting_for).toBe(
      'block build: attempt 4 (try 3 of 3; attempts that were no try: 1), running for 42 s',
    )
  })

  test('the items of a fan-out, counted, of its newest attempt only', () => {
    const of = (item: number, step: Step): Step => ({ ...step, lane: `0.${item}`, event: { ...step.event, item } })
    const first = withItems(started('build', 1), 3)
    const some = [of(0, started('build', 1)), of(0, ended('build', 1, 'completed')), of(1, started('build', 1))]
    const { run, blocks } = view(logOf([runStarted, first, ...some]))
    expect(run.waiting_for).toBe('block build: attempt 1 of 3, 1 of 3 items done, running for 48 s')
    expect(blocks.build).toMatchObject({
      state: 'running',
      item_count: 3,
      items: { 0: { state: 'completed' }, 1: { state: 'running' } },
    })
    const again = view(logOf([runStarted, first, ...some, withItems(started('build', 2), 3)]))
    expect(again.run.waiting_for).toBe('block build: attempt 2 of 3, 0 of 3 items done, running for 44 s')
  })

  test('a try again in words, with the time that is left', () => {
    const log = logOf([runStarted, started('build', 2), verdict('build', 2, 'failed'), retrying('build', 2, 54)])
    expect(view(log).run.waiting_for).toBe(
      `block build: attempt 2 of 3, provider timeout, next try in 4 s, waiting since ${second(4)}`,
    )
    expect(view(log, [], Date.parse(second(99))).run.waiting_for).toContain('next try due now')
  })

  test('people first, then blocks, at most three told', () => {
    const log = logOf([
      runStarted,
      requested('build'),
      started('constructor', 1),
      started('toString', 1),
      started('7', 1),
    ])
    expect(view(log).run.waiting_for).toBe(
      `waiting for approval of build since ${second(2)}; block constructor: attempt 1 of 3, running for 47 s; block toString: attempt 1 of 3, running for 46 s; and 1 more`,
    )
  })
})

describe('approvals', () => {
  const item: ApprovalItem = {
    id: 'apr_7',
    block: 3,
    block_id: '7',
    prompt: 'Really?',
    shown: { text: { ref: 'objstore://main/x', sha256: 'x', bytes: 1 } },
    digest: 'g',
    requested_at: second(2),
    expires_at: second(1_800),
    on_timeout: 'reject',
    approvers: [],
    self_approval: true,
  }

  test('tell what was shown, who decided and never the token', () => {
    const answer = view(logOf([runStarted, requested('7'), decided('7', 'reject')]), [item])
    expect(answer.approvals).toMatchObject([
      {
        approval_id: 'apr_7',
        block_id: '7',
        status: 'rejected',
        digest: 'g',
        prompt: 'Really?',
        shown: item.shown,
        decided_by: 'user:bo',
        via: 'cli',
      },
    ])
    expect(JSON.stringify(answer)).not.toContain('secret-token')
  })

  test("without the item the prompt is the document's", () => {
    const [approval] = view(logOf([runStarted, requested('7')])).approvals
    expect(approval).toMatchObject({ status: 'pending', prompt: 'Go on with 7?', shown: {} })
  })
})
