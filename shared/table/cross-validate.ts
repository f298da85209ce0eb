import { type Feature, standardiser } from './features.ts'
import { fitLogistic, type Logistic, oddsOf } from './logistic.ts'

/** How a model does on rows it was not fitted to. */
export interface CrossValidation {
  /** Of each fold, the share of its rows that were told right. */
  readonly accuracies: readonly number[]
  /** Of all rows, each told once. */
  readonly right: number
}

/**
 * Cross-validates logistic regression, standardised by the rows it is fitted to alone. Folds keep the shares of the
 * classes, each of which needs a row a fold, and are dealt in row order: no chance in it.
 */
export function crossValidate(
  features: readonly Feature[],
  labels: readonly boolean[],
  folds: number,
): CrossValidation {
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
export interface Fitted {
  readonly model: Logistic
  readonly scales: readonly ((value: number) => number)[]
}

export function fitRows(features: readonly Feature[], labels: readonly boolean[], rows: readonly number[]): Fitted {
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
  return oddsOf(model, values) >= 0.5
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
