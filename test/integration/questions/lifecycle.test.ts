import { afterEach, describe, expect, test } from 'vitest'
import { extractiveProvider } from '../../../functions/providers/extractive.ts'
import { createRun } from '../../../functions/runs/create-run.ts'
import { prepareResearchRun } from '../../../functions/runs/prepare-research-run.ts'
import { launchRun } from '../../../functions/runs/start-run.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { headOf } from '../child-place.ts'
import { openQuestionPlace, type QuestionPlace } from './question-place.ts'

let open: QuestionPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const CAPITAL = { topic: 'What is the capital of Norway?' }
const countOf = (events: readonly RunEvent[], type: RunEvent['type']) =>
  events.filter((event) => event.type === type).length

/** A model that never answers: the router's call hangs until it is aborted. */
const silent: Provider = {
  dispatch: ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Fault('Unavailable', 'aborted', 'Nobody waits any more.')))
    }),
}
const withSilent = () =>
  openQuestionPlace({ providers: { silent } }, { research: { provider: 'silent', model: 'm', timeout_ms: 600_000 } })

/** Its router has been asked, and does not answer. */
async function askSilently(place: QuestionPlace, more: object = {}): Promise<string> {
  const { json } = await place.ask({ ...CAPITAL, ...more })
  const runId = String(json.run_id)
  await place.until(runId, ({ type }) => type === 'research:classified')
  return runId
}

describe('before its end', () => {
  test('a question is 202 with its stage, in lists and in words', async () => {
    open = await withSilent()
    const runId = await askSilently(open)
    expect(await open.answer(runId)).toMatchObject({
      status: 202,
      json: { run_id: runId, state: 'running', stage: 'route_search' },
    })
    const { run } = (await open.call('get-run', runId)).json as unknown as { run: Record<string, unknown> }
    expect(run).toMatchObject({ role: 'research_pipeline', dag_name: 'research', state: 'running' })
    expect(run.waiting_for).toMatch(/^research: nl_classify done \(step 1\), next stage running for \d+ s$/)
    const listed = (await open.call('list-runs', '')).json.runs
    expect(listed).toMatchObject([{ run_id: runId, role: 'research_pipeline', blocks: 0, state: 'running' }])
    await open.call('stop-run', runId, {})
  })

  test('whoever waits is answered when the time is over, or when it ends', async () => {
    open = await withSilent()
    const runId = await askSilently(open)
    const began = Date.now()
    expect((await open.answer(runId, { wait: '1' })).status).toBe(202)
    expect(Date.now() - began).toBeGreaterThanOrEqual(900)
    const stopping = Date.now()
    const waiting = open.answer(runId, { wait: '25' })
    await open.call('stop-run', runId, {})
    expect((await waiting).status).toBe(200)
    // Whoever is not told that it has ended waits for all of the 25 seconds.
    expect(Date.now() - stopping).toBeLessThan(20_000)
  })

  test('in the queue it is pending, and it is asked when there is a place', async () => {
    const settings = { research: { provider: 'silent', model: 'm' }, safety: { max_runs: 1, queue: true } }
    open = await openQuestionPlace({ providers: { silent } }, settings)
    const first = await askSilently(open)
    const { json } = await open.ask(CAPITAL)
    expect(json).toMatchObject({ queued: true })
    const runId = String(json.run_id)
    expect((await open.answer(runId)).json).toMatchObject({ state: 'pending', stage: 'nl_classify' })
    await open.call('stop-run', first, {})
    await open.until(runId, ({ type }) => type === 'research:classified')
    expect((await open.answer(runId)).json).toMatchObject({ state: 'running', stage: 'route_search' })
    expect((await open.call('get-run', runId)).json.run).toMatchObject({ state: 'running' })
    await open.call('stop-run', runId, {})
  })
})

describe('an end without a result', () => {
  test('a stopped question says so, with the trace it has, and its model call is aborted', async () => {
    open = await withSilent()
    const runId = await askSilently(open)
    expect((await open.call('stop-run', runId, { reason: 'enough' })).status).toBe(200)
    const events = await open.ended(runId)
    expect(events.at(-1)?.type).toBe('run:cancelled')
    const { status, json } = await open.answer(runId)
    expect(status).toBe(200)
    expect(json).toMatchObject({ state: 'cancelled', trace: [{ stage: 'nl_classify' }], ...{ intent: CAPITAL } })
    expect(json.result).toBeUndefined()
    expect(json.reason).toContain('enough')
  })

  test('a chain that came to its end without one has failed, in words', async () => {
    open = await withSilent()
    const runId = await askSilently(open)
    const payload = { in: { v: 1, tenant: 'main', run_id: runId } }
    expect(await open.place.invoke('settle', payload)).toMatchObject({ end: 'failed', code: 'no_result' })
    const [end] = (await open.events(runId)).slice(-1)
    expect(end).toMatchObject({ type: 'run:failed', data: { code: 'no_result' } })
    expect(end?.type === 'run:failed' && end.data.reason).toBe(
      'The research chain ended after research:classified, without a result',
    )
  })

  test('a question is asked again, not retried', async () => {
    open = await openQuestionPlace()
    const { run_id } = await open.answered(CAPITAL)
    expect((await open.call('retry-run', run_id, {})).json).toMatchObject({ status: 409, code: 'run_is_research' })
  })
})

