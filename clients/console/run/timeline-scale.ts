import type { TimeWindow } from './timeline-window.ts'

/** Where it lies in the window, in percent of its width; undefined where nothing of it is seen. */
export function placeIn(
  { from, to }: TimeWindow,
  bar: { readonly from: number; readonly to: number },
): { readonly left: number; readonly width: number } | undefined {
  const percent = 100 / (to - from)
  const left = Math.max(0, (bar.from - from) * percent)
  const right = Math.min(100, (bar.to - from) * percent)
  return right < 0 || left > 100 ? undefined : { left, width: Math.max(0, right - left) }
}

/** Round moments of the window, at most `most`: multiples of a step people count in. */
export function ticksOf(
  { from, to }: TimeWindow,
  most: number,
): { readonly step: number; readonly at: readonly number[] } {
  const wanted = (to - from) / most
  const step = STEPS.find((one) => one >= wanted) ?? Math.ceil(wanted / DAY) * DAY
  const first = Math.ceil(from / step) * step
  const count = Math.max(0, Math.floor((to - first) / step) + 1)
  return { step, at: Array.from({ length: count }, (_, n) => first + n * step) }
}

const [SEC, MIN, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SEC),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MIN),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  DAY,
]
