import { expect, test } from 'vitest'
import { fitViewport, showBox, zoomAt } from '../../../clients/console/run/graph/graph-viewport.ts'

const WINDOW = { width: 800, height: 400 }

test('a small picture is shown at its own size in the middle, a large one whole', () => {
  expect(fitViewport({ width: 400, height: 200 }, WINDOW)).toEqual({ scale: 1, x: 200, y: 100 })
  expect(fitViewport({ width: 3_200, height: 400 }, WINDOW)).toEqual({ scale: 0.25, x: 0, y: 150 })
})

test('a window without a size, and a picture without one, break nothing', () => {
  expect(fitViewport({ width: 10, height: 10 }, { width: 0, height: 0 })).toBeUndefined()
  expect(fitViewport({ width: 0, height: 0 }, WINDOW)?.scale).toBe(1)
})

test('zooming leaves the point under the pointer where it is, and ends at its limits', () => {
  const view = { scale: 0.5, x: 30, y: -40 }
  const point = { x: 250, y: 120 }
  const next = zoomAt(view, 1.5, point)
  const seen = ({ scale, x, y }: typeof view) => [(point.x - x) / scale, (point.y - y) / scale]
  expect(seen(next)).toEqual(seen(view).map((value) => expect.closeTo(value, 6)))
  expect(zoomAt(view, 1_000, point).scale).toBe(2)
  expect(zoomAt(view, 0.0001, point).scale).toBe(0.08)
})

test('a box is moved into the window by the shortest way, one inside is left alone', () => {
  const view = { scale: 1, x: 0, y: 0 }
  expect(showBox(view, { x: 100, y: 100, width: 200, height: 60 }, WINDOW)).toEqual(view)
  expect(showBox(view, { x: 900, y: 100, width: 200, height: 60 }, WINDOW)).toEqual({ scale: 1, x: -324, y: 0 })
  expect(showBox(view, { x: -50, y: -50, width: 200, height: 60 }, WINDOW)).toEqual({ scale: 1, x: 74, y: 74 })
})

test('of a box wider than the window the beginning is shown', () => {
  expect(showBox({ scale: 1, x: 0, y: 0 }, { x: 100, y: 50, width: 2_000, height: 60 }, WINDOW).x).toBe(-76)
})
