import { artifactExists } from './artifact-exists.ts'
import type { CriterionKind } from './criterion.ts'
import { findingCount } from './finding-count.ts'
import { markerRequired } from './marker-required.ts'
import { metricThreshold } from './metric-threshold.ts'

/** Every kind of criterion, in the order of the generated reference. */
export const CRITERION_KINDS: readonly CriterionKind<unknown>[] = [
  metricThreshold,
  markerRequired,
  artifactExists,
  findingCount,
]

/** The kind of that name; undefined = there is none. */
export function criterionKind(name: unknown): CriterionKind<unknown> | undefined {
  return CRITERION_KINDS.find(({ kind }) => kind === name)
}
