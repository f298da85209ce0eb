import type { Point } from './graph-layout.ts'

/** What of the picture is seen: it is scaled by `scale`, then moved by x and y px. */
export interface Viewport extends Point {
  readonly scale: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** The whole picture in the middle of the window, no larger than life; `undefined` while the window has no size. */
export function fitViewport(picture: Size, window: Size): Viewport | undefined {
  if (window.width <= 0 || window.height <= 0) return undefined
  const wanted = Math.min(window.width / picture.width, window.height / picture.height, 1)
  const scale = Number.isFinite(wanted) ? clampScale(wanted) : 1
  return {
    scale,
    x: Math.max(0, (window.width - picture.width * scale) / 2),
    y: Math.max(0, (window.height - picture.height * scale) / 2),
  }
}

/** Larger or smaller by `factor`, so that the point of the window stays where it is. */
export function zoomAt(view: Viewport, factor: number, { x, y }: Point): Viewport {
  const scale = clampScale(view.scale * factor)
  const by = scale / view.scale
  return { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by }
}

/** The nearest view in which the box lies in the window whole, `EDGE` px from its edges. */
export function showBox(view: Viewport, box: Point & Size, window: Size): Viewport {
  const { scale } = view
  return {
    scale,
    x: view.x + shift(box.x * scale + view.x, box.width * scale, window.width),
    y: view.y + shift(box.y * scale + view.y, box.height * scale, window.height),
  }
}

const EDGE = 24

const LEAST = 0.08

const MOST = 2

function clampScale(scale: number): number {
  return Math.min(MOST, Math.max(LEAST, scale))
}

/** By how much something at `from`, so long, has to move to lie within 0..`room`. */
function shift(from: number, length: number, room: number): number {
  if (from < EDGE) return EDGE - from
  const over = from + length - (room - EDGE)
  return over > 0 ? -Math.min(over, from - EDGE) : 0
}
