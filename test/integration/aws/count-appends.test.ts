import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import { withRunMetrics } from '../../../functions/aws/run-store/run-metrics.ts'
import { openRunStore } from '../../../infra/local/run-store/run-store.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'
import { type RunStore, runsPool } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, ready, step } from '../../conformance/run-store-fixture.ts'

/** What the store says of itself, on a real store: metrics by stage, from events it took and from nothing else. */
const NOW = Date.UTC(2026, 0, 1)
const lines: string[] = []
let store: RunStore
beforeEach(() => {
  lines.length = 0
  const write = (line: string) => void lines.push(line)
  store = withRunMetrics(openRunStore(new DatabaseSync(':memory:')), { stage: 'dev', now: () => NOW, write })
})

/** The values of the lines since the last look. */
function said(): readonly object[] {
  return lines.splice(0).map((line) => {
    const { _aws, stage, ...values } = JSON.parse(line)
    const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics
    expect([Namespace, Dimensions, stage, _aws.Timestamp]).toEqual(['Sluice', [['stage']], 'dev', NOW])
    expect(Metrics.map(({ Name }: { Name: string }) => Name)).toEqual(Object.keys(values))
    return values
  })
}

const run = newRun(1)
const key = keyOf(run.meta)

async function told(...events: readonly NewEvent[]): Promise<readonly object[]> {
  await store.create(run)
  said()
  expect(await store.append(step(key, '0', at(1, 10), { events }))).toMatchObject({ ok: true })
  return said()
}

test('a run is counted when it is made, once, and at its end', async () => {
  await store.create(run)
  await store.create(run)
  expect(said()).toEqual([{ runs_started: 1 }])
  await store.append(ending(key))
  expect(said()).toEqual([{ runs_cancelled: 1 }])
  expect(await store.append(ending(key))).toMatchObject({ ok: false })
  expect(said()).toEqual([])
})

test('an event that is no figure writes no line', async () => {
  expect(await told(ready('plan'))).toEqual([])
})

const ANSWER = {
  outputs: {},
  provider: 'p',
  model: 'm',
  params_hash: 'h',
  prompt_hash: 'h',
  tokens_in: 1_000,
  tokens_out: 200,
  usd_micros: 2_500,
  latency_ms: 812,
  finish_reason: 'stop',
}

test('an answer of a provider: its time, tokens and money', async () => {
  expect(await told({ type: 'block:output', block_id: 'plan', attempt: 1, data: ANSWER })).toEqual([
    { provider_ms: 812, tokens: 1_200, usd: 0.0025 },
  ])
})

test('the time that a block waited is none of a provider', async () => {
  const data = { ...ANSWER, provider: 'wait', model: 'event', tokens_in: 0, tokens_out: 0, usd_micros: 0 }
  expect(JSON.stringify(await told({ type: 'block:output', block_id: 'plan', attempt: 1, data }))).not.toContain('ms')
})

test('gates that hold and that do not, a throttled try, a failed block', async () => {
  const gate = (status: 'passed' | 'failed' | 'error' | 'waived'): NewEvent => ({
    type: 'block:gate',
    block_id: 'plan',
    data: { gate: 'g', type: 'regex', phase: 'post', status, reason: 'r', input_hash: 'h', facts: {}, duration_ms: 1 },
  })
  const retrying: NewEvent = {
    type: 'block:retrying',
    block_id: 'plan',
    data: { code: 'provider_throttled', reason: '429', due_at: run.meta.created_at },
  }
  const failed: NewEvent = { type: 'block:failed', block_id: 'plan', data: { code: 'c', reason: 'r' } }
  expect(await told(gate('passed'), gate('waived'), gate('failed'), gate('error'), retrying, failed)).toEqual([
    { gates_passed: 2, gates_failed: 2, blocks_retried: 1, provider_throttles: 1, blocks_failed: 1 },
  ])
})

test('a question is decided when enough people said yes, or one said no', async () => {
  const decided = (decision: 'approve' | 'reject', have: number): NewEvent => ({
    type: 'approval:decided',
    block_id: 'plan',
    data: {
      approval_id: 'apr_1',
      decision,
      by: { kind: 'user', id: 'ana' },
      via: 'cli',
      digest: 'd',
      have,
      need: 2,
      waited_ms: 5,
      policy: 'approvers',
    },
  })
  expect(await told(decided('approve', 1), decided('approve', 2), decided('reject', 0))).toEqual([
    { approvals_decided: 2 },
  ])
})

test('the reads of a sweep say how many runs are due and active, and how many places are past their end', async () => {
  await store.create(run)
  const pool = runsPool('main')
  await store.takeLease(pool, 'run_a', new Date(NOW + 60_000).toISOString(), 20)
  await store.takeLease(pool, 'run_b', new Date(NOW - 1).toISOString(), 20)
  said()
  await store.leases(pool)
  await store.leases({ tenant: 'main', name: 'provider/p' })
  await store.due(new Date(NOW + 3_600_000).toISOString(), 100)
  expect(said()).toEqual([{ runs_active: 2, places_overdue: 1 }, { runs_due: 1 }])
})
