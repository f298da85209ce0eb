import type { Classification } from './logistic-classifier.ts'

/** Where the model was kept. */
interface KeptModel {
  readonly name: string
  readonly sha256: string
}

/**
 * What a classification found, as markers (docs/goal-gates.md, "Evidence"). It states what was measured, also where that
 * is no better than guessing. Names of columns come from the data: they never begin a line.
 */
export function classifierEvidence(found: Classification, kept?: KeptModel): string {
  const { label, positive, columns, rows, positives, folds } = found
  const told = `${plain(label)} = ${plain(positive)}`
  const by = columns.map(plain).join(', ')
  return [
    `[OBJECTIVE] Tell ${told} by ${by}`,
    `[DATA] ${rows} rows, ${positives} of them ${told}`,
    `[EXPERIMENT] Logistic regression on standardised columns (ridge 1, Newton's method), ${folds} stratified folds dealt in row order`,
    ...measurements(found),
    ...(kept === undefined ? [] : [`[ARTIFACT:sha256=${kept.sha256}] ${kept.name}`]),
    ...accuracyFinding(found, `${told} by ${by}`),
    ...differenceFinding(found, told),
    `[CONCLUSION] ${rounded(found.cv_accuracy_mean)} of the rows a model had not seen were told right, ${rounded(found.baseline_accuracy)} by guessing`,
    '[LIMITATION] The folds are parts of one sample: other rows, other times and other shares of the classes were not tried',
  ].join('\n')
}

function measurements({ baseline_accuracy, cv_accuracy_mean, cv_accuracy_std, weights }: Classification) {
  const [strongest] = weights
  return [
    `[METRIC:baseline_accuracy] ${exact(baseline_accuracy)}`,
    `[METRIC:cv_accuracy_mean] ${exact(cv_accuracy_mean)}`,
    `[METRIC:cv_accuracy_std] ${exact(cv_accuracy_std)}`,
    ...(strongest === undefined
      ? []
      : [`[METRIC:feature_importance] ${rounded(Math.abs(strongest.weight))} ${plain(strongest.name)}`]),
  ]
}

function accuracyFinding(found: Classification, told: string): readonly string[] {
  const { accuracy_ci, accuracy_effect, baseline_accuracy, cv_accuracy_mean } = found
  const better = accuracy_ci.low > baseline_accuracy
  const words = better ? 'tells it better than guessing' : 'was not shown to tell it better than guessing'
  return [
    `[STAT:ci] 95 % CI [${rounded(accuracy_ci.low)}, ${rounded(accuracy_ci.high)}] of the accuracy (Wilson)`,
    `[STAT:effect_size] h = ${rounded(accuracy_effect)} against guessing (Cohen)`,
    `[FINDING] ${told}: the model ${words}, cv_accuracy_mean = ${rounded(cv_accuracy_mean)}, baseline_accuracy = ${rounded(baseline_accuracy)}`,
  ]
}

function differenceFinding({ difference }: Classification, told: string): readonly string[] {
  if (difference === undefined) return []
  const { column, ci, effect } = difference
  const means = `${rounded(difference.with)} against ${rounded(difference.without)}`
  const words = ci.low > 0 ? 'higher' : ci.high < 0 ? 'lower' : 'not shown to be higher or lower'
  return [
    `[STAT:ci] 95 % CI [${rounded(ci.low)}, ${rounded(ci.high)}] of the difference (Welch)`,
    `[STAT:effect_size] d = ${rounded(effect)} (Cohen)`,
    `[FINDING] Where ${told}, the mean of ${plain(column)} is ${words}: ${means}`,
  ]
}

/** Short, on one line. */
function plain(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').slice(0, 80)
}

/** What is compared with a target is not rounded to it: twelve digits only leave out the noise of sums. */
function exact(value: number): number {
  return Number(value.toPrecision(12))
}

function rounded(value: number): number {
  return Number(value.toFixed(4))
}
