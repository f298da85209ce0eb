import { mean, sampleStandardDeviation, sampleVariance } from 'simple-statistics'
import { crossValidate, fitRows } from './cross-validate.ts'
import { type Feature, featuresOf } from './features.ts'
import { studentT, wilsonInterval } from './interval.ts'
import type { Table } from './table.ts'

export interface Classification {
  readonly rows: number
  /** Rows whose label is the one told. */
  readonly positives: number
  readonly label: string
  readonly positive: string
  readonly columns: readonly string[]
  readonly folds: number
  /** Share of the larger class: what somebody gets right who always says the same. */
  readonly baseline_accuracy: number
  readonly cv_accuracy_mean: number
  /** Between the folds. */
  readonly cv_accuracy_std: number
  /** 95 % Wilson interval of the share of rows that were told right, each by a model that had not seen it. */
  readonly accuracy_ci: { readonly low: number; readonly high: number }
  /** Cohen's h of that share against the baseline. */
  readonly accuracy_effect: number
  /** Features by the size of their standardised weight, the largest first; fitted to all rows. */
  readonly weights: readonly { readonly name: string; readonly weight: number }[]
  readonly intercept: number
  /** The numeric column that weighs most, between the classes; absent where no column is numeric. */
  readonly difference?: Difference
}

/** Of the means of one column: rows with the label told, less the others. */
interface Difference {
  readonly column: string
  readonly with: number
  readonly without: number
  /** 95 % Welch interval. */
  readonly ci: { readonly low: number; readonly high: number }
  /** Cohen's d, pooled. */
  readonly effect: number
}

export interface ClassifyQuestion {
  readonly label: string
  readonly positive: string
  /** Without it all but the label. */
  readonly columns?: readonly string[] | undefined
  readonly folds: number
}

const MAX_ROWS = 20_000
/** Rows times the square of features: about a second of work. */
const MAX_WORK = 5_000_000

/**
 * Tells one value of a column from the others by other columns (logistic regression), and how well that goes on rows the
 * model has not seen. Answers `problem` where the table cannot be asked that.
 */
export function classify(table: Table, question: ClassifyQuestion): Classification | { readonly problem: string } {
  const { label, positive, folds } = question
  const columns = question.columns ?? [...table.columns.keys()].filter((name) => name !== label)
  const unknown = [label, ...columns].find((name) => !table.columns.has(name))
  if (unknown !== undefined) {
    return { problem: `there is no column "${unknown}"; it has ${[...table.columns.keys()].slice(0, 20).join(', ')}` }
  }
  if (columns.includes(label)) return { problem: `column "${label}" is to be told, so it cannot be what tells it` }
  const found = featuresOf(table, columns)
  if ('problem' in found) return found
  const labels = (table.columns.get(label) ?? []).map((value) => String(value) === positive)
  const problem = tooMuchOrLittle(labels, found.features, question)
  if (problem !== undefined) return { problem }
  return { ...measured(labels, found.features, folds), label, positive, columns }
}

function tooMuchOrLittle(
  labels: readonly boolean[],
  features: readonly Feature[],
  asked: ClassifyQuestion,
): string | undefined {
  const { label, positive, folds } = asked
  const positives = labels.filter(Boolean).length
  if (Math.min(positives, labels.length - positives) < folds) {
    return `${positives} of ${labels.length} rows have ${label} = ${positive}; each class needs ${folds} rows, one a fold`
  }
  if (labels.length > MAX_ROWS) return `it has ${labels.length} rows, at most ${MAX_ROWS} are allowed`
  if (labels.length * features.length ** 2 <= MAX_WORK) return undefined
  return `${labels.length} rows with ${features.length} features are too much work: rows × features² may be ${MAX_WORK}`
}

function measured(labels: readonly boolean[], features: readonly Feature[], folds: number) {
  const rows = labels.length
  const positives = labels.filter(Boolean).length
  const { accuracies, right } = crossValidate(features, labels, folds)
  const baseline_accuracy = Math.max(positives, rows - positives) / rows
  const { model } = fitRows(
    features,
    labels,
    labels.map((_, row) => row),
  )
  const weighed = features
    .map((feature, at) => ({ feature, name: feature.name, weight: model.weights[at] ?? 0 }))
    .toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || (a.name < b.name ? -1 : 1))
  const strongest = weighed.find(({ feature }) => feature.numeric)?.feature
  return {
    rows,
    positives,
    folds,
    baseline_accuracy,
    cv_accuracy_mean: mean([...accuracies]),
    cv_accuracy_std: sampleStandardDeviation([...accuracies]),
    accuracy_ci: wilsonInterval(0.95, right, rows),
    accuracy_effect: cohensH(right / rows) - cohensH(baseline_accuracy),
    weights: weighed.map(({ name, weight }) => ({ name, weight })),
    intercept: model.intercept,
    ...(strongest === undefined ? {} : { difference: difference(strongest, labels) }),
  }
}

function cohensH(share: number): number {
  return 2 * Math.asin(Math.sqrt(share))
}

function difference({ name, values }: Feature, labels: readonly boolean[]): Difference {
  const [ours, others] = [true, false].map((wanted) => values.filter((_, row) => labels[row] === wanted)) as [
    number[],
    number[],
  ]
  const [a, b] = [mean(ours), mean(others)]
  const [va, vb] = [sampleVariance(ours) / ours.length, sampleVariance(others) / others.length]
  const degrees = (va + vb) ** 2 / (va ** 2 / (ours.length - 1) + vb ** 2 / (others.length - 1))
  // Downwards: an interval is rather too wide. Without any spread there is none to divide by.
  const half = va + vb === 0 ? 0 : studentT(0.95, Math.max(1, Math.floor(degrees))) * Math.sqrt(va + vb)
  const pooled = Math.sqrt(
    (sampleVariance(ours) * (ours.length - 1) + sampleVariance(others) * (others.length - 1)) / (values.length - 2),
  )
  return {
    column: name,
    with: a,
    without: b,
    ci: { low: a - b - half, high: a - b + half },
    effect: pooled === 0 ? 0 : (a - b) / pooled,
  }
}
