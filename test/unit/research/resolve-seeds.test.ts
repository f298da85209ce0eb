import { describe, expect, test } from 'vitest'
import { resolveSeeds, type SeedLookup } from '../../../shared/research/sub-queries.ts'

const id = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`
const candidates = [
  { entity_id: id('country', 'no'), label: 'Norway ', tier: '1', source: 'bm25_index' },
  { entity_id: id('country', 'pe'), label: 'Peru', tier: '1', source: 'bm25_index' },
  { entity_id: id('city', 'georgia'), label: 'Georgia', tier: '1', source: 'bm25_index' },
  { entity_id: id('state', 'georgia'), label: 'georgia', tier: '1', source: 'bm25_index' },
  { entity_id: id('drone', '11'), tier: '1', source: 'bm25_index' },
]

/** A small index: its own data, asked as the real one is. */
const lookup: SeedLookup = {
  byAlias: async (name) =>
    ({ norge: [id('country', 'no')], georgia: [id('country', 'ge')], twice: ['x', 'y'] })[name] ?? [],
  byLabel: async (name) => ({ chile: [id('country', 'cl')], twice: ['z'], lima: ['x', 'y'] })[name] ?? [],
  bySuffix: async (part) =>
    ({ 'country.cl': [id('country', 'cl')], cl: [id('country', 'cl'), id('city', 'cl')] })[part] ?? [],
}
const resolved = async (ref: string, ref_type: 'name' | 'partial_id' | 'candidate_index') =>
  (await resolveSeeds([{ ref, ref_type }], candidates, lookup)).entity_ids[0]

describe('resolveSeeds()', () => {
  test.each([
    ['a label of a candidate, trimmed, in any case', ' NORWAY ', id('country', 'no')],
    ['else an alias', 'Norge', id('country', 'no')],
    ['else a unique label of the index', 'Chile', id('country', 'cl')],
    ['no label two candidates have, whatever the index says', 'Georgia', undefined],
    ['no alias of two entities, whatever label there is', 'twice', undefined],
    ['no label two entities have', 'Lima', undefined],
    ['nothing', 'Atlantis', undefined],
  ])('name: %s', async (_, ref, expected) => expect(await resolved(ref, 'name')).toBe(expected))

  test.each([
    ['the end of one candidate, on a segment boundary', 'country.no', id('country', 'no')],
    ['a whole id', id('country', 'pe'), id('country', 'pe')],
    ['not part of a segment', '1', undefined],
    ['the segment', '11', id('drone', '11')],
    ['not the end of two candidates', 'georgia', undefined],
    ['else a unique end in the index', 'country.cl', id('country', 'cl')],
    ['not the end of two entities', 'cl', undefined],
  ])('partial_id: %s', async (_, ref, expected) => expect(await resolved(ref, 'partial_id')).toBe(expected))

  test.each([
    ['0', id('country', 'no')],
    ['4', id('drone', '11')],
    ['5', undefined],
    ['-1', undefined],
    ['1.0', undefined],
    ['first', undefined],
  ])('candidate_index %s is the position in the list the router saw', async (ref, expected) =>
    expect(await resolved(ref, 'candidate_index')).toBe(expected),
  )

  test('drops and counts what is not resolved, keeps the order, names nothing twice', async () => {
    const seeds = [
      { ref: 'Peru', ref_type: 'name' },
      { ref: 'Atlantis', ref_type: 'name' },
      { ref: '1', ref_type: 'candidate_index' },
      { ref: 'Norge', ref_type: 'name' },
      { ref: '99', ref_type: 'candidate_index' },
    ] as const
    expect(await resolveSeeds(seeds, candidates, lookup)).toEqual({
      entity_ids: [id('country', 'pe'), id('country', 'no')],
      unresolved: 2,
      note: '2 seed references unresolved',
    })
    expect(await resolveSeeds(seeds.slice(0, 1), candidates, lookup)).not.toHaveProperty('note')
  })
})
