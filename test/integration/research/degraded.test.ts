import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import { Fault } from '../../../shared/errors.ts'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import { searchResultKind } from '../../../shared/research/payloads/result.ts'
import type { World } from '../../../shared/world.ts'
import { hang, json } from '../../emulators/provider-server.ts'
import { fastClock } from '../fast-clock.ts'
import { does, type ModelServer, type Script, startModel } from './model-server.ts'
import { type Asked, ledgerOf, openResearchPlace, type ResearchPlace } from './research-place.ts'
import { idOf } from './small-atlas.ts'

/** Whatever goes wrong, a chain ends in a result that says what happened, keeps its evidence, and adds up. */
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function openPlace(settings = {}, options: PlaceOptions = {}): Promise<ResearchPlace> {
  const place = await openResearchPlace(options, settings)
  open.push(place)
  return place
}

/** One place for each setting; the model says something new to each test. */
let model: ModelServer
const places = new Map<string, ResearchPlace>()
beforeAll(async () => {
  model = await startModel({})
})
afterAll(async () => {
  for (const place of places.values()) await place.close()
  await model.close()
})

async function withModel(script: Script, settings: { readonly safety?: object } = {}) {
  model.say(script)
  const key = JSON.stringify(settings)
  const place = places.get(key) ?? (await openResearchPlace({}, { ...settings, ...model.settings }))
  places.set(key, place)
  return { model, place }
}

/** The same place with a port that fails until the test is over. */
function fails<P extends 'graph' | 'search' | 'objects'>({ place }: ResearchPlace, port: P, broken: Partial<World[P]>) {
  const whole = place.world[port]
  Object.assign(place.world, { [port]: { ...whole, ...broken } })
  open.push({ close: async () => void Object.assign(place.world, { [port]: whole }) })
}

const away =
  (code = 'index_unavailable') =>
  async (): Promise<never> => {
    throw new Fault('Unavailable', code, 'It is away.')
  }

async function degraded(place: ResearchPlace, asked: Asked, reason: RegExp) {
  const { result, state } = asked.answer
  expect(state).toBe('completed')
  expect(asked.path.at(-1)).toBe('synthesized')
  expect(asked.path.filter((stage) => stage === 'synthesized')).toHaveLength(1)
  expect(readPayload(searchResultKind, result).ok).toBe(true)
  expect(asked.answer.degraded.join('\n')).toMatch(reason)
  expect(result?.synthesis).toMatch(/^Degraded: /m)
  const { committed_tokens, spent_tokens, told } = await ledgerOf(place, asked)
  expect([committed_tokens, told, result?.tokens_used]).toEqual([spent_tokens, spent_tokens, spent_tokens])
  return result
}

const TOPIC = 'What is the capital of Norway?'
const walk = (...refs: readonly string[]) => ({
  action: 'walk_seeds',
  args: { seeds: refs.map((ref) => ({ ref, ref_type: 'name' })) },
})
const enough = { sufficient: true }
const ANSWER = { synthesis: 'The capital of Norway is Oslo [1].' }
const refine = (nth: number) => ({ sufficient: false, refined_queries: [`Oslo ${nth}`] })

