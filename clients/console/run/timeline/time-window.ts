/** The stretch of time that is seen, in ms since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** All of `bars`, up to `now` where something goes on; a little wider, so that the last bar does not touch the edge. */
export function wholeWindow(
  bars: readonly { readonly from: number; readonly to: number | undefined }[],
  now: number,
): TimeWindow {
  const from = bars.reduce((least, bar) => Math.min(least, bar.from), Number.POSITIVE_INFINITY)
  const to = bars.reduce((most, bar) => Math.max(most, bar.to ?? Math.max(now, bar.from)), Number.NEGATIVE_INFINITY)
  if (from > to) return { from: now, to: now + LEAST_MS }
  return { from, to: from + Math.max(LEAST_MS, (to - from) * 1.02) }
}

/** Shows less (factor above 1) or more, so that the moment `at` stays where it is; never more than `whole`. */
export function zoomWindow(window: TimeWindow, factor: number, at: number, whole: TimeWindow): TimeWindow {
  const length = Math.max(LEAST_MS, (window.to - window.from) / factor)
  const share = (at - window.from) / (window.to - window.from)
  const from = at - length * share
  return within({ from, to: from + length }, whole)
}

/** Moves by a share of what is seen, no further than there is something. */
export function panWindow(window: TimeWindow, share: number, whole: TimeWindow): TimeWindow {
  const by = (window.to - window.from) * share
  return within({ from: window.from + by, to: window.to + by }, whole)
}

/** Shorter than that nothing is measured. */
const LEAST_MS = 5

function within({ from, to }: TimeWindow, whole: TimeWindow): TimeWindow {
  const length = Math.min(to - from, whole.to - whole.from)
  const start = Math.min(Math.max(from, whole.from), whole.to - length)
  return { from: start, to: start + length }
}

/** Where it lies in the window, in percent of its width; undefined where nothing of it is seen. */
export function positionIn(
  { from, to }: TimeWindow,
  bar: { readonly from: number; readonly to: number },
): { readonly left: number; readonly width: number } | undefined {
  const percent = 100 / (to - from)
  const left = Math.max(0, (bar.from - from) * percent)
  const right = Math.min(100, (bar.to - from) * percent)
  return right < 0 || left > 100 ? undefined : { left, width: Math.max(0, right - left) }
}

/** Round moments of the window, at most `most`: multiples of a step people count in. */
export function axisTicks(
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
