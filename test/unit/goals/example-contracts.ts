/** One contract for each kind of work of the reference, with evidence that meets it. */
export interface ExampleContract {
  readonly title: string
  readonly yaml: string
  readonly output: string
  readonly files: readonly string[]
  readonly quality: 'standard' | 'ml'
}

const SUPPORTED = '[STAT:ci] 95% CI [0.70, 0.80]\n[STAT:effect_size] d = 0.6\n'

export const EXAMPLE_CONTRACTS: readonly ExampleContract[] = [
  {
    title: 'A classifier',
    yaml: `goal_contract:
  goal_text: "Predict churn with at least 90 % accuracy, and better than guessing"
  goal_type: ml_classification
  acceptance_criteria:
    - { id: accurate, kind: metric_threshold, metric: cv_accuracy_mean, op: ">=", target: 0.90 }
    - { id: stable, kind: metric_threshold, metric: cv_accuracy_std, op: "<=", target: 0.05 }
    - { id: compared, kind: marker_required, marker: "METRIC:baseline_*" }
    - { id: kept, kind: artifact_exists, artifactPattern: "**/*.pkl" }
`,
    output:
      '[METRIC:baseline_accuracy] 0.73\n[METRIC:cv_accuracy_mean] 0.91 (5 folds)\n[METRIC:cv_accuracy_std] 0.02\n[METRIC:feature_importance] tenure',
    files: ['models/churn.pkl'],
    quality: 'ml',
  },
  {
    title: 'Exploring data',
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
    output: `[SHAPE] 5,000 rows, 12 columns\n[MISSING] 3 % of income\n${SUPPORTED}[FINDING] a\n[FINDING] b\n[FINDING] c`,
    files: ['plots/income.png'],
    quality: 'standard',
  },
  {
    title: 'Testing a hypothesis',
    yaml: `goal_contract:
  goal_text: "Does the new price change how long customers stay?"
  goal_type: hypothesis_test
  acceptance_criteria:
    - { id: stated-first, kind: marker_required, marker: HYPOTHESIS }
    - { id: powered, kind: metric_threshold, metric: power, op: ">=", target: 0.8 }
    - { id: tested, kind: marker_required, marker: "STAT:p_value" }
    - { id: answered, kind: finding_count, minCount: 1 }
`,
    output: `[HYPOTHESIS] It does not\n[METRIC:power] 0.83\n[STAT:p_value] 0.03\n${SUPPORTED}[FINDING] They stay 0.6 months less`,
    files: [],
    quality: 'standard',
  },
  {
    title: 'A written report',
    yaml: `goal_contract:
  goal_text: "A report on the market that a reader can check, with at least five sources"
  goal_type: report
  acceptance_criteria:
    - { id: written, kind: artifact_exists, artifactPattern: "report.{md,pdf}" }
    - { id: sources, kind: metric_threshold, metric: sources_cited, op: ">=", target: 5 }
    - { id: cited, kind: marker_required, marker: CITATION }
    - { id: honest, kind: marker_required, marker: LIMITATION }
`,
    output: '[CITATION:survey-2025] "three in four"\n[METRIC:sources_cited] 7\n[LIMITATION] One country only',
    files: ['out/report.md'],
    quality: 'standard',
  },
]
