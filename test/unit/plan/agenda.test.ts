import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAgenda } from '../../../shared/plan/agenda.ts'

test('an agenda gives what is due earliest first, and at one instant in the order it was put', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (times) => {
      const agenda = createAgenda<number>()
      for (const [nth, time] of times.entries()) agenda.put(time, nth)
      const sorted = times.map((time, nth) => ({ time, nth })).sort((a, b) => a.time - b.time || a.nth - b.nth)
      for (const { time, nth } of sorted) {
        expect(agenda.take()).toBe(nth)
        expect(agenda.now()).toBe(time)
      }
      expect(agenda.take()).toBeUndefined()
    }),
  )
})

test('what is put at the present instant comes before what is due later, whenever that was put', () => {
  const agenda = createAgenda<string>()
  agenda.put(2, 'later')
  agenda.put(1, 'first')
  expect(agenda.take()).toBe('first')
  agenda.put(1, 'now')
  expect([agenda.take(), agenda.take(), agenda.take()]).toEqual(['now', 'later', undefined])
})
