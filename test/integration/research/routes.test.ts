import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopEntityId } from '../../../shared/research/loop-entity.ts'
import { type ModelServer, type Script, startModel } from './model-server.ts'
import { ledgerOf, openResearchPlace, type ResearchPlace } from './research-place.ts'
import { idOf } from './small-atlas.ts'

/** The four ways from a question to its answer, by the extractive model and by a language model's word. */
let model: ModelServer
let asking: ResearchPlace
let computing: ResearchPlace
beforeAll(async () => {
  model = await startModel({})
  asking = await openResearchPlace({}, model.settings)
  computing = await openResearchPlace({}, {}, NOTES)
})
afterAll(async () => {
  await asking.close()
  await computing.close()
  await model.close()
})

/** The better a note fits, the later it comes in the alphabet, and the older it is. */
const NOTES = [
  { name: 'b', text: 'A quokka was seen in a burrow.', more: { time: '2026-11-10T00:00:00.000Z' } },
  { name: 'c', text: 'How deep a quokka digs its burrow: an arm.', more: { time: '2026-11-05T00:00:00.000Z' } },
].map((note) => ({ type: 'note', label: `Quokka note ${note.name}`, ...note }))

const extractive = () => computing

function withModel(script: Script): { place: ResearchPlace; model: ModelServer } {
  model.say(script)
  return { place: asking, model }
}

const walk = (...seeds: readonly (readonly [string, string])[]) => ({
  action: 'walk_seeds',
  args: { seeds: seeds.map(([ref, ref_type]) => ({ ref, ref_type })) },
})
const enough = { sufficient: true, rationale: 'It stands there.' }
const ANSWER = { synthesis: 'The capital of Norway is Oslo [1].' }

describe('the extractive model', () => {
  test('answers from the candidates where one of them is all the question asks for', async () => {
    const place = extractive()
    const asked = await place.ask({ topic: 'Norway' })
    expect(asked.path).toEqual(['classified', 'routed synthesize_directly', 'synthesized'])
    const { result } = asked.answer
    expect(result?.synthesis).toMatch(/^“Norway is a country in Northern Europe\.” \[1\]/)
    expect(result).not.toHaveProperty('decomp_trace')
    expect(asked.answer).toMatchObject({ state: 'completed', degraded: [], usd: 0 })
  })

  test('walks from what the question names: two hops', async () => {
    const place = extractive()
    const asked = await place.ask({ topic: 'Which currency has the country whose capital is Oslo?' })
    expect(asked.path).toEqual(['classified', 'routed walk_seeds', 'executed', 'assessed true', 'synthesized'])
    expect(asked.answer.result?.synthesis).toContain('Norway, currency: Norwegian krone')
    expect(asked.answer.result?.decomp_trace).toMatchObject({
      router_action: 'walk_seeds',
      seed_entities: [idOf('city', 'oslo')],
      sub_queries: [
        { kind: 'lexical' },
        { kind: 'entity_state', entity_id: idOf('city', 'oslo') },
        { kind: 'predicate_walk', entity_id: idOf('city', 'oslo'), depth: 2 },
        { kind: 'relation_walk', seeds: [idOf('city', 'oslo')] },
        { kind: 'graph_diffusion', seeds: [idOf('city', 'oslo')] },
      ],
    })
  })

  test('what the first search put first stays first in the evidence of a decomposition', async () => {
    const asked = await extractive().ask({ topic: 'How deep does a quokka dig the burrow?' })
    expect(asked.path).toContain('routed decompose')
    const evidence = asked.answer.result?.evidence ?? []
    const states = evidence.filter(({ source }) => source === 'entity_state').map(({ entity_id }) => entity_id)
    expect(states).toEqual(['c', 'b'].map((name) => idOf('note', name)))
    expect(evidence.map(({ score = 0 }) => score)).toEqual(
      evidence.map(({ score = 0 }) => score).toSorted((a, b) => b - a),
    )
  })

  test('decomposes a question about a box', async () => {
    const place = extractive()
    const asked = await place.ask({ topic: 'Which sensors are within 5 km of 59.91, 10.75?' })
    expect(asked.path.slice(0, 3)).toEqual(['classified', 'routed decompose', 'executed'])
    expect(asked.answer.result?.decomp_trace?.sub_queries?.map(({ kind }) => kind)).toContain('spatial')
    expect(asked.answer.result?.synthesis).toContain('Sensor S1')
    expect(asked.answer.result?.synthesis).not.toContain('Sensor S2')
  })

  test('retightens a question nothing is found for, once, and says honestly that there is no answer', async () => {
    const place = extractive()
    const asked = await place.ask({ topic: 'Who won the chess cup of Atlantis?', max_iterations: 1 })
    expect(asked.path).toEqual([
      'classified',
      'routed retighten',
      'classified',
      'routed decompose',
      'executed',
      'assessed false',
      'executed',
      'assessed false',
      'synthesized',
    ])
    const { result } = asked.answer
    expect(result?.synthesis).toMatch(/^No answer found in the graph for: Who won the chess cup of Atlantis\?/)
    expect(result).toMatchObject({ iterations: 1, decomp_trace: { router_action: 'retighten', retighten_rounds: 1 } })
    expect(result?.evidence ?? []).toEqual([])
  })

  test('says in every call that it is no language model, and gives the same answer again', async () => {
    const place = extractive()
    const [one, two] = [await place.ask({ topic: 'capital of Peru' }), await place.ask({ topic: 'capital of Peru' })]
    expect(one.answer.result).toEqual(two.answer.result)
    expect(one.answer.result?.synthesis).toContain('no language model wrote it')
    const raw = one.answer.trace.find(({ stage }) => stage === 'route_search')?.raw_ref ?? ''
    const kept = JSON.parse(Buffer.from(await place.place.world.objects.get('main', raw)).toString())
    expect(kept.calls[0].answer).toMatchObject({ finish_reason: 'extractive', usd: 0, note: expect.any(String) })
  })
})

