import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCandidates } from '../../../functions/research/candidates.ts'
import { readChain } from '../../../functions/research/stored-chain.ts'
import { kickoffTriples, loopEntityId } from '../../../shared/research/loop-entity.ts'
import { describeSearch } from '../../../shared/research/question/search-hints.ts'
import { openResearchPlace, type ResearchPlace } from './research-place.ts'
import { idOf } from './small-atlas.ts'

/** What nl_classify finds: by names, words, structure and diffusion, and from its hints alone. */
let place: ResearchPlace
beforeAll(async () => {
  const zone = { type: 'zone', name: 'z4', label: 'Zone 4' }
  const crane = { type: 'crane', name: 'c1', label: 'Crane C1', says: { 'ops.zone': idOf('zone', 'z4') } }
  place = await openResearchPlace({ sweep_ms: 0 }, {}, [zone, crane])
})
afterAll(() => place.close())

const search = (topic: string, hints: Readonly<Record<string, unknown>> = {}) =>
  findCandidates(place.place.world, 'main', describeSearch(topic, hints))
const idsOf = async (topic: string, hints = {}) =>
  (await search(topic, hints)).candidates.map(({ entity_id }) => entity_id)

describe('findCandidates()', () => {
  test('puts what the question names first, by label or alias, whatever the case', async () => {
    for (const name of ['Norway', 'NORWAY’s', 'the kingdom of norway']) {
      const [first] = (await search(`What is the currency of ${name}?`)).candidates
      expect(first).toMatchObject({ entity_id: idOf('country', 'no'), tier: '0', source: 'classifier_chain' })
      expect(first).toMatchObject({ label: 'Norway', type: 'country', snippet_text: expect.any(String) })
    }
  })

  test('finds by words what is not named, and by diffusion what neither names nor words find', async () => {
    const { candidates } = await search('Storting')
    expect(candidates[0]).toMatchObject({ entity_id: idOf('country', 'no'), tier: '1', source: 'bm25_index' })
    const oslo = candidates.find(({ entity_id }) => entity_id === idOf('city', 'oslo'))
    expect(oslo).toMatchObject({ tier: '1', source: 'graph_diffusion' })
  })

  test('acts on entity_kind and domain', async () => {
    const cities = await idsOf('Norway', { entity_kind: 'CITY' })
    expect(cities.length).toBeGreaterThan(0)
    expect(cities.every((id) => id.includes('.city.'))).toBe(true)
    expect(await idsOf('Norway', { domain: 'nothing' })).toEqual([])
  })

  test('in a box or a time finds only what lies there, named or not', async () => {
    const box = { geo_bounds: { north: 60, south: 59.8, east: 11, west: 10 } }
    const there = (await search('which sensors', box)).candidates
    expect(there.map(({ entity_id }) => entity_id)).toEqual([idOf('sensor', 's1'), idOf('city', 'oslo')])
    expect(there.every(({ tier, source }) => tier === '0' && source === 'spatial')).toBe(true)
    const old = { time_range: { from: '2019-12-01T00:00:00.000Z', to: '2020-02-01T00:00:00.000Z' } }
    expect(await idsOf('Norway', old)).toEqual([idOf('sensor', 's2')])
  })

  test('follows a path from its start, and looks into a zone', async () => {
    const around = (await search('how are they linked', { path_intent: true, path_start_node: 'Oslo' })).candidates
    const found = around.filter(({ source }) => source === 'search_graph').map(({ entity_id }) => entity_id)
    expect(found.slice(0, 2)).toEqual([idOf('city', 'oslo'), idOf('country', 'no')])
    expect(found).toContain(idOf('country', 'se'))
    const inZone = (await search('what moved', { zone: 'zone 4' })).candidates
    expect(inZone.map(({ entity_id }) => entity_id)).toContain(idOf('crane', 'c1'))
  })

  test('a misspelt name is taken for the only one next to it, and that is told; an unknown word for none', async () => {
    const { candidates, degraded } = await search('What is the capital of Norwya?')
    expect(candidates[0]).toMatchObject({ entity_id: idOf('country', 'no'), tier: '0', source: 'classifier_chain' })
    expect(degraded).toEqual(['nothing has the word "Norwya": "norway" was looked for'])
    const unknown = await search('What is the capital of Timbuktu?')
    expect(unknown.degraded).toEqual([])
    expect(unknown.candidates.filter(({ source }) => source === 'classifier_chain')).toEqual([])
  })

  test('finds a name by its words, whatever stands between them', async () => {
    expect((await idsOf('What is in zone-4?'))[0]).toBe(idOf('zone', 'z4'))
    expect((await idsOf('the crane c1 crane_C1', {}))[0]).toBe(idOf('crane', 'c1'))
  })

  test('a part that fails degrades and stops no other', async () => {
    const { world } = place.place
    const broken = { ...world, graph: { ...world.graph, entities: () => Promise.reject(new Error('away')) } }
    const found = await findCandidates(broken, 'main', describeSearch('Norway', {}))
    expect(found.degraded).toEqual(['the search for names failed'])
    expect(found.candidates.map(({ source }) => source)).toContain('bm25_index')
  })

  test('never finds the loop of a chain, nor by what a model wrote of it', async () => {
    const { graph } = place.place.world
    const loop = loopEntityId('main', 'run_00000000000000000000000000')
    await graph.addTriples('main', kickoffTriples(loop, { topic: 'quokka census' }, { at: '2026-11-01T00:00:00.000Z' }))
    const opaque = { subject: idOf('country', 'pe'), predicate: 'ops.note', object: 'wombat', source: 'm' }
    await graph.addTriples('main', [
      { ...opaque, timestamp: '2026-11-01T00:00:00.000Z', confidence: 1, rule_opaque: true },
    ])
    expect(await idsOf('quokka census')).toEqual([])
    expect(await idsOf('wombat')).toEqual([])
  })
})

describe('the same result', () => {
  test.each([
    ['plain words', 'What is the capital of Norway?', {}],
    ['a box and a time', 'sensors within 5 km of 59.91, 10.75 of last year', {}],
    ['the caller’s hints', 'Norway', { entity_kind: 'city', recency: 'last 30 days', odd: 'stays' }],
    ['a path', 'how is Oslo connected to Sweden', {}],
    ['a zone, and a number of things', 'top 3 cranes in zone 4', {}],
  ])('a search rebuilt from topic and hints alone finds the same candidates: %s', async (_name, topic, hints) => {
    const asked = await place.ask({ topic, hints })
    const first = asked.events.find(({ type }) => type === 'research:classified')
    const { classified } = await readChain(
      place.place.world,
      'main',
      (first?.data as { readonly ref?: string })?.ref ?? '',
    )
    const again = await search(classified?.topic ?? '', JSON.parse(JSON.stringify(classified?.hints)))
    expect(again.candidates).toEqual(classified?.candidates ?? [])
  })
})
