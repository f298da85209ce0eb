import { afterEach, describe, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import { searchResultKind } from '../../../shared/research/payloads/result.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { childOf, headOf, lastOf, startsOf } from '../child-place.ts'
import { openQuestionPlace, type QuestionPlace } from './question-place.ts'

let open: QuestionPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const ask = (more: object = {}, research: object = {}) => ({
  id: 'ask',
  mode: 'research',
  research: { topic: 'What is the capital of {{inputs.country}}?', ...research },
  inputs: { country: { type: 'string', default: 'Norway' } },
  ...more,
})
const outputsOf = async (place: QuestionPlace, run_id: string, block_id: string) => {
  const event = { pathParameters: { run_id, block_id }, httpMethod: 'GET', path: '/', body: null, headers: {} }
  const { body } = (await place.place.invoke('get-outputs', { ...event, queryStringParameters: null })) as {
    body: string
  }
  return JSON.parse(body).outputs
}
const endOf = (events: readonly RunEvent[], id: string) =>
  events.findLast(({ type, block_id }) => /^block:(completed|failed|skipped)$/.test(type) && block_id === id)
const hold = async (place: QuestionPlace, ...runIds: readonly string[]) => {
  for (const runId of runIds) {
    await expect.poll(async () => (await place.call('verify-run', runId)).json).toMatchObject({ ok: true })
  }
}
/** A model that never answers. */
const silent: Provider = {
  dispatch: ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Fault('Unavailable', 'aborted', 'Nobody waits any more.')))
    }),
}
const SILENT = { research: { provider: 'silent', model: 'm', timeout_ms: 600_000 } }

