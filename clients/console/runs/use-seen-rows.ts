import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { RunSummary } from './known-runs.ts'
import { wantDetails } from './run-details.ts'

/** Asks for the details of the rows that are seen, or nearly; of hundreds of runs that is a few. */
export function useSeenRows(table: RefObject<HTMLElement | null>, runs: readonly RunSummary[]): void {
  const latest = useRef(runs)
  latest.current = runs
  const seen = useRef<Set<string>>(new Set())
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) mark(seen.current, target, isIntersecting)
        wantSeen(latest.current, seen.current)
      },
      { rootMargin: '200px' },
    )
    for (const row of table.current?.querySelectorAll('tr[data-run]') ?? []) observer.observe(row)
    return () => observer.disconnect()
  }, [runs, table])
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') wantSeen(latest.current, seen.current)
    }, 2_000)
    return () => clearInterval(timer)
  }, [])
}

function mark(seen: Set<string>, row: Element, isSeen: boolean): void {
  const run_id = row.getAttribute('data-run') ?? ''
  if (isSeen) seen.add(run_id)
  else seen.delete(run_id)
}

function wantSeen(runs: readonly RunSummary[], seen: ReadonlySet<string>): void {
  wantDetails(runs.filter(({ run_id }) => seen.has(run_id)))
}
