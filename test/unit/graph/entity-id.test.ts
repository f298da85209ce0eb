import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hasSuffix,
  refuseEntityId,
  refuseEntityIdPattern,
  refuseEntityIdPrefix,
} from '../../../shared/graph/entity-id.ts'

/** An id of exactly so many bytes. */
const sized = (bytes: number) => `a.b.c.d.e.${'x'.repeat(bytes - 10)}`
const segment = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,12}$/)
const entityId = fc.array(segment, { minLength: 6, maxLength: 6 }).map((parts) => parts.join('.'))

describe('refuseEntityId()', () => {
  test.each([['acme.ops.geo.atlas.country.no'], ['A.1.c_-.D.e.F'], [sized(256)]])('accepts %s', (id) =>
    expect(refuseEntityId(id)).toBeUndefined(),
  )

  test.each([
    ['', 'empty'],
    [sized(257), 'bytes'],
    [`a.b.c.d.e.${'é'.repeat(124)}`, 'bytes'],
    ['a.b.c.d.e', 'arity'],
    ['a.b.c.d.e.f.g', 'arity'],
    ['a..c.d.e.f', 'empty_segment'],
    ['a.b.c.d.e.', 'empty_segment'],
    ['a._b.c.d.e.f', 'first_byte'],
    ['a.b.c.d.e.*', 'first_byte'],
    ['a.b.c.d.e.é', 'first_byte'],
    ['a.b.c.d.e.f x', 'alphabet'],
    ['a.b.c.d.e.f\n', 'alphabet'],
    ['a.b.c.d.e.fé', 'alphabet'],
  ])('refuses %j: %s', (id, reason) => expect(refuseEntityId(id)?.reason).toBe(reason))

  test('names the first rule that is broken, wherever the faults stand', () => {
    expect(refuseEntityId(`${'x'.repeat(257)}.*`)?.reason).toBe('bytes')
    expect(refuseEntityId('a..c.*')?.reason).toBe('arity')
    expect(refuseEntityId('a.-b.c..e.f')?.reason).toBe('empty_segment')
    expect(refuseEntityId('a.b/.c._d.e.f')?.reason).toBe('first_byte')
  })

  test('names the reason and never echoes the id', () => {
    const law = fc.property(fc.string({ minLength: 9 }), (text) => {
      const refusal = refuseEntityId(text)
      if (refusal === undefined) return
      expect(refusal.message).toContain(`(${refusal.reason})`)
      expect(refusal.message).not.toContain(text)
    })
    fc.assert(law, { numRuns: 200 })
  })

  test('accepts every id of the grammar', () => {
    fc.assert(
      fc.property(entityId, (id) => refuseEntityId(id) === undefined),
      { numRuns: 100 },
    )
  })
})

describe('refuseEntityIdPrefix()', () => {
  test.each(['a', 'a.b', 'a.b.c.d.e.f'])('accepts %s', (prefix) => expect(refuseEntityIdPrefix(prefix)).toBeUndefined())

  test.each([
    ['', 'empty'],
    ['a.b.c.d.e.f.g', 'arity'],
    ['a.b.', 'empty_segment'],
    ['a.*', 'first_byte'],
    ['a.b*', 'alphabet'],
  ])('refuses %j: %s', (prefix, reason) => expect(refuseEntityIdPrefix(prefix)?.reason).toBe(reason))

  test('is one where some segments are taken off an id, and the id lies under it', () => {
    const law = fc.property(entityId, fc.integer({ min: 1, max: 6 }), (id, count) => {
      const prefix = id.split('.').slice(0, count).join('.')
      expect(refuseEntityIdPrefix(prefix)).toBeUndefined()
      expect(hasSuffix(id, id.split('.').slice(-count).join('.'))).toBe(true)
    })
    fc.assert(law, { numRuns: 100 })
  })
})

describe('refuseEntityIdPattern()', () => {
  test.each(['a.b.c.d.e.f', 'a.*.c.*.e.*', '*.*.*.*.*.*'])('accepts %s', (pattern) =>
    expect(refuseEntityIdPattern(pattern)).toBeUndefined(),
  )

  test.each([
    ['', 'empty'],
    ['a.*', 'arity'],
    ['a.b.c.d.e.**', 'first_byte'],
    ['a.b.c.d.e.>', 'first_byte'],
    ['a.b.c.d.e.f*', 'alphabet'],
    ['a.b.c.d..*', 'empty_segment'],
  ])('refuses %j: %s', (pattern, reason) => expect(refuseEntityIdPattern(pattern)?.reason).toBe(reason))
})

test('a suffix begins at a dot', () => {
  expect(hasSuffix('acme.ops.a.b.drone.11', '1')).toBe(false)
  expect(hasSuffix('acme.ops.a.b.drone.11', 'drone.11')).toBe(true)
  expect(hasSuffix('acme.ops.a.b.drone.11', '')).toBe(false)
})
