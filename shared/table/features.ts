import { mean, sampleStandardDeviation } from 'simple-statistics'
import type { Json } from '../canonical.ts'
import type { Table } from './table.ts'

/** One number a row, made of a column: the column itself, or whether it has one of its values. */
export interface Feature {
  /** `tenure`, or `contract=One year`. */
  readonly name: string
  /** The column it is made of, when that is numeric. */
  readonly numeric: boolean
  readonly values: readonly number[]
}

/** Values a text column may have: each but the first becomes a feature. */
const MAX_LEVELS = 50

/** The features of columns, in their order; of a text column one for each value but the first, by their order as text. */
export function featuresOf(
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
export function standardiser(values: readonly number[], rows: readonly number[]): (value: number) => number {
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
