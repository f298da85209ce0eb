import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { ListView } from '../parts/use-list-view.ts'
import { placeOfSeq, rowAfterKey } from './events-keys.ts'

/**
 * One row of a list takes the Tab key, arrows and their like move it (roving focus). Answers its place: the row that had
 * the focus last, else the first that is seen.
 */
export function useRovingRow(events: readonly RunEvent[], view: ListView): number {
  const [active, setActive] = useState<number>()
  const mayFocus = useRef(false)
  const latest = useRef({ events, view })
  latest.current = { events, view }
  useKeys(view.scroller, (key, seq) => {
    const { events: rows, view: now } = latest.current
    const to = rowAfterKey(key, placeOfSeq(rows, seq), { count: rows.length, page: now.page })
    if (to === undefined) return false
    now.reveal(to)
    mayFocus.current = true
    setActive(rows[to]?.seq)
    return true
  })
  useLayoutEffect(() => {
    if (!mayFocus.current) return
    mayFocus.current = false
    view.scroller.current?.querySelector<HTMLElement>(`[data-seq="${active}"]`)?.focus({ preventScroll: true })
  }, [active])
  const place = active === undefined ? -1 : placeOfSeq(events, active)
  return place < 0 ? view.rows.from : place
}

/** Keys pressed on a row's own line, not in what it holds. */
function useKeys(scroller: RefObject<HTMLElement | null>, onKey: (key: string, seq: number) => boolean): void {
  const latest = useRef(onKey)
  latest.current = onKey
  useLayoutEffect(() => {
    const element = scroller.current
    const listen = (event: KeyboardEvent) => {
      const seq = event.target instanceof HTMLElement ? event.target.dataset.seq : undefined
      if (seq !== undefined && latest.current(event.key, Number(seq))) event.preventDefault()
    }
    element?.addEventListener('keydown', listen)
    return () => element?.removeEventListener('keydown', listen)
  }, [scroller])
}
