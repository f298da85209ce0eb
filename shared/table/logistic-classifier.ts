import { Matrix, solve } from 'ml-matrix'
import { mean, sampleStandardDeviation, sampleVariance } from 'simple-statistics'
import type { Json } from '../text/json.ts'
import { studentT, wilsonInterval } from './confidence-interval.ts'
import type { Table } from './tabular-data.ts'

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
export function fitClassifier(table: Table, question: ClassifyQuestion): Classification | { readonly problem: string } {
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

/** How a model does on rows it was not fitted to. */
interface CrossValidation {
  /** Of each fold, the share of its rows that were told right. */
  readonly accuracies: readonly number[]
  /** Of all rows, each told once. */
  readonly right: number
}

/**
 * Cross-validates logistic regression, standardised by the rows it is fitted to alone. Folds keep the shares of the
 * classes, each of which needs a row a fold, and are dealt in row order: no chance in it.
 */
function crossValidate(features: readonly Feature[], labels: readonly boolean[], folds: number): CrossValidation {
  const places = dealt(labels, folds)
  const results = Array.from({ length: folds }, (_, fold) => {
    const told = rowsWhere(places, (place) => place === fold)
    const fitted = fitRows(
      features,
      labels,
      rowsWhere(places, (place) => place !== fold),
    )
    const right = told.filter((row) => tells(fitted, features, row) === labels[row]).length
    return { right, accuracy: right / told.length }
  })
  return {
    accuracies: results.map(({ accuracy }) => accuracy),
    right: results.reduce((sum, { right }) => sum + right, 0),
  }
}

/** A model of standardised features. */
interface Fitted {
  readonly model: Logistic
  readonly scales: readonly ((value: number) => number)[]
}

function fitRows(features: readonly Feature[], labels: readonly boolean[], rows: readonly number[]): Fitted {
  const scales = features.map(({ values }) => standardiser(values, rows))
  const columns = features.map(({ values }, at) => rows.map((row) => scales[at]?.(values[row] ?? 0) ?? 0))
  const model = fitLogistic(
    columns,
    rows.map((row) => labels[row] === true),
  )
  return { model, scales }
}

function tells({ model, scales }: Fitted, features: readonly Feature[], row: number): boolean {
  const values = features.map(({ values: all }, at) => scales[at]?.(all[row] ?? 0) ?? 0)
  return probabilityOf(model, values) >= 0.5
}

/** Rows of each class in turn to the folds. */
function dealt(labels: readonly boolean[], folds: number): readonly number[] {
  const seen = { true: 0, false: 0 }
  return labels.map((label) => {
    const place = seen[`${label}`] % folds
    seen[`${label}`] += 1
    return place
  })
}

function rowsWhere(places: readonly number[], fits: (place: number) => boolean): readonly number[] {
  return places.flatMap((place, row) => (fits(place) ? [row] : []))
}

/** One number a row, made of a column: the column itself, or whether it has one of its values. */
interface Feature {
  /** `tenure`, or `contract=One year`. */
  readonly name: string
  /** The column it is made of, when that is numeric. */
  readonly numeric: boolean
  readonly values: readonly number[]
}

/** Values a text column may have: each but the first becomes a feature. */
const MAX_LEVELS = 50

/** The features of columns, in their order; of a text column one for each value but the first, by their order as text. */
function featuresOf(
  table: Table,
  names: readonly string[],
): { readonly features: readonly Feature[] } | { readonly problem: string } {
  const features: Feature[] = []
  for (const name of names) {
    const column = table.columns.get(name) ?? []
    const missing = column.filter((value) => value === null).length
    if (missing > 0) return { problem: `column "${name}" has ${missing} missing values` }
    const found = featuresOfColumn(name, column)
    if ('problem' in found) return found
    features.push(...found.features)
  }
  return { features }
}

/** Mean 0 and standard deviation 1, as the chosen rows have it; a column without differences is 0. */
function standardiser(values: readonly number[], rows: readonly number[]): (value: number) => number {
  const chosen = rows.map((row) => values[row] ?? 0)
  const average = mean(chosen)
  const spread = sampleStandardDeviation(chosen)
  return (value) => (spread === 0 ? 0 : (value - average) / spread)
}

function featuresOfColumn(name: string, column: readonly Json[]): ReturnType<typeof featuresOf> {
  const numbers = column.filter((value): value is number => typeof value === 'number')
  if (numbers.length === column.length) return { features: [{ name, numeric: true, values: numbers }] }
  const texts = column.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const [, ...levels] = [...new Set(texts)].toSorted()
  if (levels.length >= MAX_LEVELS) {
    return { problem: `column "${name}" has ${levels.length + 1} different texts, at most ${MAX_LEVELS} are allowed` }
  }
  const featureOf = (level: string): Feature => ({
    name: `${name}=${level}`,
    numeric: false,
    values: texts.map((text) => Number(text === level)),
  })
  return { features: levels.map(featureOf) }
}

/** A fitted logistic regression: the log odds of `true` are `intercept` + the sum of weight × value. */
interface Logistic {
  readonly intercept: number
  readonly weights: readonly number[]
}

/** On standardised columns: keeps weights finite where a column separates the classes, and changes little elsewhere. */
const RIDGE = 1
/** Newton's method doubles its digits with each step: it has converged after ten or never. */
const MAX_STEPS = 50
const SMALLEST_STEP = 1e-10

/**
 * Fits by Newton's method: no chance in it, the same rows give the same weights. Both labels must be there (of one alone
 * the best intercept is infinite), and columns should be standardised.
 */
export function fitLogistic(columns: readonly (readonly number[])[], labels: readonly boolean[]): Logistic {
  const rows = new Matrix(labels.map((_, row) => [1, ...columns.map((column) => column[row] ?? 0)]))
  const wanted = Matrix.columnVector(labels.map(Number))
  const penalty = Matrix.diag([0, ...columns.map(() => RIDGE)])
  let weights = Matrix.zeros(columns.length + 1, 1)
  let loss = lossOf(rows, labels, weights)
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const step = newtonStep(rows, wanted, penalty, weights)
    let next = Matrix.add(weights, step)
    // Far from the optimum a whole step may overshoot; half of one always improves in the end.
    for (let halves = 0; halves < MAX_STEPS && lossOf(rows, labels, next) > loss; halves += 1) {
      step.mul(0.5)
      next = Matrix.add(weights, step)
    }
    weights = next
    loss = lossOf(rows, labels, weights)
    if (largest(step) < SMALLEST_STEP) break
  }
  const [intercept = 0, ...rest] = weights.to1DArray()
  return { intercept, weights: rest }
}

