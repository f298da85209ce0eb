import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinCounts, readCountBy } from '../../../shared/search-runs/count.ts'

const count = fc.record(
  {
    value: fc.constantFrom('a', 'b', ''),
    day: fc.constantFrom('2026-03-01', '2026-03-02'),
    runs: fc.nat(9),
    tokens: fc.nat(9),
    usd_micros: fc.nat(9),
  },
  { requiredKeys: ['runs', 'tokens', 'usd_micros'] },
)

test('parts are one count, in whatever order and parts they come', () => {
  fc.assert(
    fc.property(fc.array(count), fc.nat(20), (all, at) => {
      const whole = joinCounts(all)
      expect(joinCounts([...all].reverse())).toEqual(whole)
      expect(joinCounts([...joinCounts(all.slice(0, at)), ...joinCounts(all.slice(at))])).toEqual(whole)
      const sum = (counts: typeof whole) => counts.reduce((total, { runs }) => total + runs, 0)
      expect(sum(whole)).toBe(sum(all))
    }),
  )
})

test('a label is named by its key, whatever that has in it', () => {
  expect(readCountBy('label.a.b')).toBe('label.a.b')
  expect(readCountBy('label:team')).toBe('label.team')
  expect(() => readCountBy('label')).toThrow('label.KEY')
})
