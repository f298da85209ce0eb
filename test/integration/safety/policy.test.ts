import { afterEach, describe, expect, test } from 'vitest'
import { type Safety, SafetySchema } from '../../../shared/runs/safety-settings.ts'
import { block, retry } from '../child-place.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { post, startOf } from './safety-place.ts'
import { openOnSqlite } from './sqlite-place.ts'

let open: TestPlace
afterEach(() => open.close())
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
const viewOf = async (run_id: string) => (await post(open, 'get-run', { run_id, body: null })).json
const ended = async (...blocks: readonly object[]) => {
  const { json } = await startOf(open, { name: 'policy', blocks })
  const run_id = String(json.run_id)
  return { run_id, events: await open.ended(run_id) }
}

test('GET /api/dag/safety has every value of the policy and says where it comes from', async () => {
  open = await openOnSqlite({ max_runs: 3, queue: true, stall_sec: 300, max_run_usd: 2.5, max_requests_per_min: 90 })
  const { status, json } = await post(open, 'get-safety', { body: null })
  expect(status).toBe(200)
  const { policy = {} } = json
  expect(Object.keys(policy).sort()).toEqual(Object.keys(SafetySchema.shape).sort())
  expect(policy.max_runs).toEqual({ value: 3, source: 'sluice.yaml' })
  expect(policy.queue).toEqual({ value: true, source: 'sluice.yaml' })
  expect(policy.max_run_usd).toEqual({ value: 2.5, source: 'sluice.yaml' })
  expect(policy.stall_sec).toEqual({ value: 300, source: 'default' })
  expect(policy.max_run_tokens).toEqual({ value: null, source: 'default' })
  const safety: Safety = SafetySchema.parse({})
  expect(policy.max_run_sec?.value).toBe(safety.max_run_sec)
  expect(json).toMatchObject({ hold: null, active_runs: 0, queued_runs: 0 })
})

test('what a deployment was told by its context is said to come from there', async () => {
  open = await openTestPlace({}, { safety: { max_runs: 3, stall_sec: 60 }, safety_context: ['max_runs'] })
  const { policy = {} } = (await post(open, 'get-safety', { body: null })).json
  expect([policy.max_runs?.source, policy.stall_sec?.source]).toEqual(['cdk context', 'sluice.yaml'])
})

describe('the policy', () => {
  test('cancels a run that takes longer than max_run_sec, whatever it asked for', async () => {
    open = await openOnSqlite({ max_run_sec: 1 })
    const slow = { ...block('slow'), agent: agent('slow 8000') }
    const { json } = await startOf(open, { name: 'policy', blocks: [slow] }, { options: { deadline_sec: 600 } })
    const last = (await open.ended(String(json.run_id))).at(-1)
    expect(last).toMatchObject({ type: 'run:cancelled', data: { code: 'max_run_duration_exceeded' } })
  })

  test('aborts a dispatch that takes longer than max_block_ms, and the try may be repeated', async () => {
    open = await openOnSqlite({ max_block_ms: 300 })
    const slow = { ...block('slow'), agent: agent('slow 60000'), timeout_ms: 100_000, retry: retry(2) }
    const { events } = await ended(slow)
    expect(events.find(({ type }) => type === 'block:retrying')?.data).toMatchObject({ code: 'block_timeout' })
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(2)
    expect(events.at(-1)?.type).toBe('run:failed')
  })

  test('lowers the tries of a block to max_attempts, and GET of the run says so', async () => {
    open = await openOnSqlite({ max_attempts: 2 })
    const gate = { name: 'long', check: { type: 'max_length', port: 'text', max: 1 } }
    const bad = { ...block('bad'), post_gates: [{ ...gate, on_fail: 'retry' }], retry: retry(9) }
    const { run_id, events } = await ended(bad)
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(2)
    const words = '(attempt 2 of 2, lowered from 9 by the safety policy)'
    const view = (await viewOf(run_id)) as { run: { reason: string }; blocks: Record<string, { error: object }> }
    expect(view.blocks.bad?.error).toMatchObject({ reason: expect.stringContaining(words) })
    expect(view.run.reason).toContain(words)
  })
})