describe('parent_loop', () => {
  test('is told once that the answer is there', async () => {
    open = await openQuestionPlace()
    const parent_loop = 'acme.ops.agent.coord.loop.l1'
    const { run_id, parent_loop: told, tokens } = await open.answered({ ...CAPITAL, parent_loop })
    expect(told).toBe(parent_loop)
    const payload = { in: { v: 1, tenant: 'main', run_id } }
    await open.place.invoke('settle', payload)
    const events = await open.events(run_id)
    expect(countOf(events, 'research:continued')).toBe(1)
    const [continued, end] = events.slice(-2)
    const answer = events.find(({ type }) => type === 'research:synthesized')
    expect(continued).toMatchObject({ type: 'research:continued', data: { tokens: 0 } })
    expect(continued?.type === 'research:continued' && continued.data.ref).toBe(
      answer?.type === 'research:synthesized' && answer.data.ref,
    )
    expect(end).toMatchObject({ type: 'run:completed', data: { spent: { tokens } } })
  })

  test('is told once also where the verdict dies behind it and comes again', async () => {
    open = await openQuestionPlace()
    const { json } = await open.ask({ ...CAPITAL, parent_loop: 'l1' })
    const runId = String(json.run_id)
    await open.until(runId, ({ type }) => type === 'research:synthesized')
    const payload = { in: { v: 1, tenant: 'main', run_id: runId } }
    await Promise.all([open.place.invoke('settle', payload), open.place.invoke('settle', payload)])
    expect(countOf(await open.ended(runId), 'research:continued')).toBe(1)
  })

  test('without one nobody is told', async () => {
    open = await openQuestionPlace()
    const { run_id } = await open.answered(CAPITAL)
    expect(countOf(await open.events(run_id), 'research:continued')).toBe(0)
  })
})

describe('a graph that is away', () => {
  test('keeps the machine from starting, and the start stays owed', async () => {
    open = await openQuestionPlace({ sweep_ms: 0 })
    const { world } = open.place
    const run = { tenant: 'main', run_id: `run_${'0'.repeat(26)}` }
    const order = await prepareResearchRun(world, 'main', CAPITAL, {})
    const options = { max_parallel: 5, fail_fast: false, deadline_sec: 600 }
    const machine = await order.machine()
    await createRun(world, { ...order, machine, run, options, starter: 'user:ana', body_hash: 'b' })
    const failed = { outcome: 'failed', code: 'database_busy', message: 'later' } as const
    const away = { ...world.graph, addTriples: async () => [{ ...failed, entity_id: 'x' }] }
    await expect(launchRun({ ...world, graph: away }, run)).rejects.toMatchObject({ name: 'Unavailable' })
    expect(await world.machine.describe(machine, run.run_id)).toBeUndefined()
    expect((await headOf(open, run.run_id)).outbox).toMatchObject([{ kind: 'start_run' }])
    await open.place.invoke('start-run', run)
    expect((await open.ended(run.run_id)).at(-1)?.type).toBe('run:completed')
  })
})

describe('a place that is killed', () => {
  test('goes on where the chain was', async () => {
    const later: Provider = { dispatch: (request) => extractiveProvider.dispatch(request) }
    const settings = { research: { provider: 'silent', model: 'm', timeout_ms: 600_000 } }
    open = await openQuestionPlace({ providers: { silent } }, settings)
    const runId = await askSilently(open, { parent_loop: 'l1' })
    await open.until(runId, ({ type }) => type === 'budget:reserved')
    await open.kill({ providers: { silent: later } })
    const events = await open.ended(runId)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(countOf(events, 'research:classified')).toBe(1)
    expect(countOf(events, 'research:continued')).toBe(1)
    const told = await open.answer(runId)
    expect(told.json).toMatchObject({ state: 'completed', result: { synthesis: expect.stringContaining('Oslo') } })
  })
})

describe('verify', () => {
  const holds = async (place: QuestionPlace, runId: string) => {
    await expect.poll(async () => (await place.call('verify-run', runId)).json.ok).toBe(true)
  }

  test('holds every invariant of an answered question', async () => {
    open = await openQuestionPlace()
    const { run_id } = await open.answered({ ...CAPITAL, parent_loop: 'l1' })
    await holds(open, run_id)
  })

  test('holds every invariant of a stopped one', async () => {
    open = await withSilent()
    const runId = await askSilently(open)
    await open.call('stop-run', runId, {})
    await open.ended(runId)
    await holds(open, runId)
  })
})

describe('whoever reads runs', () => {
  test('reads a question too: events, graph, comparison, recording, context, artifacts', async () => {
    open = await openQuestionPlace()
    const { run_id } = await open.answered(CAPITAL)
    const again = await open.answered({ topic: 'What is the capital of Sweden?' })
    const read = async (name: string, more: Readonly<Record<string, string>> = {}) => {
      const event = { httpMethod: 'GET', path: '/', headers: {}, body: null, queryStringParameters: null }
      const answer = await open?.place.invoke(name, { ...event, pathParameters: { run_id, ...more } })
      const { statusCode, body } = answer as { statusCode: number; body: string }
      return [statusCode, JSON.parse(body)] as const
    }
    expect(await read('replay-run')).toMatchObject([200, { status: 'completed' }])
    expect(await read('get-run-graph')).toMatchObject([
      200,
      { dag: 'research', nodes: [], edges: [], state: 'completed' },
    ])
    expect(await read('diff-runs', { other_id: again.run_id })).toMatchObject([200, { blocks: [] }])
    expect(await read('get-context')).toMatchObject([200, { values: {} }])
    expect(await read('list-artifacts')).toMatchObject([200, { artifacts: [] }])
    expect((await read('record-run'))[0]).toBe(200)
    expect((await read('get-run'))[1]).toMatchObject({ run: { reason: 'answered in 5 steps' }, steps: [], blocks: {} })
  })
})