describe('a language model', () => {
  test('synthesize_directly: the candidates are the evidence, in their order', async () => {
    const { place } = withModel({ route: { action: 'synthesize_directly' }, answer: ANSWER })
    const asked = await place.ask({ topic: 'What is the capital of Norway?' })
    expect(asked.path).toEqual(['classified', 'routed synthesize_directly', 'synthesized'])
    const { result } = asked.answer
    expect(result?.evidence?.[0]).toMatchObject({
      entity_id: idOf('country', 'no'),
      tier: '0',
      source: 'classifier_chain',
    })
    expect(result?.synthesis).toBe(ANSWER.synthesis)
    expect(result).toMatchObject({ tokens_used: 60 })
    // Nobody knows what this model costs.
    expect(asked.answer.usd).toBeNull()
  })

  test('walk_seeds: a name, the end of an id and a place in the list shown lead to entities', async () => {
    const route = walk(['  kingdom of NORWAY ', 'name'], ['country.pe', 'partial_id'], ['0', 'candidate_index'])
    const { place } = withModel({ route, assess: enough, answer: ANSWER })
    const asked = await place.ask({ topic: 'What is the capital of Norway?' })
    const trace = asked.answer.result?.decomp_trace
    expect(trace?.seed_entities).toEqual([idOf('country', 'no'), idOf('country', 'pe')])
    expect(asked.answer.degraded).toEqual([])
  })

  test('decompose: each axis is the sub-queries it stands for', async () => {
    const args = {
      axes: ['entity_type', 'time', 'relationship', 'spatial', 'weather'],
      focus: 'Oslo harbour',
      scope: 'narrow',
    }
    const { place } = withModel({ route: { action: 'decompose', args }, assess: enough, answer: ANSWER })
    const asked = await place.ask({ topic: 'What happened within 5 km of 59.91, 10.75?' })
    const queries = asked.answer.result?.decomp_trace?.sub_queries ?? []
    expect(queries[0]).toEqual({ kind: 'lexical', text: 'Oslo harbour', limit: 3 })
    expect(queries).toContainEqual({ kind: 'lexical', text: 'Oslo harbour weather', limit: 3 })
    const count = (kind: string) => queries.filter((query) => query.kind === kind).length
    expect({ state: count('entity_state'), walk: count('predicate_walk'), box: count('spatial') }).toEqual({
      state: 2,
      walk: 2,
      box: 1,
    })
    const { from, to } = queries.find(({ kind }) => kind === 'temporal_range') as { from: string; to: string }
    expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000)
  })

  test('retighten: the refined topic is classified, with the refined hints over the original ones', async () => {
    const args = { topic: 'Norway parliament', hints: { entity_kind: 'country' } }
    const routes = [{ action: 'retighten', args }, { action: 'synthesize_directly' }]
    const { place, model } = withModel({ route: (nth) => routes[nth] ?? {}, answer: ANSWER })
    const asked = await place.ask({ topic: 'the house in the north', hints: { domain: 'geo', entity_kind: 'city' } })
    expect(asked.path).toEqual([
      'classified',
      'routed retighten',
      'classified',
      'routed synthesize_directly',
      'synthesized',
    ])
    const [first, second] = model.prompts('route')
    expect(first).toContain('the house in the north')
    expect(second).toContain('Norway parliament')
    expect(second).toContain('"domain":"geo","entity_kind":"country"')
    // What was asked stays what is answered.
    expect(model.prompts('answer')[0]).toContain('the house in the north')
    expect(asked.answer.intent).toMatchObject({ topic: 'the house in the north', hints: { entity_kind: 'city' } })
    expect(asked.answer.result?.decomp_trace).toMatchObject({ router_action: 'retighten', retighten_rounds: 1 })
  })

  test('refines with exactly the queries the assessor asked for, and counts the rounds', async () => {
    const refined_queries = ['Lima coast', 'Peru ocean']
    const assess = (nth: number) => (nth < 2 ? { sufficient: false, refined_queries: [refined_queries[nth]] } : enough)
    const { place } = withModel({ route: walk(['Norway', 'name']), assess, answer: ANSWER })
    const asked = await place.ask({ topic: 'What is the capital of Norway?', budget_tokens: 20_000 })
    expect(asked.path.filter((stage) => stage.startsWith('assessed'))).toEqual([
      'assessed false',
      'assessed false',
      'assessed true',
    ])
    const { result } = asked.answer
    expect(result?.iterations).toBe(2)
    expect(result?.decomp_trace?.sub_queries?.slice(-2)).toEqual(
      refined_queries.map((text) => ({ kind: 'lexical', text, limit: 20 })),
    )
    expect(result?.evidence?.map(({ entity_id }) => entity_id)).toContain(idOf('city', 'lima'))
    // One route, three assessments, one answer: 30 tokens each.
    expect(result?.tokens_used).toBe(150)
    expect(await ledgerOf(place, asked)).toMatchObject({ committed_tokens: 150, spent_tokens: 150, told: 150 })
  })

  test('is asked at temperature 0 in a single turn, and the same question is the same prompts', async () => {
    const { place, model } = withModel({ route: walk(['Norway', 'name']), assess: enough, answer: ANSWER })
    const intent = { topic: 'What is the capital of Norway?', hints: { zeta: '1', alpha: '2' } }
    await place.ask(intent)
    const first = model.asked.map(({ body }) => body)
    await place.ask({ hints: { alpha: '2', zeta: '1' }, topic: intent.topic })
    expect(model.asked.slice(first.length).map(({ body }) => body)).toEqual(first)
    for (const { temperature, messages } of first) {
      expect(temperature).toBe(0)
      expect((messages as readonly { role: string }[]).map(({ role }) => role)).toEqual(['system', 'user'])
    }
    expect(model.prompts('route')[0]).toContain('{"alpha":"2","zeta":"1"}')
  })
})

