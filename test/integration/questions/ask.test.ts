import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { handler as getResearch } from '../../../functions/api/get-research.ts'
import { writeLoopEntity } from '../../../functions/research/stored-chain.ts'
import { RESEARCH_ROUTES } from '../../../shared/api/research-routes.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import { searchResultKind } from '../../../shared/research/payloads/result.ts'
import { headOf } from '../child-place.ts'
import { openQuestionPlace, type QuestionPlace } from './question-place.ts'

let open: QuestionPlace
beforeEach(async () => {
  open = await openQuestionPlace()
})
afterEach(() => open.close())

const CAPITAL = { topic: 'What is the capital of Norway?' }

describe('POST /api/research', () => {
  test('starts a research run, which ends with a result', async () => {
    const { status, json } = await open.ask({ ...CAPITAL, budget_tokens: 5000 })
    expect(status).toBe(201)
    const told = RESEARCH_ROUTES['start-research'].answer.parse(json)
    expect(told).toMatchObject({
      loop: `main.sluice.research.chain.loop.${told.run_id}`,
      links: { answer: `/api/research/${told.run_id}` },
    })
    const events = await open.ended(told.run_id)
    const types = events.map(({ type }) => type).filter((type) => type !== 'budget:reserved')
    expect(types).toEqual([
      'run:started',
      'research:requested',
      'research:classified',
      'research:routed',
      'research:executed',
      'research:assessed',
      'research:synthesized',
      'run:completed',
    ])
    expect(events[0]?.data).toMatchObject({ dag_name: 'research', caps: { cap_tokens: 5000, deadline_sec: 600 } })
    expect(events.at(-1)?.data).toMatchObject({ code: 'completed', reason: 'answered in 5 steps' })
  })

  test('with an Idempotency-Key starts one run for one question', async () => {
    const first = await open.ask(CAPITAL, 'once')
    const again = await open.ask(CAPITAL, 'once')
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.json.run_id).toBe(first.json.run_id)
    const other = await open.ask({ topic: 'What is the capital of Sweden?' }, 'once')
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
    expect((await open.call('list-runs', '')).json.runs).toHaveLength(1)
  })

  test('ignores what an Intent does not know, and takes null as absent', async () => {
    const body = { ...CAPITAL, colour: 'red', hints: null, budget_tokens: null, max_iterations: 0, parent_loop: null }
    const { intent, parent_loop } = await open.answered(body)
    expect(intent).toEqual({ ...CAPITAL, budget_tokens: 4000, max_iterations: 5 })
    expect(parent_loop).toBeUndefined()
  })

  test.each<[string, object, string]>([
    ['no topic', {}, 'topic'],
    ['a blank topic', { topic: ' \n' }, 'topic'],
    ['a long topic', { topic: 'x'.repeat(4_001) }, 'topic'],
    ['a topic that is no text', { topic: 5 }, 'topic'],
    ['a blank hint', { topic: 't', hints: { zone: ' ' } }, 'hints.zone'],
    ['a hint that is no text', { topic: 't', hints: { top_n: 5 } }, 'hints.top_n'],
    ['a hint without a name', { topic: 't', hints: { ' ': 'x' } }, 'hints. '],
    ['a long hint', { topic: 't', hints: { zone: 'x'.repeat(1_001) } }, 'hints.zone'],
    ['a negative budget', { topic: 't', budget_tokens: -1 }, 'budget_tokens'],
    ['half a round', { topic: 't', max_iterations: 0.5 }, 'max_iterations'],
    ['a blank parent', { topic: 't', parent_loop: '' }, 'parent_loop'],
    ['a long parent', { topic: 't', parent_loop: 'x'.repeat(401) }, 'parent_loop'],
  ])('refuses %s, and starts nothing', async (_what, body, path) => {
    const { status, json } = await open.ask(body)
    expect(status).toBe(400)
    expect(json.errors).toEqual([expect.objectContaining({ path: expect.stringContaining(path) })])
    expect((await open.call('list-runs', '')).json.runs).toEqual([])
  })

  test('refuses more hints than there is room for', async () => {
    const hints = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v']))
    expect((await open.ask({ topic: 't', hints })).status).toBe(400)
  })

  test('is held like every start', async () => {
    await open.call('stop-all', '', { hold: true })
    expect((await open.ask(CAPITAL)).json).toMatchObject({ status: 409, code: 'starts_on_hold' })
  })
})

