import { type ReadonlySignal, useComputed } from '@preact/signals'
import type { RunSession } from '../run-session.ts'
import { criticalChain, waitsOf } from './critical-path.ts'
import { criticalSpans } from './critical-spans.ts'
import { documentOf } from './run-document.ts'
import { type TimeLane, timelineLanes } from './timeline-lanes.ts'

/** The lanes of a run at the moment shown, its critical path marked. */
export function useTimelineLanes({ answer, fold, events }: RunSession): ReadonlySignal<readonly TimeLane[]> {
  const waits = useComputed(() => waitsOf(documentOf(answer.value)?.blocks ?? []))
  return useComputed(() => {
    const spans = criticalSpans(fold.value, events.value)
    return timelineLanes(fold.value, criticalChain({ blocks: waits.value, spans }).keys)
  })
}
