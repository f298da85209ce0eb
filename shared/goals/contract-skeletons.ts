import type { QualityProfile } from './quality-gate.ts'

/** A contract to begin with: whoever writes one changes names and figures to what is wanted. */
export interface ContractSkeleton {
  readonly title: string
  /** What it is good for, and how its criteria were chosen. */
  readonly about: string
  readonly quality: QualityProfile
  /** With its comments and its document key, as it stands in docs/goal-gates.md. */
  readonly yaml: string
}

/** One for each common kind of work; a further one is an entry here, with its evidence in the tests. */
export const CONTRACT_SKELETONS = {
  ml_classification: {
    title: 'A classifier',
    about:
      'A figure on rows the model has not seen, how much it varies, what guessing gets, and the model itself. Without the baseline 90 % may be worse than always saying no.',
    quality: 'ml',
    yaml: `goal_contract:
  goal_text: "Predict churn with at least 90 % accuracy, and better than guessing"
  goal_type: ml_classification
  acceptance_criteria:
    - { id: accurate, kind: metric_threshold, metric: cv_accuracy_mean, op: ">=", target: 0.90 }
    - { id: stable, kind: metric_threshold, metric: cv_accuracy_std, op: "<=", target: 0.05 }
    - { id: compared, kind: marker_required, marker: "METRIC:baseline_*" }
    - { id: kept, kind: artifact_exists, artifactPattern: "**/*.pkl" }
`,
  },
  eda: {
    title: 'Exploring data',
    about:
      'Nothing is to be reached, so the criteria ask for completeness: what is there, what is missing, and findings with their statistics rather than impressions.',
    quality: 'standard',
    yaml: `goal_contract:
  goal_text: "Say what is in the data, what is missing, and three things worth knowing"
  goal_type: eda
  max_goal_attempts: 2
  acceptance_criteria:
    - { id: shape, kind: marker_required, marker: SHAPE }
    - { id: gaps, kind: marker_required, marker: MISSING }
    - { id: plots, kind: artifact_exists, artifactPattern: "plots/*.png" }
    - { id: insights, kind: finding_count, minCount: 3 }
`,
  },
  hypothesis_test: {
    title: 'Testing a hypothesis',
    about:
      'The answer may be no, so no criterion asks for a small p-value: they ask that the question was put first, that the test could have found an effect, and that its result is told.',
    quality: 'standard',
    yaml: `goal_contract:
  goal_text: "Does the new price change how long customers stay?"
  goal_type: hypothesis_test
  acceptance_criteria:
    - { id: stated-first, kind: marker_required, marker: HYPOTHESIS }
    - { id: powered, kind: metric_threshold, metric: power, op: ">=", target: 0.8 }
    - { id: tested, kind: marker_required, marker: "STAT:p_value" }
    - { id: answered, kind: finding_count, minCount: 1 }
`,
  },
  report: {
    title: 'A written report',
    about:
      'That it is there, that its sources are enough and named, and that it says what it does not cover. Whether it is well written is for a person: put an approval before it is published.',
    quality: 'standard',
    yaml: `goal_contract:
  goal_text: "A report on the market that a reader can check, with at least five sources"
  goal_type: report
  acceptance_criteria:
    - { id: written, kind: artifact_exists, artifactPattern: "report.{md,pdf}" }
    - { id: sources, kind: metric_threshold, metric: sources_cited, op: ">=", target: 5 }
    - { id: cited, kind: marker_required, marker: CITATION }
    - { id: honest, kind: marker_required, marker: LIMITATION }
`,
  },
} as const satisfies Readonly<Record<string, ContractSkeleton>>

export type SkeletonName = keyof typeof CONTRACT_SKELETONS
