/** The contracts of the four scenarios of the plan the two gates come from (the third has none), in its own YAML, without `version`. */
export const SCENARIOS = {
  reached: `goal_contract:
  goal_text: "Build model with >= 80% accuracy"
  acceptance_criteria:
    - id: AC1
      kind: metric_threshold
      metric: cv_accuracy_mean
      op: ">="
      target: 0.80
`,
  missed: `goal_contract:
  goal_text: "Build model with >= 90% accuracy"
  acceptance_criteria:
    - id: AC1
      kind: metric_threshold
      metric: cv_accuracy_mean
      op: ">="
      target: 0.90
`,
  analysis: `goal_contract:
  goal_text: "Analyze customer churn with statistical evidence"
  acceptance_criteria:
    - id: AC1
      kind: metric_threshold
      metric: cv_accuracy_mean
      op: ">="
      target: 0.75
    - id: AC2
      kind: marker_required
      marker: "METRIC:baseline_accuracy"
    - id: AC3
      kind: finding_count
      minCount: 2
`,
} as const

/** Statistics that make the finding behind them a verified one. */
export const SUPPORTED = '[STAT:ci] 95% CI [0.70, 0.80]\n[STAT:effect_size] d = 0.6\n'
