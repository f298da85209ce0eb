import { describe, expect, test } from 'vitest'
import { CONTRACT_SKELETONS, type SkeletonName } from '../../../shared/goals/contract-skeletons.ts'
import { withFigureOf } from '../../../shared/goals/figure-of-goal.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'

const taken = (goalText: string, type: SkeletonName = 'ml_classification') => {
  const read = readGoalContract(CONTRACT_SKELETONS[type].yaml)
  if (!read.ok) throw new Error('no skeleton')
  const figure = withFigureOf(goalText, type, read.contract)
  if (!figure.ok) return figure.problem
  const criteria = figure.contract.acceptance_criteria
  return criteria.flatMap((one) =>
    one.kind === 'metric_threshold' ? [one.target] : one.kind === 'finding_count' ? [one.minCount] : [],
  )
}

describe('the figure of a goal text', () => {
  test.each<[string, SkeletonName, readonly number[]]>([
    ['Reach 75% accuracy', 'ml_classification', [0.75, 0.05]],
    ['Reach 75.3 per cent accuracy', 'ml_classification', [0.753, 0.05]],
    ['An accuracy of at least 0.82', 'ml_classification', [0.82, 0.05]],
    ['Predict churn well', 'ml_classification', [0.9, 0.05]],
    ['A report with at least seven sources', 'report', [7]],
    ['A report with 12 sources', 'report', [12]],
    ['Say four things worth knowing', 'eda', [4]],
  ])('%s', (text, type, figures) => expect(taken(text, type)).toEqual(figures))

  test.each<[string, SkeletonName]>([
    ['Reach 75% accuracy within 3 days', 'ml_classification'],
    ['An error of at most 5%', 'ml_classification'],
    ['Reach 750% accuracy', 'ml_classification'],
    ['Reach 75 accuracy', 'ml_classification'],
    ['Answer in under 200 ms', 'ml_classification'],
    ['Between 70% and 80% accuracy', 'ml_classification'],
    ['A report with 7.5 sources', 'report'],
    ['A p-value below 0.05', 'hypothesis_test'],
  ])('%s: nobody can tell', (text, type) => expect(taken(text, type)).toContain('cannot be told'))
})