/** The probability of `true` for one row. */
export function probabilityOf({ intercept, weights }: Logistic, row: readonly number[]): number {
  return sigmoid(weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), intercept))
}

function newtonStep(rows: Matrix, wanted: Matrix, penalty: Matrix, weights: Matrix): Matrix {
  const odds = rows.mmul(weights).to1DArray().map(sigmoid)
  const across = rows.transpose()
  const gradient = across.mmul(Matrix.sub(wanted, Matrix.columnVector(odds))).sub(penalty.mmul(weights))
  const curved = across.mmul(rows.clone().mulColumnVector(odds.map((one) => one * (1 - one))))
  return solve(curved.add(penalty), gradient)
}

/** What is minimised: minus the log likelihood, and the penalty. */
function lossOf(rows: Matrix, labels: readonly boolean[], weights: Matrix): number {
  const scores = rows.mmul(weights).to1DArray()
  const [, ...slopes] = weights.to1DArray()
  const penalty = slopes.reduce((sum, one) => sum + one * one, 0) * (RIDGE / 2)
  return scores.reduce((sum, score, at) => sum + softplus(labels[at] === true ? -score : score), penalty)
}

/** log(1 + e^x) without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

function largest(step: Matrix): number {
  return Math.max(...step.to1DArray().map(Math.abs))
}