describe('a block of mode research', () => {
  test('publishes the result of its question, which later blocks read', async () => {
    open = await openQuestionPlace()
    const read = {
      id: 'read',
      mode: 'deterministic',
      deterministic: { handler: 'pass' },
      inputs: { text: { from: 'ask.synthesis' }, found: { from: 'ask.evidence' } },
      outputs: { text: 'string', found: 'json' },
    }
    const id = await open.start({ blocks: [ask(), read] }, { inputs: { country: 'Sweden' } })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    const { result, synthesis, evidence } = await outputsOf(open, id, 'ask')
    expect(readPayload(searchResultKind, result).ok).toBe(true)
    expect([result.synthesis, result.evidence]).toEqual([synthesis, evidence])
    expect(synthesis).toContain('Stockholm')
    expect(await outputsOf(open, id, 'read')).toEqual({ text: synthesis, found: evidence })
  })

  test('publishes what it declares', async () => {
    open = await openQuestionPlace()
    const outputs = { tokens_used: 'number', iterations: 'number', decomp_trace: { type: 'json', required: false } }
    const id = await open.start({ blocks: [ask({ outputs })] })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    const told = await outputsOf(open, id, 'ask')
    expect(told).toMatchObject({ iterations: 0, decomp_trace: { router_action: 'walk_seeds' } })
    expect(told.tokens_used).toBeGreaterThan(0)
    expect(Object.keys(told).toSorted()).toEqual(['decomp_trace', 'iterations', 'tokens_used'])
  })

  test('asks as its run and block: the loop entity and the run that answers name both', async () => {
    open = await openQuestionPlace()
    const hints = { zone: '{{inputs.zone}}', domain: '{{inputs.none}}', entity_kind: 'country' }
    const inputs = { country: 'string', zone: 'string', none: { type: 'string', default: '' } }
    const values = { inputs: { country: 'Norway', zone: 'north' } }
    const id = await open.start({ blocks: [ask({ inputs }, { hints, budget_tokens: 5_000 })] }, values)
    const events = await open.ended(id)
    const question = await childOf(open, id, 'ask')
    const { json } = await open.answer(question)
    expect(json).toMatchObject({
      state: 'completed',
      parent_loop: `${id}.ask`,
      intent: {
        topic: 'What is the capital of Norway?',
        hints: { zone: 'north', entity_kind: 'country' },
        budget_tokens: 5_000,
      },
    })
    const loop = await open.place.world.graph.entity('main', loopEntityId('main', question))
    expect(loop?.triples).toContainEqual(
      expect.objectContaining({ predicate: 'research.parent_loop', object: `${id}.ask` }),
    )
    const [started, ...rest] = await open.events(question)
    expect(started?.data).toMatchObject({ parent: { run_id: id, block_id: 'ask', epoch: 0, attempt: 1 } })
    expect(rest.filter(({ type }) => type === 'research:continued')).toEqual([])
    const output = events.find(({ type }) => type === 'block:output')
    expect(output?.data).toMatchObject({ provider: 'research', model: 'research', note: `child run ${question}` })
    await hold(open, id, question)
  })

  test.each<[string, object, object, string]>([
    ['a topic without a value', {}, { topic: 'on {{inputs.none}}' }, 'missing_input'],
    ['a blank topic', {}, { topic: '{{inputs.blank}}' }, 'invalid_question'],
    ['a topic that is too long', {}, { topic: '{{inputs.long}}' }, 'invalid_question'],
  ])('fails before anything is asked: %s', async (_what, more, research, code) => {
    open = await openQuestionPlace()
    const inputs = {
      none: { type: 'string', required: false },
      blank: { type: 'string', default: ' ' },
      long: { type: 'string', default: 'x'.repeat(4_001) },
    }
    const id = await open.start({ blocks: [ask({ inputs, ...more }, research)] })
    expect(endOf(await open.ended(id), 'ask')).toMatchObject({ type: 'block:failed', data: { code } })
    expect((await open.call('list-runs', '')).json.runs).toHaveLength(1)
  })

  test('is judged by gates on its own evidence, and asked again as retry says', async () => {
    open = await openQuestionPlace()
    const of = (type: string, evidence: string) => ({
      name: `${type}-${evidence}`,
      check: { type, port: 'synthesis', evidence },
    })
    const held = [
      of('citation_exists', 'evidence'),
      of('citation_exists', 'sources'),
      of('numbers_in_evidence', 'sources'),
    ]
    const outputs = { synthesis: 'string', evidence: 'json', sources: 'json' }
    const research = { topic: 'What is the area of {{inputs.country}}?' }
    const long = { name: 'long', check: { type: 'min_length', port: 'synthesis', min: 99_999 } }
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 0, jitter: 'none' }
    const id = await open.start({
      blocks: [ask({ id: 'good', outputs, post_gates: held }, research), ask({ id: 'bad', post_gates: [long], retry })],
    })
    const events = await open.ended(id)
    expect(endOf(events, 'good')).toMatchObject({ type: 'block:completed' })
    const { synthesis, sources } = await outputsOf(open, id, 'good')
    expect(synthesis).toContain('323802')
    expect(sources[0]).toMatchObject({
      entity_id: 'acme.ops.geo.atlas.country.no',
      text: expect.stringContaining('323802'),
    })
    expect(endOf(events, 'bad')).toMatchObject({ type: 'block:failed', data: { code: 'post_gate_failed' } })
    const asked = startsOf(events, 'bad')
    expect(new Set(asked).size).toBe(2)
    await hold(open, id, ...asked)
  })

  test('asks nothing before a person said yes, nor where its pre-gates or its condition do not hold', async () => {
    open = await openQuestionPlace()
    const refused = { name: 'long', check: { type: 'min_length', port: 'country', min: 99 } }
    const id = await open.start({
      blocks: [
        ask({ id: 'asked', approval: true }),
        ask({ id: 'never', when: 'inputs.country == "Peru"' }),
        ask({ id: 'gated', pre_gates: [refused] }),
      ],
    })
    await open.until(id, ({ type }) => type === 'approval:requested')
    expect(startsOf(await open.events(id), 'asked')).toEqual([])
    await open.call('decide-approval', id, { block_id: 'asked', decision: 'reject' })
    const events = await open.ended(id)
    expect(endOf(events, 'asked')).toMatchObject({ data: { code: 'approval_rejected' } })
    expect(endOf(events, 'never')).toMatchObject({ type: 'block:skipped' })
    expect(endOf(events, 'gated')).toMatchObject({ data: { code: 'pre_gate_failed' } })
    expect((await open.call('list-runs', '')).json.runs).toHaveLength(1)
  })

  test('asks again after a bounce, and after a yes', async () => {
    open = await openQuestionPlace()
    const never = { name: 'never', check: { type: 'min_length', port: 'o', min: 99_999 }, on_fail: 'route' }
    const judge = {
      id: 'judge',
      mode: 'deterministic',
      deterministic: { handler: 'pass' },
      inputs: { o: { from: 'ask.synthesis' } },
      outputs: { o: 'string' },
      post_gates: [never],
      on_gate_fail: [{ when_gate: 'never', route_to: 'ask', max_bounces: 1 }],
    }
    const id = await open.start({ blocks: [ask(), judge, ask({ id: 'asked', approval: true })] })
    await open.until(id, ({ type }) => type === 'approval:requested')
    const { digest } = Object.values((await headOf(open, id)).approvals)[0] ?? {}
    await open.call('decide-approval', id, { block_id: 'asked', decision: 'approve', digest })
    const events = await open.ended(id)
    expect(new Set(startsOf(events, 'ask')).size).toBe(2)
    expect(endOf(events, 'asked')).toMatchObject({ type: 'block:completed' })
    await hold(open, id, ...startsOf(events, 'ask'), ...startsOf(events, 'asked'))
  })

  test('says while it works what it waits for', async () => {
    open = await openQuestionPlace({ providers: { silent } }, SILENT)
    const id = await open.start({ blocks: [ask()] })
    const question = await childOf(open, id, 'ask')
    const { run, blocks } = (await open.call('get-run', id)).json as unknown as {
      run: { waiting_for: string }
      blocks: { ask: object }
    }
    expect(run.waiting_for).toMatch(new RegExp(`^block ask: attempt 1 of 1, waits for research ${question} since `))
    expect(blocks.ask).toMatchObject({ state: 'running', child: question })
    await open.call('stop-run', id, {})
  })
})

