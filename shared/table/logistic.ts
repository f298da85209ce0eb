import { Matrix, solve } from 'ml-matrix'

/** A fitted logistic regression: the log odds of `true` are `intercept` + the sum of weight × value. */
export interface Logistic {
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
export function oddsOf({ intercept, weights }: Logistic, row: readonly number[]): number {
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
