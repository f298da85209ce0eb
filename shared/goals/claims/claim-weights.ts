/** Points of a trust score that each part is worth, and what a rejected finding costs (docs/goal-gates.md, "Trust"). */
export const CLAIM_WEIGHTS = {
  statistical_rigor: 30,
  evidence_quality: 25,
  metric_verification: 20,
  completeness: 15,
  methodology: 10,
} as const

export const REJECTED_FINDING_COSTS = 30