describe('GET /api/research/{run_id}', () => {
  test('tells question, result and trace, each stage with the objects before and after it', async () => {
    const hints = { zone: 'north' }
    const answer = await open.answered({ ...CAPITAL, hints })
    expect(answer).toMatchObject({
      state: 'completed',
      intent: { ...CAPITAL, hints, budget_tokens: 4000, max_iterations: 5 },
      result: { synthesis: expect.stringContaining('Oslo'), iterations: 0 },
      degraded: [],
    })
    expect(readPayload(searchResultKind, answer.result).ok).toBe(true)
    const { trace } = answer
    expect(trace.map(({ stage, n }) => [n, stage])).toEqual([
      [0, 'nl_classify'],
      [1, 'route_search'],
      [2, 'execute_subqueries'],
      [3, 'assess_sufficiency'],
      [4, 'synthesize_answer'],
    ])
    expect(trace.slice(1).map(({ in_ref }) => in_ref)).toEqual(trace.slice(0, -1).map(({ out_ref }) => out_ref))
    expect(trace[1]?.decision).toMatchObject({
      action: 'walk_seeds',
      args: { seeds: [{}] },
      rationale: expect.any(String),
    })
    expect(trace[3]?.assessment).toMatchObject({ sufficient: true, rationale: expect.any(String) })
    for (const { tokens, reserved } of trace) expect(tokens).toBeLessThanOrEqual(reserved)
  })

  test('says the same of tokens in trace, result, run and ledger', async () => {
    const { run_id, trace, result, tokens } = await open.answered(CAPITAL)
    const used = trace.reduce((sum, stage) => sum + stage.tokens, 0)
    expect(used).toBeGreaterThan(0)
    expect([result?.tokens_used, tokens]).toEqual([used, used])
    const { budget } = await headOf(open, run_id)
    expect(budget).toMatchObject({ cap_tokens: 4000, spent_tokens: used, committed_tokens: used })
    expect((await open.call('get-run', run_id)).json.run).toMatchObject({ tokens: used })
  })

  test('shows the evidence of one tier or source, with its places in the whole', async () => {
    const { run_id, result } = await open.answered(CAPITAL)
    const all = result?.evidence ?? []
    for (const filter of [{ tier: '0' }, { source: 'graph_diffusion' }, { tier: '1', source: 'graph_diffusion' }]) {
      const { json } = await open.answer(run_id, filter)
      const told = RESEARCH_ROUTES['get-research'].answer.parse(json)
      const wanted = all.filter((item) => Object.entries(filter).every(([key, value]) => item[key as 'tier'] === value))
      expect(told.result?.evidence).toEqual(wanted)
      expect(told.places?.map((place) => all[place - 1])).toEqual(wanted)
    }
    expect((await open.answer(run_id, { source: 'nobody' })).json).toMatchObject({
      result: { evidence: [] },
      places: [],
    })
    expect((await open.answer(run_id, { tier: '3' })).status).toBe(400)
    expect((await open.answer(run_id, { wait: '26' })).status).toBe(400)
  })

  test('knows no runs of another kind, of another tenant, or none at all', async () => {
    const dag = { blocks: [{ id: 'a', mode: 'deterministic', deterministic: { handler: 'pass' }, outputs: {} }] }
    const other = await open.start(dag)
    const { run_id } = await open.answered(CAPITAL)
    const missing = await open.answer(`run_${'0'.repeat(26)}`)
    expect([missing.status, missing.json.code]).toEqual([404, 'unknown_run'])
    expect((await open.answer(other)).json).toMatchObject({ status: 404, code: 'unknown_run' })
    const principal = { kind: 'user', id: 'eve', tenant: 'other', scopes: SCOPES }
    const event = {
      httpMethod: 'GET',
      path: '/',
      pathParameters: { run_id },
      queryStringParameters: null,
      headers: {},
      body: null,
    }
    const context = { world: open.place.world, principal } as never
    expect(await getResearch(event, context)).toMatchObject({ statusCode: 404 })
  })
})

describe('the kick-off', () => {
  test('writes what was asked to the graph once, before the machine starts', async () => {
    const hints = { zone: 'north', entity_kind: 'country' }
    const asked = { ...CAPITAL, hints, parent_loop: 'acme.ops.agent.coord.loop.l1' }
    const { run_id } = await open.answered(asked)
    const { graph, runs } = open.place.world
    const meta = await runs.meta({ tenant: 'main', run_id })
    const kicked = async () => {
      const triples = (await graph.entity('main', loopEntityId('main', run_id)))?.triples ?? []
      return triples.filter(({ source }) => source === 'agent-research-graph')
    }
    const told = await kicked()
    expect(told.map(({ predicate, object }) => [predicate, object])).toEqual([
      ['loop.role', 'research_pipeline'],
      ['research.budget_tokens', '4000'],
      ['research.hint', 'entity_kind=country'],
      ['research.hint', 'zone=north'],
      ['research.max_iterations', '5'],
      ['research.parent_loop', 'acme.ops.agent.coord.loop.l1'],
      ['research.requested', CAPITAL.topic],
      ['research.topic', CAPITAL.topic],
    ])
    expect(new Set(told.map(({ timestamp }) => timestamp))).toEqual(new Set([meta?.created_at]))
    const before = await graph.entity('main', loopEntityId('main', run_id))
    expect(before?.triples?.length).toBeGreaterThan(told.length)
    if (meta !== undefined) await writeLoopEntity(open.place.world, meta)
    expect(await graph.entity('main', loopEntityId('main', run_id))).toEqual(before)
  })

  test('is of the question of the run alone: it is no candidate for later ones', async () => {
    await open.answered(CAPITAL)
    const { result } = await open.answered(CAPITAL)
    expect(result?.evidence?.filter(({ entity_id }) => entity_id.includes('.sluice.'))).toEqual([])
  })
})
