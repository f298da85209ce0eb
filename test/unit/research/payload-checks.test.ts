import { describe, expect, test } from 'vitest'
import { PAYLOAD_CHECKS } from '../../../shared/research/payload-checks.ts'

const refusals = (type: string, input: unknown) =>
  (PAYLOAD_CHECKS[type]?.(input) ?? [{ code: 'no such type', path: '' }]).map(({ code, path }) =>
    `${code} ${path}`.trim(),
  )

const candidate = { entity_id: 'e', tier: '0', source: 'classifier_chain' }
const evidence = { entity_id: 'e', tier: '1', source: 'bm25_index' }
const walk = (seeds: unknown) => ({ action: 'walk_seeds', args: { seeds } })
const decompose = (args: object) => ({ action: 'decompose', args: { axes: ['time'], focus: 'f', ...args } })

test('every type of the command can be checked', () => {
  expect(Object.keys(PAYLOAD_CHECKS)).toEqual([
    'Envelope',
    'Intent',
    'Candidate',
    'ClassifierOutput',
    'RouteDecision',
    'RouteDecision.ParseRetightenArgs',
    'RouteDecision.ParseWalkSeedsArgs',
    'RouteDecision.ParseDecomposeArgs',
    'Evidence',
    'SearchResult',
    'ExecutionOutput',
    'AssessmentOutput',
    'EntityID',
    'EntityIDPrefix',
    'EntityIDPattern',
    'Predicate',
    'IsValidRouteAction',
    'IsValidDecomposeScope',
    'IsValidSeedRefType',
  ])
})

describe('accepted', () => {
  test.each<[string, string, unknown]>([
    ['the least intent', 'Intent', { topic: 'x' }],
    ['hints nobody knows', 'Intent', { topic: 'x', hints: { never_heard_of: 'y' } }],
    ['bounds of zero', 'Intent', { topic: 'x', budget_tokens: 0, max_iterations: 0 }],
    ['unknown keys', 'Intent', { topic: 'x', later: { a: 1 } }],
    ['null as absent', 'Intent', { topic: 'x', hints: null, budget_tokens: null }],
    ['any source that is not blank', 'Candidate', { ...candidate, source: 'my_index' }],
    ['tier 2, which nothing emits', 'Candidate', { ...candidate, tier: '2' }],
    ['an id of any form, the graph checks those', 'Evidence', { ...evidence, entity_id: 'drone 1' }],
    ['null in an item as absent', 'ClassifierOutput', { topic: 'x', candidates: [{ ...candidate, label: null }] }],
    ['hints of any JSON', 'ClassifierOutput', { topic: 'x', hints: { a: null, b: [1, { c: true }] } }],
    ['the tier of a model', 'ClassifierOutput', { topic: 'x', tier: '3', confidence: 1 }],
    ['a degraded output without a reason', 'ClassifierOutput', { topic: 'x', degraded: true }],
    ['args nobody looked at', 'RouteDecision', { action: 'decompose', args: { axes: 5 }, rationale: '' }],
    ['retighten without hints', 'RouteDecision.ParseRetightenArgs', { action: 'retighten', args: { topic: 't' } }],
    ['an index out of bounds', 'RouteDecision.ParseWalkSeedsArgs', walk([{ ref: '99', ref_type: 'candidate_index' }])],
    ['an axis of no template', 'RouteDecision.ParseDecomposeArgs', decompose({ axes: ['colour'] })],
    ['an empty scope', 'RouteDecision.ParseDecomposeArgs', decompose({ scope: '' })],
    ['a result without evidence', 'SearchResult', { synthesis: 'nothing found' }],
    ['a free trace', 'SearchResult', { synthesis: 's', decomp_trace: { sub_queries: [{ any: [1] }] } }],
    ['no action where degraded', 'ExecutionOutput', { topic: 'x', action: '', degraded: true }],
    ['the least assessment', 'AssessmentOutput', { topic: 'x', sufficient: false }],
    ['a scope of nothing', 'IsValidDecomposeScope', ''],
    ['a part of an id', 'EntityIDPrefix', 'acme.ops'],
    ['a pattern', 'EntityIDPattern', 'acme.*.geo.atlas.*.*'],
    ['a predicate', 'Predicate', 'research.budget_tokens'],
  ])('%s', (_, type, input) => expect(refusals(type, input)).toEqual([]))
})

