/** Where rows of a long list stand: all of one height, save those that were opened. Heights in pixels. */
export interface ListShape {
  readonly count: number
  readonly rowHeight: number
  /** What an opened row takes besides, by its place; few of them. */
  readonly extra: ReadonlyMap<number, number>
}

/** The top of row `index`; `count` = the height of them all. */
export function rowTop({ rowHeight, extra }: ListShape, index: number): number {
  let sum = index * rowHeight
  for (const [place, height] of extra) if (place < index) sum += height
  return sum
}

/** The rows that are seen between `top` and `top + height`: from the first to before the last, `over` more on each side. */
export function rowsSeen(
  shape: ListShape,
  { top, height, over }: { readonly top: number; readonly height: number; readonly over: number },
): { readonly from: number; readonly to: number } {
  const first = rowAt(shape, top)
  const last = rowAt(shape, top + height)
  return { from: Math.max(0, first - over), to: Math.min(shape.count, last + 1 + over) }
}

/** By halves: topOf only grows. */
function rowAt(shape: ListShape, y: number): number {
  let low = 0
  let high = shape.count
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (rowTop(shape, middle) <= y) low = middle
    else high = middle
  }
  return low
}

/** How far to scroll so that row `index` is seen whole; undefined = it is. */
export function scrollOffsetFor(
  shape: ListShape,
  index: number,
  seen: { readonly top: number; readonly height: number },
): number | undefined {
  const top = rowTop(shape, index)
  const bottom = rowTop(shape, index + 1)
  if (top < seen.top || bottom - top > seen.height) return top === seen.top ? undefined : top
  return bottom > seen.top + seen.height ? bottom - seen.height : undefined
}

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
