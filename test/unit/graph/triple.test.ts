import { describe, expect, test } from 'vitest'
import { markOpaqueProse, readableTriples } from '../../../shared/graph/opaque-triples.ts'
import { isEdge, isPredicate, TripleSchema } from '../../../shared/graph/triple.ts'

const least = {
  subject: 'acme.ops.geo.atlas.country.no',
  predicate: 'geo.capital',
  object: 'acme.ops.geo.atlas.city.oslo',
  source: 'import',
  timestamp: '2026-11-22T08:00:00.000Z',
}

describe('isPredicate()', () => {
  test.each(['research.requested', 'research.budget_tokens', 'loop.role', 'geo.country.capital', 'a.b-c2'])(
    'accepts %s',
    (text) => expect(isPredicate(text)).toBe(true),
  )
  test.each([
    '',
    'capital',
    'Geo.capital',
    'geo..capital',
    '.geo',
    'geo.',
    'geo.capital city',
    'geo.2',
    'geo.c\n',
    `a.${'b'.repeat(255)}`,
  ])('refuses %j', (text) => expect(isPredicate(text)).toBe(false))
})

describe('TripleSchema', () => {
  test('gives confidence 1 and rule_opaque false where nothing is said', () => {
    expect(TripleSchema.parse(least)).toEqual({ ...least, confidence: 1, rule_opaque: false })
  })

  test.each([
    ['subject', 'atlas.no'],
    ['predicate', 'capital'],
    ['source', ' '],
    ['timestamp', 'yesterday'],
    ['confidence', 1.1],
    ['confidence', -0.1],
    ['object', null],
  ])('refuses %s %j', (key, value) => {
    const parsed = TripleSchema.safeParse({ ...least, [key]: value })
    expect(parsed.error?.issues.map(({ path }) => path)).toEqual([[key]])
  })

  test('a six-part object is an edge, every other one a literal', () => {
    expect(isEdge(least)).toBe(true)
    expect(['Oslo', 'a.b.c.d.e', 5, true].map((object) => isEdge({ object }))).toEqual([false, false, false, false])
  })
})

describe('prose of a model', () => {
  const plain = TripleSchema.parse(least)
  const prose = TripleSchema.parse({ ...least, predicate: 'research.synthesis', object: 'Oslo.' })

  test('is written opaque, other triples as they are', () => {
    expect(markOpaqueProse(prose).rule_opaque).toBe(true)
    expect(markOpaqueProse({ ...prose, predicate: 'research.route_rationale' }).rule_opaque).toBe(true)
    expect(markOpaqueProse(plain)).toEqual(plain)
  })

  test('is never read by rules, nor is any other opaque triple', () => {
    expect(readableTriples([plain, prose, markOpaqueProse(prose), { ...plain, rule_opaque: true }])).toEqual([plain])
  })
})
