import fc from 'fast-check'
import { expect, test } from 'vitest'
import { portsThatFit } from '../../../functions/api/list-approvals.ts'

const value = (bytes: number) => ({ ref: 'r', sha256: 's', bytes })

test('shows what fits, first come first served, and never a value above 64 KiB', () => {
  const items = [
    { shown: { a: value(60_000), b: value(70_000) } },
    { shown: { a: value(50_000) } },
    { shown: { a: value(1) } },
  ]
  expect(portsThatFit(items, 100_000)).toEqual([new Set(['a']), new Set(), new Set(['a'])])
  expect(portsThatFit(items, 0)).toEqual([new Set(), new Set(), new Set()])
})

test('what is shown has room, all of it together, in whatever order it comes', () => {
  const items = fc.array(fc.dictionary(fc.string(), fc.nat(100_000).map(value)).map((shown) => ({ shown })))
  fc.assert(
    fc.property(items, fc.nat(300_000), (asked, room) => {
      const shown = portsThatFit(asked, room)
      const bytes = asked.flatMap((item, i) => [...(shown[i] ?? [])].map((port) => item.shown[port]?.bytes ?? 0))
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(room)
      const bound = bytes.length === 0 ? 0 : Math.max(...bytes)
      expect(bound).toBeLessThanOrEqual(65_536)
    }),
  )
})
