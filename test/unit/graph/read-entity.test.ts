import { describe, expect, test } from 'vitest'
import { entityEdges, entityHash, entityTime, entityType, readEntity } from '../../../shared/graph/entity.ts'

const ID = 'acme.ops.geo.atlas.city.oslo'
const triple = {
  subject: ID,
  predicate: 'geo.in',
  object: 'acme.ops.geo.atlas.country.no',
  source: 'import',
  timestamp: '2026-11-22T08:00:00.000Z',
}

const read = (value: unknown) => {
  const answer = readEntity(value)
  if ('entity' in answer) return answer.entity
  throw new Error(JSON.stringify(answer.issues))
}
const issuesOf = (value: unknown) => {
  const answer = readEntity(value)
  return 'entity' in answer ? [] : answer.issues.map(({ path }) => path)
}

describe('readEntity()', () => {
  test('two that say the same are the same', () => {
    const other = { ...triple, predicate: 'geo.name', object: 'Oslo' }
    const one = read({ entity_id: ID, aliases: ['b', ' a', 'b'], triples: [triple, other, triple] })
    const two = read({ triples: [other, { ...triple, confidence: 1 }], aliases: ['a', 'b'], entity_id: ID })
    expect(one).toEqual(two)
    expect(entityHash(one)).toBe(entityHash(two))
    expect(entityHash(read({ entity_id: ID }))).not.toBe(entityHash(one))
    expect(read({ entity_id: ID, aliases: [], triples: [] })).toEqual({ entity_id: ID })
  })

  test.each<[string, unknown, readonly string[]]>([
    ['no object', null, ['']],
    ['no id', { label: 'x' }, ['entity_id']],
    ['an id of five parts', { entity_id: 'a.b.c.d.e' }, ['entity_id']],
    ['a blank label', { entity_id: ID, label: ' ' }, ['label']],
    ['an unknown member', { entity_id: ID, colour: 'red' }, ['']],
    ["another's statement", { entity_id: ID, triples: [{ ...triple, subject: 'a.b.c.d.e.f' }] }, ['triples.0.subject']],
    ['a long object', { entity_id: ID, triples: [{ ...triple, object: 'x'.repeat(4_001) }] }, ['triples.0.object']],
    ['a place off the globe', { entity_id: ID, geo: { lat: 91, lon: 0 } }, ['geo.lat']],
    ['a ref of another form', { entity_id: ID, objectstore_ref: 'http://x' }, ['objectstore_ref']],
    [
      'more than an item holds',
      {
        entity_id: ID,
        triples: Array.from({ length: 100 }, (_, n) => ({ ...triple, object: `${n}${'ü'.repeat(2_000)}` })),
      },
      [''],
    ],
  ])('refuses %s and names the place', (_, value, paths) => {
    expect(issuesOf(value)).toEqual(paths)
  })

  test('tells which entity was refused where that can be read, and never a bad id', () => {
    expect(readEntity({ entity_id: ID, label: '' })).toMatchObject({ entity_id: ID })
    expect(JSON.stringify(readEntity({ entity_id: 'se cret' }))).not.toContain('cret')
  })

  test('prose of a model is opaque whatever its writer said, and an opaque triple is no edge', () => {
    const said = { ...triple, predicate: 'research.synthesis' }
    const entity = read({ entity_id: ID, triples: [said, triple] })
    expect(entity.triples?.map(({ rule_opaque }) => rule_opaque)).toEqual([false, true])
    expect(entityEdges(entity)).toEqual([{ subject: ID, predicate: 'geo.in', object: triple.object }])
  })

  test('type and time are its own, else those of its id and its newest statement', () => {
    const later = { ...triple, object: 5, timestamp: '2026-11-22T12:00:00+02:00' }
    expect(entityType({ entity_id: ID })).toBe('city')
    expect(entityType({ entity_id: ID, type: 'capital' })).toBe('capital')
    expect(entityTime(read({ entity_id: ID, triples: [triple, later] }))).toBe('2026-11-22T10:00:00.000Z')
    expect(entityTime({ entity_id: ID })).toBeUndefined()
  })
})
