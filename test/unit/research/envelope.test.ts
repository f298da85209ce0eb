import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { omitEmptyMembers } from '../../../shared/research/payloads/codec.ts'
import {
  openEnvelope,
  openPayloadRegistry,
  registerPayloads,
  researchType,
} from '../../../shared/research/payloads/envelope.ts'
import { ANY_PAYLOAD } from './any-payload.ts'

const registry = openPayloadRegistry()
registerPayloads(registry)
/** The envelope as it is sent: its payload as its kind encodes it. */
const sealed = <E extends { readonly type: ReturnType<typeof researchType>; readonly payload?: unknown }>(
  envelope: E,
) => {
  const kind = registry.find(envelope.type)
  if (kind === undefined) throw new Error('no such type')
  return { ...envelope, payload: omitEmptyMembers(kind.schema, envelope.payload) }
}
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('registerPayloads()', () => {
  test('adds exactly the six categories of research v1', () => {
    expect(registry.types()).toEqual(
      ['intent', 'classifier_output', 'route_decision', 'result', 'execution_output', 'assessment_output'].map(
        (category) => ({ domain: 'research', category, version: 'v1' }),
      ),
    )
  })

  test('a type is added once', () => {
    expect(() => registerPayloads(registry)).toThrow(/research\.intent\.v1/)
  })

  test('an empty registry knows nothing', () => {
    expect(openPayloadRegistry().find(researchType('intent'))).toBeUndefined()
  })
})

describe('openEnvelope()', () => {
  const intent = {
    id: 'm1',
    type: researchType('intent'),
    payload: { topic: 'Norway', extra: 1 },
    meta: { parent_loop: 'r.b' },
  }

  test('reads the payload by its type; what travels beside it stays', () => {
    expect(openEnvelope(registry, intent)).toEqual({ ok: true, value: { ...intent, payload: { topic: 'Norway' } } })
  })

  test.each(['domain', 'category', 'version'])('refuses a %s nobody registered', (key) => {
    const read = openEnvelope(registry, { ...intent, type: { ...intent.type, [key]: 'other' } })
    expect(read).toMatchObject({ ok: false, errors: [{ code: 'unknown_payload_type', path: 'type' }] })
  })

  test('names the place of an error from the envelope', () => {
    const read = openEnvelope(registry, { ...intent, payload: { topic: ' ' } })
    expect(read).toMatchObject({ ok: false, errors: [{ code: 'field_blank', path: 'payload.topic' }] })
    expect(openEnvelope(registry, { ...intent, payload: undefined })).toMatchObject({ errors: [{ path: 'payload' }] })
  })
})

describe('a payload with every member its kind documents', () => {
  const item = { entity_id: 'a.b.c.d.e.f', tier: '1', source: 'bm25_index', snippet_text: 'Ore is melted.' }
  const WHOLE: Readonly<Record<string, object>> = {
    intent: {
      topic: 'In what is ore melted?',
      hints: { entity_kind: 'furnace', domain: 'works', recency: 'last week', of_our_own: 'kept' },
      budget_tokens: 4_000,
      max_iterations: 5,
    },
    classifier_output: {
      topic: 'In what is ore melted?',
      tier: '3',
      intent: 'lookup',
      confidence: 0.75,
      hints: { time_range: { from: '2026-05-22T00:00:00Z', to: '2026-05-23T00:00:00Z' }, top_n: 5 },
      candidates: [{ ...item, label: 'Furnace 1', type: 'furnace', relevance: 2.5 }],
      degraded: true,
      degraded_reason: 'semantic search was away',
    },
    route_decision: {
      action: 'walk_seeds',
      args: { seeds: [{ ref: 'Furnace 1', ref_type: 'name' }] },
      rationale: 'It is named.',
    },
    result: {
      evidence: [{ ...item, score: 2.5, objectstore_ref: 'objstore://main/1' }],
      synthesis: 'Ore is melted in a furnace.',
      decomp_trace: {
        router_action: 'decompose',
        sub_queries: [{ kind: 'lexical', query: 'ore' }],
        seed_entities: ['a.b.c.d.e.f'],
        retighten_rounds: 1,
      },
      tokens_used: 812,
      iterations: 2,
    },
  }
  const meta = { created_at: 1_779_530_400_000, received_at: 1_779_530_400_001, source: 'agent-research-graph' }

  test.each(Object.keys(WHOLE))('%s is read as it is written, and written as it was read', (category) => {
    const envelope = { id: '0b9c1f6e', type: researchType(category as 'intent'), payload: WHOLE[category], meta }
    const read = openEnvelope(registry, wire(envelope))
    expect(read).toEqual({ ok: true, value: envelope })
    expect(sealed(envelope)).toEqual(envelope)
  })
})

describe('encodePayload()', () => {
  test('drops optional members that are zero or empty, at every level, and keeps required ones', () => {
    const payload = {
      topic: 'x',
      sufficient: false,
      refined_queries: [],
      rationale: '',
      confidence: 0,
      degraded: false,
      degraded_reason: undefined,
    }
    const written = sealed({ id: '1', type: researchType('assessment_output'), payload })
    expect(written).toMatchObject({ payload: { topic: 'x', sufficient: false } })
    expect(Object.keys(written.payload as object)).toEqual(['topic', 'sufficient'])
    const result = {
      synthesis: 's',
      evidence: [{ entity_id: 'e', tier: '0', source: 's', score: 0 }],
      decomp_trace: { seed_entities: [] },
    }
    expect(sealed({ id: '1', type: researchType('result'), payload: result })).toEqual({
      id: '1',
      type: researchType('result'),
      payload: { synthesis: 's', evidence: [{ entity_id: 'e', tier: '0', source: 's' }] },
    })
  })

  test.each(Object.keys(ANY_PAYLOAD) as (keyof typeof ANY_PAYLOAD)[])(
    'what was sealed opens, and sealed again is the same bytes: %s',
    (category) => {
      const law = fc.property(ANY_PAYLOAD[category] as fc.Arbitrary<unknown>, (payload) => {
        const written = sealed({ id: 'm', type: researchType(category), payload })
        const opened = openEnvelope(registry, wire(written))
        if (!opened.ok) throw new Error(JSON.stringify(opened.errors))
        const again = sealed(opened.value)
        expect(wire(again)).toEqual(wire(written))
      })
      fc.assert(law, { numRuns: 60 })
    },
  )
})