describe('the budget of a research block', () => {
  test('is reserved when it starts; what the chain used is spent, once, and the rest is free again', async () => {
    open = await openQuestionPlace()
    const id = await open.start({ blocks: [ask()], budget: { tokens: 10_000 } })
    const events = await open.ended(id)
    expect(events.find(({ type }) => type === 'budget:reserved')).toMatchObject({
      data: { tokens: 4_000 },
      block_id: 'ask',
    })
    const question = await childOf(open, id, 'ask')
    const { budget: own } = await headOf(open, question)
    expect(own).toMatchObject({ cap_tokens: 4_000 })
    expect(own.spent_tokens).toBeGreaterThan(0)
    const { budget } = await headOf(open, id)
    expect(budget).toMatchObject({ spent_tokens: own.spent_tokens, committed_tokens: own.spent_tokens })
    expect((await open.call('get-run', id)).json.run).toMatchObject({ tokens: own.spent_tokens })
    await hold(open, id, question)
  })

  test('is what is left where that is less, and the chain answers within it', async () => {
    open = await openQuestionPlace()
    const id = await open.start({ blocks: [ask()], budget: { tokens: 900 } })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    const question = await childOf(open, id, 'ask')
    const { budget } = await headOf(open, question)
    expect(budget.cap_tokens).toBe(900)
    expect(budget.spent_tokens).toBeLessThanOrEqual(900)
    expect((await open.answer(question)).json).toMatchObject({ state: 'completed', degraded: [expect.any(String)] })
    await hold(open, id, question)
  })

  test('of two side by side the second has what the first left', async () => {
    open = await openQuestionPlace({ providers: { silent } }, SILENT)
    const blocks = [ask({ id: 'one' }), ask({ id: 'two' })]
    const id = await open.start({ blocks, budget: { tokens: 5_000 } })
    const questions = [await childOf(open, id, 'one'), await childOf(open, id, 'two')]
    for (const one of questions) await open.until(one, ({ type }) => type === 'run:started')
    const caps = await Promise.all(questions.map(async (one) => open && (await headOf(open, one)).budget.cap_tokens))
    expect(caps.toSorted()).toEqual([1_000, 4_000])
    await open.call('stop-run', id, {})
  })

  test('with next to nothing left no model is asked, and the answer says so', async () => {
    open = await openQuestionPlace()
    const first = ask({ id: 'first', inputs: { country: { type: 'string', default: 'Norway' } } })
    const second = ask({ id: 'second', inputs: { country: { from: 'first.synthesis' } }, budget: { tokens: 1 } })
    const id = await open.start({ blocks: [first, second], budget: { tokens: 4_000 } })
    const events = await open.ended(id)
    const question = startsOf(events, 'second')[0] ?? ''
    expect((await headOf(open, question)).budget).toMatchObject({ cap_tokens: 1, spent_tokens: 0 })
    const { json } = await open.answer(question)
    expect(json).toMatchObject({
      state: 'completed',
      tokens: 0,
      result: { synthesis: expect.stringContaining('budget') },
    })
  })
})

