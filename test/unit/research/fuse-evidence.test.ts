import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evidenceTokens, fuseEvidence, type Hit, trimEvidence } from '../../../shared/research/evidence-ranking.ts'

const hit = (entity_id: string, more: Partial<Hit['evidence']> = {}, of: Partial<Hit> = {}): Hit => ({
  evidence: { entity_id, tier: '0', source: 'entity_state', ...more },
  list: 0,
  ...of,
})
const lexical = (entity_id: string, score: number, source = 'bm25_index', list = 0): Hit =>
  hit(entity_id, { tier: '1', source, score }, { list })
const ids = (hits: readonly Hit[]) => fuseEvidence(hits).map(({ entity_id }) => entity_id)

const anyHit: fc.Arbitrary<Hit> = fc
  .record({
    entity_id: fc.constantFrom('a', 'b', 'c', 'd'),
    tier: fc.constantFrom('0', '1', '2'),
    source: fc.constantFrom('bm25_index', 'embedding', 'graph_diffusion', 'spatial'),
    score: fc.option(fc.constantFrom(0, 0.1, 0.2, 0.3, 7), { nil: undefined }),
    snippet_text: fc.option(fc.constantFrom('', 'one', 'two'), { nil: undefined }),
    list: fc.nat({ max: 2 }),
    recorded_at: fc.option(fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'), { nil: undefined }),
  })
  .map(({ entity_id, tier, source, score, snippet_text, list, recorded_at }) => ({
    list,
    ...(recorded_at === undefined ? {} : { recorded_at }),
    evidence: {
      entity_id,
      tier,
      source,
      ...(score === undefined ? {} : { score }),
      ...(snippet_text === undefined ? {} : { snippet_text }),
    },
  }))

describe('fuseEvidence()', () => {
  test('has each entity once: the lower tier wins, then the higher score', () => {
    const fused = fuseEvidence([
      lexical('a', 99),
      hit('a', { score: 0.1, source: 'predicate_walk' }),
      hit('a', { score: 0.2, source: 'spatial' }),
    ])
    expect(fused).toEqual([{ entity_id: 'a', tier: '0', source: 'spatial', score: 0.2 }])
  })

  test('orders by tier, then score, then the most recent, then id', () => {
    const late = { recorded_at: '2026-02-01T00:00:00.000Z' }
    const early = { recorded_at: '2026-01-01T00:00:00.000Z' }
    expect(
      ids([
        lexical('z', 1_000),
        hit('c', { score: 1 }, early),
        hit('b', { score: 1 }, early),
        hit('d', { score: 1 }, late),
        hit('e', { score: 2 }),
      ]),
    ).toEqual(['e', 'd', 'b', 'c', 'z'])
  })

  test('inside tier 1 ranks count, not scores; a ranking by embeddings a quarter of one by words', () => {
    const fused = fuseEvidence([
      lexical('first', 1_000),
      lexical('both', 2),
      lexical('near', 0.9, 'embedding'),
      lexical('both', 0.8, 'embedding'),
    ])
    expect(fused.map(({ entity_id }) => entity_id)).toEqual(['both', 'first', 'near'])
    expect(fused[0]?.score).toBeCloseTo(1.25 / 62, 12)
  })

  test('a ranking by embeddings counts what somebody measured', () => {
    const hits = [lexical('words', 3), lexical('both', 2), lexical('near', 0.9, 'embedding')]
    const of = (weight: number) => fuseEvidence(hits, weight).map(({ entity_id, score = 0 }) => [entity_id, score])
    expect(of(1)).toEqual([
      ['near', 1 / 61],
      ['words', 1 / 61],
      ['both', 1 / 62],
    ])
    expect(of(0.5).at(-1)).toEqual(['near', 0.5 / 61])
  })

  test('what words and links found in one sub-query is one list', () => {
    const hits = [lexical('a', 3), lexical('b', 2, 'graph_diffusion'), lexical('c', 1)]
    expect(fuseEvidence(hits).map(({ score = 0 }) => 1 / score)).toEqual([61, 62, 63])
  })

  test('what a refine round finds first comes after the first seven; there only its best rank counts', () => {
    const names = Array.from({ length: 9 }, (_, place) => `a${place}`)
    const later = [1, 2, 3].flatMap((list): Hit[] => [
      { ...lexical('first', 9, 'bm25_index', list), round: 1 },
      { ...lexical('second', 8, 'bm25_index', list), round: 1 },
    ])
    const fused = ids([...names.map((name, place) => lexical(name, 100 - place)), ...later])
    expect(fused.indexOf('first')).toBe(7)
    expect(fused.indexOf('second')).toBe(9)
  })

  test('the lists of two sub-queries are two lists, of one source too', () => {
    expect(ids([lexical('a', 50), lexical('b', 40), lexical('b', 2, 'bm25_index', 1)])).toEqual(['b', 'a'])
  })

  test('a snippet or body the winner lacks comes from the next hit of the entity', () => {
    const [item] = fuseEvidence([
      hit('a'),
      hit('a', { tier: '1', source: 'bm25_index', score: 3, snippet_text: 'text', objectstore_ref: 'objstore://t/1' }),
    ])
    expect(item).toEqual({
      entity_id: 'a',
      tier: '0',
      source: 'entity_state',
      snippet_text: 'text',
      objectstore_ref: 'objstore://t/1',
    })
  })

  test('the order in which hits arrive changes nothing', () => {
    const law = fc.property(
      fc
        .array(anyHit, { maxLength: 12 })
        .chain((hits) =>
          fc.tuple(fc.constant(hits), fc.shuffledSubarray(hits, { minLength: hits.length, maxLength: hits.length })),
        ),
      ([hits, shuffled]) => {
        expect(fuseEvidence(shuffled)).toEqual(fuseEvidence(hits))
      },
    )
    fc.assert(law, { numRuns: 300 })
  })

  test('every entity of the hits is there exactly once, in tier order', () => {
    const law = fc.property(fc.array(anyHit, { maxLength: 12 }), (hits) => {
      const fused = fuseEvidence(hits)
      expect(fused.map(({ entity_id }) => entity_id).sort()).toEqual(
        [...new Set(hits.map(({ evidence }) => evidence.entity_id))].sort(),
      )
      const tiers = fused.map(({ tier }) => tier)
      expect(tiers).toEqual(tiers.toSorted())
    })
    fc.assert(law, { numRuns: 200 })
  })
})

describe('evidenceTokens()', () => {
  test('is a quarter of the characters of id, snippet, source and ref, at least 1', () => {
    const item = { entity_id: 'a'.repeat(10), tier: '0', source: 'b'.repeat(5) }
    expect(evidenceTokens(item)).toBe(3)
    expect(evidenceTokens({ ...item, snippet_text: 'c'.repeat(3), objectstore_ref: 'd'.repeat(6) })).toBe(6)
    expect(evidenceTokens({ entity_id: 'a', tier: '0', source: 'b' })).toBe(1)
  })
})

describe('trimEvidence()', () => {
  const ranked = [400, 40, 4].map((size, at) => ({
    entity_id: `${at}`,
    tier: '0',
    source: 's',
    snippet_text: 'x'.repeat(size),
  }))

  test('keeps the best-ranked items that fit and says what they take', () => {
    expect(trimEvidence(ranked, 109).evidence.map(({ entity_id }) => entity_id)).toEqual(['0'])
    expect(trimEvidence(ranked, 1_000)).toMatchObject({ evidence: ranked, tokens: 100 + 10 + 1 })
    expect(trimEvidence(ranked, 100).tokens).toBe(100)
    expect(trimEvidence(ranked, 99)).toEqual({ evidence: [], tokens: 0 })
  })

  test('never exceeds the budget, and more tokens take nothing away', () => {
    const items = fc.array(
      fc.nat({ max: 60 }).map((size) => ({ entity_id: 'e', tier: '0', source: 's', snippet_text: 'x'.repeat(size) })),
    )
    const law = fc.property(items, fc.nat({ max: 80 }), fc.nat({ max: 80 }), (list, budget, more) => {
      const small = trimEvidence(list, budget)
      const large = trimEvidence(list, budget + more)
      expect(small.tokens).toBeLessThanOrEqual(budget)
      expect(small.tokens).toBe(small.evidence.reduce((sum, item) => sum + evidenceTokens(item), 0))
      expect(large.evidence.slice(0, small.evidence.length)).toEqual(small.evidence)
    })
    fc.assert(law, { numRuns: 200 })
  })
})