describe('the bounds of the chain', () => {
  test('a third retighten verdict is answered from what there is', async () => {
    const route = (nth: number) => ({ action: 'retighten', args: { topic: `Norway ${nth}` } })
    const { place } = await withModel({ route, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    expect(asked.path.filter((stage) => stage === 'classified')).toHaveLength(3)
    const result = await degraded(place, asked, /retightened 2 times/)
    expect(result?.decomp_trace?.retighten_rounds).toBe(2)
    expect(result?.synthesis).toContain('Oslo [1]')
    expect(result?.evidence?.length).toBeGreaterThan(0)
  })

  test('an exhausted refine loop is answered from what there is', async () => {
    const { place, model } = await withModel({ route: walk('Norway'), assess: refine, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000, max_iterations: 3 })
    const result = await degraded(place, asked, /not sufficient after 3 refine rounds/)
    expect(result).toMatchObject({ iterations: 3, tokens_used: 30 * 6 })
    expect(model.kinds()).toEqual(['route', 'assess', 'assess', 'assess', 'assess', 'answer'])
  })

  test('a query that ran is not run again: the loop ends where nothing new is asked for', async () => {
    const assess = (nth: number) => ({ sufficient: false, refined_queries: nth === 0 ? ['Oslo', TOPIC] : [' oslo '] })
    const { place } = await withModel({ route: walk('Norway'), assess, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000, max_iterations: 5 })
    const result = await degraded(place, asked, /not sufficient, and what was asked for next had been searched for/)
    expect(result?.iterations).toBe(1)
    const texts = result?.decomp_trace?.sub_queries?.flatMap(({ kind, text }) => (kind === 'lexical' ? [text] : []))
    expect(texts).toEqual([TOPIC, 'Oslo'])
  })
})

describe('a spent budget', () => {
  test('leaves no call that does not fit: an answer says so, with the candidates as evidence', async () => {
    const { place, model } = await withModel({})
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 100 })
    expect(asked.path).toEqual(['classified', 'routed', 'synthesized'])
    const result = await degraded(place, asked, /budget: a call of \d+ tokens does not fit into the 100 that are left/)
    expect(result?.synthesis).toMatch(/^No answer was composed\./)
    expect(result).toMatchObject({ tokens_used: 0 })
    expect(model.asked).toEqual([])
    const refused = asked.events.filter(({ type }) => type === 'budget:exceeded')
    expect(refused.map(({ data }) => data)).toMatchObject([
      { of: 'run_tokens', cap: 100 },
      { of: 'run_tokens', cap: 100 },
    ])
  })

  test('is spent on the answer where it does not reach for the calls before it', async () => {
    const { place, model } = await withModel({ answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 1_000 })
    const result = await degraded(place, asked, /the question was not routed: budget/)
    expect(model.kinds()).toEqual(['answer'])
    expect(result?.synthesis).toContain(ANSWER.synthesis)
  })

  test('in the middle of the refine loop ends it, and never goes over the cap', async () => {
    const greedy = (body: object) => does(json(200, completion(body, { prompt_tokens: 900, completion_tokens: 100 })))
    const script = {
      route: greedy(walk('Norway')),
      assess: (nth: number) => greedy(refine(nth)),
      answer: greedy(ANSWER),
    }
    const { place } = await withModel(script)
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 4_000, max_iterations: 40 })
    const result = await degraded(place, asked, /the evidence was not assessed: budget/)
    expect(result?.tokens_used).toBeLessThanOrEqual(4_000)
    expect(result?.synthesis).toContain(ANSWER.synthesis)
  })

  test('a cap of the policy holds too, and one in dollars asks for a known price', async () => {
    const { place: small } = await withModel({}, { safety: { max_run_tokens: 50 } })
    await degraded(small, await small.ask({ topic: TOPIC }), /into the 50 that are left/)
    const { place: priced, model } = await withModel({}, { safety: { max_run_usd: 1 } })
    await degraded(priced, await priced.ask({ topic: TOPIC }), /a cap in dollars holds, and nobody knows/)
    expect(model.asked).toEqual([])
  })
})

