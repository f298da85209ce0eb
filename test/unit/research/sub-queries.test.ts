import { describe, expect, test } from 'vitest'
import {
  decomposeQueries,
  distinctQueries,
  ORIGINS,
  PARALLEL_SUB_QUERIES,
  refinedQueries,
  walkQueries,
} from '../../../shared/research/sub-queries.ts'

const now = new Date('2026-11-18T15:30:00.000Z')
const candidates = Array.from({ length: 30 }, (_, at) => ({ entity_id: `a.b.c.d.e.${at}` }))
const time_range = { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }
const geo_bounds = { north: 2, south: 1, east: 4, west: 3 }
const decomposed = (args: { axes: string[]; scope?: string }, hints: object = {}) =>
  decomposeQueries({ focus: 'pump faults', ...args }, { candidates, hints: { ...hints }, now })

describe('decomposeQueries()', () => {
  test('always asks for the focus as text', () => {
    for (const axis of ['entity_type', 'time', 'relationship', 'spatial', 'colour']) {
      expect(decomposed({ axes: [axis] }).queries[0]).toEqual({ kind: 'lexical', text: 'pump faults', limit: 8 })
    }
  })

  test.each<[string | undefined, number]>([
    ['narrow', 3],
    ['medium', 8],
    ['broad', 20],
    ['', 8],
    [undefined, 8],
  ])('entity_type in scope %j is the state of the top %d candidates', (scope, count) => {
    const { queries } = decomposed({ axes: ['entity_type'], ...(scope === undefined ? {} : { scope }) })
    expect(queries.slice(1)).toEqual(
      candidates.slice(0, count).map(({ entity_id }, place) => ({ kind: 'entity_state', entity_id, rank: place + 1 })),
    )
  })

  test('relationship is one hop from each of them', () => {
    const { queries } = decomposed({ axes: ['relationship'], scope: 'narrow' })
    expect(queries.slice(1)).toEqual(
      candidates.slice(0, 3).map(({ entity_id }) => ({ kind: 'predicate_walk', entity_id, depth: 1, limit: 3 })),
    )
  })

  test('time is the range of the hints, else the last 24 hours', () => {
    expect(decomposed({ axes: ['time'] }, { time_range }).queries[1]).toMatchObject({
      kind: 'temporal_range',
      ...time_range,
    })
    expect(decomposed({ axes: ['Time'] }).queries[1]).toEqual({
      kind: 'temporal_range',
      from: '2026-11-17T15:30:00.000Z',
      to: '2026-11-18T15:30:00.000Z',
      text: 'pump faults',
      limit: 8,
    })
  })

  test('spatial is the box of the hints; without one the axis is missing and the others run', () => {
    expect(decomposed({ axes: ['spatial'] }, { geo_bounds }).queries[1]).toEqual({
      kind: 'spatial',
      ...geo_bounds,
      limit: 8,
    })
    const without = decomposed({ axes: ['spatial', 'time'] })
    expect(without.missing).toEqual(['spatial'])
    expect(without.queries.map(({ kind }) => kind)).toEqual(['lexical', 'temporal_range'])
  })

  test('any other axis is searched for together with the focus', () => {
    expect(decomposed({ axes: ['vendor', 'constructor'] }).queries.slice(1)).toEqual([
      { kind: 'lexical', text: 'pump faults vendor', limit: 8 },
      { kind: 'lexical', text: 'pump faults constructor', limit: 8 },
    ])
  })

  test('the same axis twice is asked once', () => {
    expect(decomposed({ axes: ['time', 'time', 'Time'] }).queries).toHaveLength(2)
  })
})

describe('walkQueries()', () => {
  test('are state and two hops of each seed and diffusion from all, beside the topic as text', () => {
    expect(walkQueries('who', ['a', 'b', 'a']).map(({ kind }) => kind)).toEqual([
      'lexical',
      'entity_state',
      'predicate_walk',
      'entity_state',
      'predicate_walk',
      'relation_walk',
      'graph_diffusion',
    ])
  })

  test('without a resolved seed the topic as text still runs', () => {
    expect(walkQueries('who', [])).toEqual([{ kind: 'lexical', text: 'who', limit: 20 }])
  })
})

test("an assessment's refined queries are what runs next, each once", () => {
  expect(refinedQueries(['b', 'a', 'b'])).toEqual([
    { kind: 'lexical', text: 'b', limit: 20 },
    { kind: 'lexical', text: 'a', limit: 20 },
  ])
})

test('structural hits are of tier 0, lexical and diffusion hits of tier 1', () => {
  const lexical = Object.entries(ORIGINS).flatMap(([kind, { tier }]) => (tier === '1' ? [kind] : []))
  expect(lexical).toEqual(['lexical', 'graph_diffusion'])
})

test('eight sub-queries run at once', () => {
  expect(PARALLEL_SUB_QUERIES).toBe(8)
  expect(distinctQueries([])).toEqual([])
})
