/** The stretch of time that is seen, in ms since 1970. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/** All of `lanes`, up to `now` where something goes on; a little wider, so that the last bar does not touch the edge. */
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
