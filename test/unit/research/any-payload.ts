import fc from 'fast-check'

/** Arbitrary payloads as their types allow them, zero and empty members included. */
const text = fc.oneof(fc.constant(''), fc.string({ maxLength: 12 }))
const said = fc.string({ minLength: 1, maxLength: 12 }).map((one) => `x${one}`)
const count = fc.nat({ max: 9 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const key = fc.stringMatching(/^[a-z][a-z_]{0,8}$/)

const candidate = fc.record({
  entity_id: said,
  label: optional(text),
  type: optional(text),
  relevance: optional(fc.constantFrom(0, 0.5, 2)),
  snippet_text: optional(text),
  tier: fc.constantFrom('0', '1', '2'),
  source: said,
})

const evidence = fc.record({
  entity_id: said,
  tier: fc.constantFrom('0', '1', '2'),
  source: said,
  score: optional(fc.constantFrom(0, 0.25, 3)),
  snippet_text: optional(text),
  objectstore_ref: optional(text),
})

const trace = fc.record({
  router_action: optional(text),
  sub_queries: optional(fc.array(fc.dictionary(key, fc.jsonValue(), { maxKeys: 2 }), { maxLength: 2 })),
  seed_entities: optional(fc.array(text, { maxLength: 2 })),
  retighten_rounds: optional(count),
})

/** By category of the registry. */
export const ANY_PAYLOAD = {
  intent: fc.record({
    topic: said,
    hints: optional(fc.dictionary(key, said, { maxKeys: 3 })),
    budget_tokens: optional(count),
    max_iterations: optional(count),
  }),
  classifier_output: fc.record({
    topic: said,
    tier: optional(fc.constantFrom('', '0', '1', '3')),
    intent: optional(text),
    confidence: optional(fc.constantFrom(0, 0.5, 1)),
    hints: optional(fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 })),
    candidates: optional(fc.array(candidate, { maxLength: 3 })),
    degraded: optional(fc.boolean()),
    degraded_reason: optional(text),
  }),
  route_decision: fc.record({
    action: fc.constantFrom('synthesize_directly', 'retighten', 'walk_seeds', 'decompose'),
    args: optional(fc.dictionary(key, fc.jsonValue(), { maxKeys: 3 })),
    rationale: optional(text),
  }),
  result: fc.record({
    evidence: optional(fc.array(evidence, { maxLength: 3 })),
    synthesis: said,
    decomp_trace: optional(trace),
    tokens_used: optional(count),
    iterations: optional(count),
  }),
  execution_output: fc.record({
    topic: said,
    action: fc.constantFrom('walk_seeds', 'decompose'),
    evidence: optional(fc.array(evidence, { maxLength: 3 })),
    subquery_count: optional(count),
    degraded: optional(fc.boolean()),
    degraded_reason: optional(text),
    budget_tokens_used: optional(count),
  }),
  assessment_output: fc.record({
    topic: said,
    sufficient: fc.boolean(),
    refined_queries: optional(fc.array(said, { maxLength: 3 })),
    rationale: optional(text),
    confidence: optional(fc.constantFrom(0, 0.5, 1)),
    evidence_count: optional(count),
    degraded: optional(fc.boolean()),
    degraded_reason: optional(text),
  }),
} as const
