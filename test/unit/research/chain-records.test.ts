import { describe, expect, test } from 'vitest'
import { refuseEntityId } from '../../../shared/graph/entity-id.ts'
import { TripleSchema } from '../../../shared/graph/triple.ts'
import { candidatesAsEvidence, toClassifierOutput, toDecompTrace } from '../../../shared/research/chain-state.ts'
import { kickoffTriples, loopEntityId } from '../../../shared/research/loop-entity.ts'
import { classifierOutputKind } from '../../../shared/research/payloads/stage-outputs.ts'
import { fitsSearch } from '../../../shared/research/question/search-hints.ts'

const classified = {
  topic: 'Norway',
  classification: { tier: '0', intent: '', confidence: 0, hints: {} },
  hints: {},
  candidates: [],
  degraded_reasons: [],
} as const

describe('emitClassification()', () => {
  test('has a tier and a confidence where nothing matched', () => {
    expect(toClassifierOutput(classified)).toMatchObject({ tier: '0', confidence: 0 })
  })

  test('has a reason exactly where it is degraded', () => {
    expect(toClassifierOutput({ ...classified, degraded_reasons: ['', ' '] })).not.toHaveProperty('degraded')
    expect(toClassifierOutput({ ...classified, degraded_reasons: ['index behind', 'tier 1 failed'] })).toMatchObject({
      degraded: true,
      degraded_reason: 'index behind; tier 1 failed',
    })
  })

  test('keeps a confidence within 0 and 1', () => {
    const sure = { ...classified, classification: { ...classified.classification, confidence: 1.2 } }
    expect(classifierOutputKind.validate(toClassifierOutput(sure))).toEqual([])
  })
})

test('candidates are evidence in their order, relevance as score', () => {
  const candidate = { entity_id: 'e', label: 'L', tier: '1', source: 's' }
  expect(candidatesAsEvidence([{ ...candidate, relevance: 2, snippet_text: 't' }, candidate])).toEqual([
    { entity_id: 'e', tier: '1', source: 's', score: 2, snippet_text: 't' },
    { entity_id: 'e', tier: '1', source: 's' },
  ])
})

describe('fitsSearch()', () => {
  const entity_id = 'acme.ops.Geo.atlas.country.no'
  test.each<[object, string | undefined, boolean]>([
    [{}, undefined, true],
    [{ type: 'country' }, undefined, true],
    [{ type: 'city' }, undefined, false],
    [{ type: 'nation' }, 'Nation', true],
    [{ type: 'country' }, 'nation', false],
    [{ domain: 'geo' }, undefined, true],
    [{ domain: 'atlas' }, undefined, false],
  ])('%j against an entity of type %s: %s', (search, type, fits) => {
    expect(fitsSearch({ entity_id, type }, search)).toBe(fits)
  })
})

describe('kickoffTriples()', () => {
  const subject = loopEntityId('main', 'run_01')
  const at = '2026-11-18T15:30:00.000Z'
  const said = (intent: Parameters<typeof kickoffTriples>[1], parent_loop?: string) =>
    kickoffTriples(subject, intent, { at, ...(parent_loop === undefined ? {} : { parent_loop }) })

  test('are about an entity of its own', () => {
    expect(subject).toBe('main.sluice.research.chain.loop.run_01')
    expect(refuseEntityId(subject)).toBeUndefined()
    expect(refuseEntityId(loopEntityId('acme.org', 'run_01'))).toBeUndefined()
  })

  test('say topic, hints, resolved bounds, parent and role', () => {
    const triples = said({ topic: 'Norway', hints: { recency: 'today', domain: 'geo' } }, 'run_00.plan')
    expect(triples.map(({ predicate, object }) => `${predicate} ${object}`)).toEqual([
      'research.requested Norway',
      'research.topic Norway',
      'research.hint domain=geo',
      'research.hint recency=today',
      'research.budget_tokens 4000',
      'research.max_iterations 5',
      'research.parent_loop run_00.plan',
      'loop.role research_pipeline',
    ])
  })

  test('are triples of the graph with the source of the kick-off, none opaque', () => {
    for (const triple of said({ topic: 'Norway', budget_tokens: 7, max_iterations: 2 })) {
      expect(TripleSchema.parse(triple)).toEqual(triple)
      expect(triple).toMatchObject({ subject, source: 'agent-research-graph', rule_opaque: false, timestamp: at })
    }
  })
})

describe('traceSteps()', () => {
  const steps = { sub_queries: [], seed_entities: [], retighten_rounds: 0 }

  test('is absent only where synthesize_directly was the first and only step', () => {
    expect(toDecompTrace({ ...steps, first_action: 'synthesize_directly' })).toBeUndefined()
    expect(toDecompTrace({ ...steps, first_action: 'retighten', retighten_rounds: 1 })).toMatchObject({
      retighten_rounds: 1,
    })
    expect(toDecompTrace(steps)).toEqual(steps)
  })

  test('holds what really ran and the resolved ids', () => {
    const query = { kind: 'entity_state', entity_id: 'a', rank: 1 } as const
    expect(toDecompTrace({ ...steps, first_action: 'walk_seeds', sub_queries: [query], seed_entities: ['a'] })).toEqual(
      {
        router_action: 'walk_seeds',
        sub_queries: [query],
        seed_entities: ['a'],
        retighten_rounds: 0,
      },
    )
  })
})
