import { expect, test } from 'vitest'
import {
  axisTicks,
  panWindow,
  positionIn,
  wholeWindow,
  zoomWindow,
} from '../../../clients/console/run/timeline/time-window.ts'

test('the whole reaches from the first beginning to the last end, to now where something goes on', () => {
  const bars = [
    { from: 1_000, to: 2_000 },
    { from: 1_500, to: undefined },
  ]
  expect(wholeWindow(bars, 5_000)).toEqual({ from: 1_000, to: 1_000 + 4_000 * 1.02 })
  expect(wholeWindow(bars.slice(0, 1), 5_000).to).toBe(2_020)
})

test('no time at all is still a stretch that can be drawn', () => {
  expect(wholeWindow([{ from: 7, to: 7 }], 9)).toEqual({ from: 7, to: 12 })
  expect(wholeWindow([], 9)).toEqual({ from: 9, to: 14 })
})

test('zooming keeps the moment where it is, and ends at the whole and at 5 ms', () => {
  const whole = { from: 0, to: 1_000 }
  expect(zoomWindow(whole, 2, 250, whole)).toEqual({ from: 125, to: 625 })
  expect(zoomWindow({ from: 400, to: 500 }, 0.01, 450, whole)).toEqual(whole)
  const near = zoomWindow(whole, 1_000_000, 500, whole)
  expect(near.to - near.from).toBe(5)
})

test('moving stops where there is nothing more', () => {
  const whole = { from: 0, to: 1_000 }
  expect(panWindow({ from: 100, to: 300 }, 0.5, whole)).toEqual({ from: 200, to: 400 })
  expect(panWindow({ from: 100, to: 300 }, -5, whole)).toEqual({ from: 0, to: 200 })
  expect(panWindow({ from: 100, to: 300 }, 50, whole)).toEqual({ from: 800, to: 1_000 })
})

test('a bar is cut at the edges of the window, and gone outside of it', () => {
  const window = { from: 100, to: 200 }
  expect(positionIn(window, { from: 125, to: 150 })).toEqual({ left: 25, width: 25 })
  expect(positionIn(window, { from: 0, to: 1_000 })).toEqual({ left: 0, width: 100 })
  expect(positionIn(window, { from: 10, to: 20 })).toBeUndefined()
  expect(positionIn(window, { from: 300, to: 400 })).toBeUndefined()
})

test.each([
  [90, 20],
  [6_500, 1_000],
  [400_000, 60_000],
  [3 * 3_600_000, 1_800_000],
  [30 * 86_400_000, 5 * 86_400_000],
])('%d ms are counted in steps of %d', (length, step) => {
  const window = { from: 1_700_000_000_123, to: 1_700_000_000_123 + length }
  const ticks = axisTicks(window, 7)
  expect(ticks.step).toBe(step)
  expect(ticks.at.length).toBeGreaterThan(1)
  expect(ticks.at.length).toBeLessThanOrEqual(8)
  expect(ticks.at.every((at) => at % step === 0 && at >= window.from && at <= window.to)).toBe(true)
})