test('what models said stands on the loop entity, by its stage, and opaque', async () => {
  const rationale = 'Because the candidates say so.'
  const { place } = withModel({ route: { action: 'synthesize_directly', rationale }, answer: ANSWER })
  const asked = await place.ask({ topic: 'What is the capital of Norway?' })
  const loop = await place.place.world.graph.entity('main', loopEntityId('main', asked.run_id))
  const told = loop?.triples?.filter(({ source }) => source !== 'agent-research-graph') ?? []
  expect(told.map(({ predicate, source, rule_opaque }) => [predicate, source, rule_opaque]).sort()).toEqual([
    ['research.route_rationale', 'route_search', true],
    ['research.synthesis', 'synthesize_answer', true],
  ])
  expect(told.find(({ predicate }) => predicate === 'research.route_rationale')?.object).toBe(rationale)
  const last = asked.events.findLast(({ type }) => type === 'research:synthesized')
  expect(told.find(({ predicate }) => predicate === 'research.synthesis')?.object).toBe(
    last?.type === 'research:synthesized' ? last.data.ref : '',
  )
})

test('every invariant holds for chains of all kinds', async () => {
  const refine = (nth: number) => ({ sufficient: nth > 0, refined_queries: ['Oslo'] })
  const { place } = withModel({ route: walk(['Norway', 'name']), assess: refine, answer: ANSWER })
  const runs = [await place.ask({ topic: 'Norway?' }), await place.ask({ topic: 'Norway', budget_tokens: 10 })]
  for (const { run_id } of runs) {
    const { status, json } = await place.call('verify-run', run_id)
    expect(status).toBe(200)
    expect(json).toMatchObject({ ok: true })
    expect((json as unknown as { readonly checks: readonly unknown[] }).checks.length).toBeGreaterThan(10)
  }
})

test('a loop that asked is told once, with the state that holds the answer', async () => {
  const place = extractive()
  const asked = await place.ask({ topic: 'Norway', parent_loop: 'acme.ops.agent.main.loop.l1' } as never)
  const told = asked.events.filter(({ type }) => type === 'research:continued')
  expect(told).toHaveLength(1)
  expect(asked.answer.parent_loop).toBe('acme.ops.agent.main.loop.l1')
})
