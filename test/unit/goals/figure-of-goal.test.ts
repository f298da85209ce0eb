import { describe, expect, test } from 'vitest'
import { CONTRACT_SKELETONS, type SkeletonName } from '../../../shared/goals/contract-skeletons.ts'
import { takeStatedFigure } from '../../../shared/goals/figure-in-goal-text.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'

const taken = (goalText: string, type: SkeletonName = 'ml_classification') => {
  const read = readGoalContract(CONTRACT_SKELETONS[type].yaml)
  if (!read.ok) throw new Error('no skeleton')
  const figure = takeStatedFigure(goalText, type, read.contract)
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
    ['Reach seventy-five percent accuracy', 'ml_classification', [0.75, 0.05]],
    ['accuracy: ninety one per cent', 'ml_classification', [0.91, 0.05]],
    ['One hundred percent accuracy', 'ml_classification', [1, 0.05]],
    ['The accuracy of the model is at least 0.7', 'ml_classification', [0.7, 0.05]],
    ['At least 60 % classification accuracy', 'ml_classification', [0.6, 0.05]],
    ['75-percent accuracy', 'ml_classification', [0.75, 0.05]],
    ['A cross-validated accuracy >= 0.8', 'ml_classification', [0.8, 0.05]],
    ['Raise accuracy to at least 80 %', 'ml_classification', [0.8, 0.05]],
    ['Beat GPT-4 at churn with 85% accuracy', 'ml_classification', [0.85, 0.05]],
    ['Predict churn with at least 90 % accuracy, and better than guessing', 'ml_classification', [0.9, 0.05]],
    ['Predict churn well', 'ml_classification', [0.9, 0.05]],
    ['A report with at least seven sources', 'report', [7]],
    ['A report with twenty-one independent sources', 'report', [21]],
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

  test.each<[string, SkeletonName, string]>([
    ['Reach three quarters accuracy', 'ml_classification', 'no figure that can be read'],
    ['Reach seventy point five percent accuracy', 'ml_classification', '"seventy point five percent"'],
    ['Reach five and seventy percent accuracy', 'ml_classification', 'no figure that can be read'],
    ['Be right in half of all cases', 'ml_classification', '"half"'],
    ['Reach ½ accuracy', 'ml_classification', 'cannot be told'],
    ['Reach 75k accuracy', 'ml_classification', '"75k"'],
    ['Reach fünfundsiebzig Prozent accuracy', 'ml_classification', '"Prozent"'],
    ['A report with dozens of sources', 'report', '"dozens"'],
    [
      'Cut latency by 30%',
      'ml_classification',
      '"latency", and a contract of type ml_classification is about accuracy',
    ],
    ['Reach 80% recall', 'ml_classification', '"recall"'],
    ['Reach a good F1', 'ml_classification', '"F1"'],
    ['Reach 90% top-5 accuracy', 'ml_classification', '"top-5 accuracy"'],
    ['Win 30% more customers', 'ml_classification', 'cannot be told'],
    ['Improve accuracy by 30%', 'ml_classification', 'cannot be told'],
    ['Increase accuracy 30%', 'ml_classification', 'cannot be told'],
    ['Cover 75% of rows. Mind the accuracy', 'ml_classification', 'cannot be told'],
    ['Not 75% accuracy', 'ml_classification', 'cannot be told'],
    ['A report on 12 countries, with sources', 'report', 'cannot be told'],
    ['A report on the market of 2026', 'report', 'cannot be told'],
    ['Explore 3 tables', 'eda', 'cannot be told'],
  ])('%s: asked for, never another figure in silence', (text, type, words) =>
    expect(taken(text, type)).toContain(words),
  )
})