describe('refused', () => {
  test.each<[string, string, unknown, readonly string[]]>([
    ['no topic', 'Intent', {}, ['field_required topic']],
    ['a topic of null', 'Intent', { topic: null }, ['field_required topic']],
    ['a blank topic', 'Intent', { topic: ' \t\u00a0\u0085' }, ['field_blank topic']],
    ['a topic of another type', 'Intent', { topic: 5 }, ['field_type topic']],
    ['no object', 'Intent', [], ['field_type']],
    ['a blank hint', 'Intent', { topic: 'x', hints: { a: ' ' } }, ['field_blank hints.a']],
    ['a blank hint key', 'Intent', { topic: 'x', hints: { ' ': 'a' } }, ['field_blank hints']],
    ['a hint that is no text', 'Intent', { topic: 'x', hints: { a: 5 } }, ['field_type hints.a']],
    ['a hint of null', 'Intent', { topic: 'x', hints: { a: null } }, ['field_required hints.a']],
    [
      'bounds below zero',
      'Intent',
      { topic: 'x', budget_tokens: -1, max_iterations: -2 },
      ['field_range budget_tokens', 'field_range max_iterations'],
    ],
    ['part of a token', 'Intent', { topic: 'x', budget_tokens: 1.5 }, ['field_type budget_tokens']],
    [
      'a candidate of nothing',
      'Candidate',
      {},
      ['field_required entity_id', 'field_required tier', 'field_required source'],
    ],
    [
      'a blank id and source',
      'Candidate',
      { ...candidate, entity_id: ' ', source: '' },
      ['field_blank entity_id', 'field_blank source'],
    ],
    ["the classifier's tier", 'Candidate', { ...candidate, tier: '3' }, ['field_value tier']],
    [
      'one bad candidate',
      'ClassifierOutput',
      { topic: 'x', candidates: [candidate, { ...candidate, tier: 'x' }] },
      ['field_value candidates[1].tier'],
    ],
    [
      'a candidate of another type',
      'ClassifierOutput',
      { topic: 'x', candidates: [candidate, 'drone'] },
      ['field_type candidates[1]'],
    ],
    ['the retrieval tier', 'ClassifierOutput', { topic: 'x', tier: '2' }, ['field_value tier']],
    ['a confidence below 0', 'ClassifierOutput', { topic: 'x', confidence: -0.1 }, ['field_range confidence']],
    ['another action', 'RouteDecision', { action: 'Decompose' }, ['field_value action']],
    ['no action', 'RouteDecision', { rationale: 'later' }, ['field_required action']],
    ['args that are a list', 'RouteDecision', { action: 'decompose', args: [] }, ['field_type args']],
    ['args of another action', 'RouteDecision.ParseRetightenArgs', walk([]), ['wrong_action action']],
    ['args of another action', 'RouteDecision.ParseWalkSeedsArgs', decompose({}), ['wrong_action action']],
    ['args of another action', 'RouteDecision.ParseDecomposeArgs', walk([]), ['wrong_action action']],
    ['an unknown action before its args', 'RouteDecision.ParseDecomposeArgs', { action: 'x' }, ['field_value action']],
    ['no args', 'RouteDecision.ParseRetightenArgs', { action: 'retighten' }, ['field_required args.topic']],
    [
      'a blank hint',
      'RouteDecision.ParseRetightenArgs',
      { action: 'retighten', args: { topic: 't', hints: { k: '' } } },
      ['field_blank args.hints.k'],
    ],
    ['no seeds', 'RouteDecision.ParseWalkSeedsArgs', walk([]), ['field_required args.seeds']],
    [
      'a blank seed',
      'RouteDecision.ParseWalkSeedsArgs',
      walk([
        { ref: 'a', ref_type: 'name' },
        { ref: ' ', ref_type: 'name' },
      ]),
      ['field_blank args.seeds[1].ref'],
    ],
    [
      'a seed by full id',
      'RouteDecision.ParseWalkSeedsArgs',
      walk([{ ref: 'a', ref_type: 'full_id' }]),
      ['field_value args.seeds[0].ref_type'],
    ],
    [
      'an index that is a number',
      'RouteDecision.ParseWalkSeedsArgs',
      walk([{ ref: 0, ref_type: 'candidate_index' }]),
      ['field_type args.seeds[0].ref'],
    ],
    ['no axes', 'RouteDecision.ParseDecomposeArgs', decompose({ axes: [] }), ['field_required args.axes']],
    [
      'a blank axis',
      'RouteDecision.ParseDecomposeArgs',
      decompose({ axes: ['time', ' '] }),
      ['field_blank args.axes[1]'],
    ],
    ['no focus', 'RouteDecision.ParseDecomposeArgs', decompose({ focus: null }), ['field_required args.focus']],
    ['another scope', 'RouteDecision.ParseDecomposeArgs', decompose({ scope: 'wide' }), ['field_value args.scope']],
    ['no synthesis', 'SearchResult', { evidence: [] }, ['field_required synthesis']],
    ['a blank synthesis', 'SearchResult', { synthesis: ' ' }, ['field_blank synthesis']],
    [
      'one bad evidence item',
      'SearchResult',
      { synthesis: 's', evidence: [evidence, evidence, { ...evidence, source: ' ' }] },
      ['field_blank evidence[2].source'],
    ],
    [
      'counters below zero',
      'SearchResult',
      { synthesis: 's', tokens_used: -1, iterations: -1 },
      ['field_range tokens_used', 'field_range iterations'],
    ],
    ['no action unless degraded', 'ExecutionOutput', { topic: 'x' }, ['field_required action']],
    ['another action', 'ExecutionOutput', { topic: 'x', action: 'x', degraded: true }, ['field_value action']],
    ['no verdict', 'AssessmentOutput', { topic: 'x' }, ['field_required sufficient']],
    [
      'a blank refined query',
      'AssessmentOutput',
      { topic: 'x', sufficient: false, refined_queries: ['a', ' '] },
      ['field_blank refined_queries[1]'],
    ],
    [
      'a confidence over 1',
      'AssessmentOutput',
      { topic: 'x', sufficient: true, confidence: 1.1 },
      ['field_range confidence'],
    ],
    ['an action of nothing', 'IsValidRouteAction', '', ['field_value']],
    ['a seed type of nothing', 'IsValidSeedRefType', '', ['field_value']],
    ['a scope in capitals', 'IsValidDecomposeScope', 'Narrow', ['field_value']],
    ['no text', 'EntityID', 5, ['field_type']],
    ['an id of five parts', 'EntityID', 'a.b.c.d.e', ['arity']],
    ['a prefix of seven', 'EntityIDPrefix', 'a.b.c.d.e.f.g', ['arity']],
    ['half a star', 'EntityIDPattern', 'a.b.c.d.e.f*', ['alphabet']],
    ['a predicate of one segment', 'Predicate', 'capital', ['bad_predicate']],
  ])('%s (%s)', (_, type, input, expected) => expect(refusals(type, input)).toEqual(expected))

  test('the message names the place and what is allowed', () => {
    const [error] = PAYLOAD_CHECKS.Evidence?.({ ...evidence, tier: '7' }) ?? []
    expect(error?.message).toBe('"tier" is "7", allowed are "0", "1", "2".')
  })
})

test.each(['synthesize_directly', 'retighten', 'walk_seeds', 'decompose'])('%s is an action', (word) =>
  expect(refusals('IsValidRouteAction', word)).toEqual([]),
)
test.each(['narrow', 'medium', 'broad'])('%s is a scope', (word) =>
  expect(refusals('IsValidDecomposeScope', word)).toEqual([]),
)
test.each(['name', 'partial_id', 'candidate_index'])('%s is a seed type', (word) =>
  expect(refusals('IsValidSeedRefType', word)).toEqual([]),
)