describe('the end of the run', () => {
  test('ends the question with it', async () => {
    open = await openQuestionPlace({ providers: { silent } }, SILENT)
    const id = await open.start({ blocks: [ask()] })
    const question = await childOf(open, id, 'ask')
    await open.until(question, ({ type }) => type === 'research:classified')
    await open.call('stop-run', id, {})
    expect(await lastOf(open, question)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
    expect((await headOf(open, id)).budget.committed_tokens).toBeGreaterThanOrEqual(0)
  })

  test('a stopped question fails its block for good', async () => {
    open = await openQuestionPlace({ providers: { silent } }, SILENT)
    const retry = { max_attempts: 3, backoff: 'none', delay_ms: 0, jitter: 'none' }
    const id = await open.start({ blocks: [ask({ retry })] })
    const question = await childOf(open, id, 'ask')
    await open.call('stop-run', question, {})
    const events = await open.ended(id)
    const end = endOf(events, 'ask')
    expect(end).toMatchObject({ type: 'block:failed', data: { code: 'child_failed' } })
    expect(end?.type === 'block:failed' && end.data.reason).toContain(`research run ${question} was cancelled`)
    expect(startsOf(events, 'ask')).toHaveLength(1)
    await hold(open, id)
  })

  test('a retry of the run takes over what the block published, and asks nothing', async () => {
    open = await openQuestionPlace()
    const fails = { id: 'last', mode: 'deterministic', deterministic: { handler: 'pass' }, outputs: { o: 'string' } }
    const gate = { name: 'never', check: { type: 'min_length', port: 'o', min: 99_999 } }
    const last = { ...fails, inputs: { o: { from: 'ask.synthesis' } }, post_gates: [gate] }
    const id = await open.start({ blocks: [ask(), last] })
    await open.ended(id)
    const { json } = await open.call('retry-run', id, {})
    const again = String(json.run_id)
    const events = await open.ended(again)
    expect(endOf(events, 'ask')).toMatchObject({ type: 'block:completed', data: { cached_from: id } })
    expect(startsOf(events, 'ask')).toEqual([''])
    const { runs } = (await open.call('list-runs', '')).json as unknown as { runs: readonly { role: string }[] }
    expect(runs.map(({ role }) => role).toSorted()).toEqual(['research_pipeline', 'root', 'root'])
  })

  test('a place that is killed goes on, with one question and one answer', async () => {
    open = await openQuestionPlace()
    const id = await open.start({ blocks: [ask()] })
    const question = await childOf(open, id, 'ask')
    await open.kill()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(startsOf(events, 'ask')).toEqual([question])
    await hold(open, id, question)
  })
})
