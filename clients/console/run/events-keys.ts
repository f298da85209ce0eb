/** The row a key leads to from row `index`; undefined: not a key of lists. */
export function rowAfterKey(
  key: string,
  index: number,
  { count, page }: { readonly count: number; readonly page: number },
): number | undefined {
  const to = STEPS[key]?.(index, page, count)
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to))
}

const STEPS: Readonly<Record<string, (index: number, page: number, count: number) => number>> = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index, page) => index + page,
  PageUp: (index, page) => index - page,
  Home: () => 0,
  End: (_index, _page, count) => count - 1,
}

/** The place of the newest event that is not after `seq`; -1 before the first. By halves: a list ascends by seq. */
export function placeOfSeq(events: readonly { readonly seq: number }[], seq: number): number {
  let low = -1
  let high = events.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((events[middle]?.seq ?? 0) <= seq) low = middle
    else high = middle
  }
  return low
}
