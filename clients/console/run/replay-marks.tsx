import { useMemo } from 'preact/hooks'
import { markedMoments } from './replay-marked.ts'
import type { Moment } from './replay-moments.ts'

/** Ticks below a slider. For eyes only: the buttons go from moment to moment, and say each in words. */
export function ReplayMarks({ moments, newest }: { readonly moments: readonly Moment[]; readonly newest: number }) {
  const marks = useMemo(() => markedMoments(moments, newest), [moments, newest])
  return (
    <div class="replay-marks" aria-hidden="true">
      {marks.map(({ seq, tone }) => (
        <span key={seq} class={`is-${tone}`} style={{ left: `${(100 * seq) / Math.max(1, newest)}%` }} />
      ))}
    </div>
  )
}
