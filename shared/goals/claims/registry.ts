import type { Challenger } from './challenge.ts'
import { challengeArtifacts } from './challenge-artifacts.ts'
import { challengeMetrics } from './challenge-metrics.ts'
import { challengeReferences } from './challenge-references.ts'
import { challengeStatistics } from './challenge-statistics.ts'

/** Who asks each finding: together at least five questions. */
export const CHALLENGERS: readonly Challenger[] = [
  challengeStatistics,
  challengeReferences,
  challengeMetrics,
  challengeArtifacts,
]
