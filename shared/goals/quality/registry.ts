import { findingNoCi, findingNoEffectSize } from './finding-rules.ts'
import { mlNoBaseline, mlNoCv, mlNoInterpretation } from './ml-rules.ts'
import type { QualityRule } from './quality-rule.ts'

/** Every quality rule, in the order of the generated reference. */
export const QUALITY_RULES: readonly QualityRule[] = [
  findingNoCi,
  findingNoEffectSize,
  mlNoBaseline,
  mlNoCv,
  mlNoInterpretation,
]
