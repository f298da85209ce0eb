import { useEffect, useRef } from 'preact/hooks'
import { changeQuery, route } from '../route.ts'
import type { RunSession } from '../run-session.ts'

/** The event the page is at, 0 = before the first; `go(undefined)`, or to the newest, follows the run. */
export interface ReplaySeq {
  readonly seq: number
  readonly go: (seq: number | undefined) => void
}

/**
 * Mirrors `?seq=`: an address that names one is shown, a step shown is written there soon after. Not at once, since
 * browsers allow some 100 changes of the address in 30 seconds and a slider makes 60 in one.
 */
export function useReplaySeq(session: RunSession): ReplaySeq {
  const asked = route.value.query.seq
  const written = useRef<string | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    if (asked === undefined || asked !== written.current) session.show(seqOf(asked))
    written.current = asked
  }, [asked, session])
  useEffect(() => () => clearTimeout(timer.current), [])
  const newest = session.events.value.length
  const seq = Math.min(session.shownSeq.value ?? newest, newest)
  const go = (to: number | undefined) => {
    const shown = to === undefined || to >= newest ? undefined : Math.max(0, to)
    session.show(shown)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      written.current = shown === undefined ? undefined : String(shown)
      changeQuery({ seq: written.current })
    }, WRITE_MS)
  }
  return { seq, go }
}

const WRITE_MS = 350

/** What anybody typed there; undefined = no event is meant. */
function seqOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
