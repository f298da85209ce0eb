import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ListShape, rowsSeen, scrollTo, topOf } from './list-window.ts'

/** A long list as it is seen now: where its rows stand, and which of them are to be on the page. */
export interface ListView {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly rows: { readonly from: number; readonly to: number }
  /** Whether the reader scrolled to the end last, or has not scrolled: what comes then may be followed. */
  readonly isAtEnd: RefObject<boolean>
  /** Rows that fit. */
  readonly page: number
  /** Scrolls no further than is needed to see the row, or so that a row that is not seen comes to the middle. */
  reveal(index: number, to?: 'middle'): void
}

/** Follows the scroll position and the size of the element `scroller` is given to. */
export function useListView(shape: ListShape): ListView {
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [seen, setSeen] = useState({ top: 0, height: 600 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      const { scrollTop, clientHeight } = element
      // Whole rows: less than a row further is the same page.
      const top = scrollTop - (scrollTop % shape.rowHeight)
      setSeen((old) => (old.top === top && old.height === clientHeight ? old : { top, height: clientHeight }))
    }
    const scrolled = () => {
      look()
      isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - shape.rowHeight
    }
    look()
    const size = new ResizeObserver(look)
    size.observe(element)
    element.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      size.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }, [shape.rowHeight])
  return {
    scroller,
    isAtEnd,
    rows: rowsSeen(shape, { ...seen, over: 8 }),
    page: Math.max(1, Math.floor(seen.height / shape.rowHeight) - 1),
    reveal: (index, to) => {
      const element = scroller.current
      if (element === null) return
      const top = scrollTo(shape, index, { top: element.scrollTop, height: element.clientHeight })
      if (top === undefined) return
      element.scrollTop = to === 'middle' ? topOf(shape, index) - element.clientHeight / 2 : top
    },
  }
}