function completion(body: object, usage: object) {
  const message = { role: 'assistant', content: JSON.stringify(body) }
  return { object: 'chat.completion', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

describe('time', () => {
  test('that is over before a stage begins ends the chain at once', async () => {
    const place = await openPlace({ safety: { max_run_sec: 19 } })
    const asked = await place.ask({ topic: TOPIC })
    expect(asked.path).toEqual(['classified', 'synthesized'])
    await degraded(place, asked, /^timeout: less than 20 seconds/)
  })

  test('that a model takes is bounded: the chain goes on to its answer without it', {
    tags: ['thorough'],
  }, async () => {
    const { place } = await withModel({ route: does(hang) }, { safety: { max_run_sec: 22 } })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /route_search failed: the model did not answer: provider_timeout/)
    expect(result?.evidence?.length).toBeGreaterThan(0)
    // Nobody knows what the call used, so its estimate counts.
    expect(result?.tokens_used).toBeGreaterThan(256)
  })
})

describe('structured output that is not valid twice', () => {
  test('of the router is a decomposition with the topic as its focus', async () => {
    const { place, model } = await withModel({ route: 'I would walk, I think.', assess: enough, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /the router was not followed: its answer was not valid, twice/)
    expect(model.kinds()).toEqual(['route', 'route', 'assess', 'answer'])
    expect(model.prompts('route')[1]).toMatch(/The previous answer was refused:\n```\n/)
    expect(result?.decomp_trace).toMatchObject({ router_action: 'decompose' })
    expect(result?.decomp_trace?.sub_queries?.[0]).toMatchObject({ kind: 'lexical', text: TOPIC })
    expect(asked.answer.trace.find(({ stage }) => stage === 'route_search')).toMatchObject({ retries: 1, tokens: 60 })
  })

  test('of the assessor is not sufficient, and the topic is searched, where it was not', async () => {
    const assess = (nth: number) => (nth < 2 ? { sufficient: 'yes' } : enough)
    const searched = [walk('Norway'), { action: 'decompose', args: { axes: ['entity_type'], focus: 'Norway' } }]
    for (const [rounds, route] of searched.entries()) {
      const { place } = await withModel({ route, assess, answer: ANSWER })
      const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
      expect(asked.path).toContain('assessed false')
      const result = await degraded(place, asked, /the assessor was not followed/)
      expect(result?.iterations).toBe(rounds)
      const query = { kind: 'lexical', text: TOPIC, limit: 20 }
      expect(
        result?.decomp_trace?.sub_queries?.filter(({ text, kind }) => text === TOPIC && kind === 'lexical'),
      ).toEqual([query])
    }
  })

  test('of the synthesizer is a result that shows the evidence', async () => {
    const { place } = await withModel({ route: { action: 'synthesize_directly' }, answer: '{"synthesis": 7}' })
    const asked = await place.ask({ topic: TOPIC, budget_tokens: 20_000 })
    const result = await degraded(place, asked, /no answer was written: its answer was not valid, twice/)
    expect(result?.synthesis).toMatch(/^No answer was composed\./)
    expect(result?.tokens_used).toBe(90)
  })
})

describe('without candidates', () => {
  test('another route than retighten and decompose is asked for once more, then it is decompose', async () => {
    const { place, model } = await withModel({ route: { action: 'synthesize_directly' }, assess: enough })
    const asked = await place.ask({ topic: 'zzz qqq' })
    expect(model.prompts('route')[0]).toContain('There are no candidates.')
    expect(model.prompts('route')[1]).toContain(
      'there are no candidates: allowed are \\"retighten\\", \\"decompose\\"'.replaceAll('\\', ''),
    )
    expect(asked.path[1]).toBe('routed decompose')
    const result = await degraded(place, asked, /the router was not followed/)
    // Nothing to answer from: no model is asked to invent something.
    expect(model.kinds()).toEqual(['route', 'route', 'assess'])
    expect(result?.synthesis).toMatch(/^No answer found in the graph for: zzz qqq/)
  })
})

describe('seeds', () => {
  test('that name nothing are left out and counted; the others are walked from', async () => {
    const { place } = await withModel({ route: walk('Norway', 'Atlantis'), assess: enough, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /^1 seed references unresolved$/)
    expect(result?.decomp_trace?.seed_entities).toEqual([idOf('country', 'no')])
  })

  test('none of which resolves leave the words of the question', async () => {
    const { place } = await withModel({ route: walk('Mu', 'Atlantis'), assess: enough, answer: ANSWER })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /2 seed references unresolved/)
    expect(result?.decomp_trace?.sub_queries).toEqual([{ kind: 'lexical', text: TOPIC, limit: 20 }])
    expect(result?.evidence?.length).toBeGreaterThan(0)
  })
})

describe('what is searched', () => {
  test('a sub-query that fails stops no other', async () => {
    const { place } = await withModel({ route: walk('Norway'), assess: enough, answer: ANSWER })
    fails(place, 'graph', { neighbours: away('store_away') })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /sub-query predicate_walk failed: store_away/)
    expect(result?.evidence?.map(({ source }) => source)).toContain('entity_state')
    expect(result?.evidence?.map(({ source }) => source)).toContain('bm25_index')
  })

  test('a sub-query that never ends is given up after its own time', async () => {
    const model = await startModel({ route: walk('Norway'), assess: enough, answer: ANSWER })
    open.push(model)
    const { delay } = fastClock(20)
    const place = await openPlace(model.settings, { clock: { ...systemClock, delay } })
    fails(place, 'graph', { neighbours: () => new Promise(() => undefined) })
    const asked = await place.ask({ topic: TOPIC })
    await degraded(place, asked, /sub-query predicate_walk failed: search_too_slow/)
  })

  test('an index that is away degrades the candidates; the router is told, and the graph still answers', async () => {
    const { place, model } = await withModel({ route: { action: 'decompose', args: { axes: ['x'], focus: 'Norway' } } })
    fails(place, 'search', { search: away(), lookup: away(), diffuse: away(), follow: away() })
    const asked = await place.ask({ topic: TOPIC, max_iterations: 1 })
    await degraded(place, asked, /the lexical search failed/)
    expect(model.prompts('route')[0]).toContain('The search was degraded, so take the candidates as advice only.')
    expect(asked.answer.degraded).toContain('sub-query lexical failed: index_unavailable')
  })

  test('the extractive router does not answer directly from degraded candidates', async () => {
    const place = await openPlace()
    fails(place, 'search', { follow: away() })
    const asked = await place.ask({ topic: 'Norway' })
    expect(asked.path[1]).not.toBe('routed synthesize_directly')
    await degraded(place, asked, /the search along relations failed/)
  })
})

describe('a stage that fails', () => {
  const broken = async (): Promise<never> => {
    throw new Fault('Bug', 'entity_corrupt', 'It cannot be read.')
  }

  test('for good, the answer says which, and keeps the evidence found before', async () => {
    const { place } = await withModel({ route: walk('Norway') })
    let calls = 0
    const { entities } = place.place.world.graph
    fails(place, 'graph', { entities: (tenant, ids) => (calls++ < 3 ? entities(tenant, ids) : broken()) })
    const asked = await place.ask({ topic: TOPIC })
    expect(asked.path).toEqual(['classified', 'routed walk_seeds', 'executed', 'synthesized'])
    const result = await degraded(place, asked, /assess_sufficiency failed: Bug/)
    expect(result?.evidence?.length).toBeGreaterThan(0)
    expect(result?.synthesis).toContain('What was found:')
  })

  test('as the last one, another try answers without a model', async () => {
    const { place, model } = await withModel({ route: { action: 'synthesize_directly' }, answer: ANSWER })
    let calls = 0
    const { entities } = place.place.world.graph
    fails(place, 'graph', { entities: (tenant, ids) => (calls++ < 1 ? entities(tenant, ids) : broken()) })
    const asked = await place.ask({ topic: TOPIC })
    await degraded(place, asked, /synthesize_answer failed: Bug/)
    expect(model.kinds()).toEqual(['route'])
  })

  test('because its provider refuses is not tried again, and not counted', async () => {
    const { place, model } = await withModel({ route: does(json(401, { error: { message: 'no' } })) })
    const asked = await place.ask({ topic: TOPIC })
    const result = await degraded(place, asked, /route_search failed: the model did not answer: provider_refused/)
    expect(model.asked).toHaveLength(1)
    expect(result?.tokens_used).toBe(0)
  })

  test('because nobody answers is tried three times in all', async () => {
    const model = await startModel({ route: does(json(503, { error: { message: 'busy' } })) })
    open.push(model)
    const { delay } = fastClock(20)
    const place = await openPlace(model.settings, { clock: { ...systemClock, delay } })
    const asked = await place.ask({ topic: TOPIC })
    await degraded(place, asked, /route_search failed: the model did not answer: provider_unavailable/)
    expect(model.asked).toHaveLength(3)
  })
})

test('a run without a result fails in words', async () => {
  const place = await openPlace()
  const { objects } = place.place.world
  fails(place, 'objects', {
    put: async (tenant, body) => {
      if (Buffer.from(body).includes('"stages"')) throw new Fault('Bug', 'store_away', 'It is away.')
      return objects.put(tenant, body)
    },
  })
  const { json: started } = await place.call('start-research', '', { topic: TOPIC })
  const events = await place.ended((started as unknown as { run_id: string }).run_id)
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'no_result' } })
})
