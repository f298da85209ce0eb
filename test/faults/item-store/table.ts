import type { Billed } from './billed.ts'
import { type Item, invalid, refusals } from './refusals.ts'
import { keyOf, type Rows } from './rows.ts'

/** What an operation works on. */
export interface Table {
  readonly rows: Rows
  /** The store has one table: the first that was named. */
  readonly requireTable: (name: string | undefined) => void
  /** Worked out only if somebody listens. */
  readonly billed: (units: () => Billed) => void
}

/** Refuses what the item store would have to pretend: request fields it does not know. */
export function requireOnly(input: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined && !known.includes(name)) throw refusals.unsupported(`the request field ${name}`)
  }
}

/** The item under a key that must be exactly one. */
export function itemAt({ rows }: Table, key: Item | undefined): Item | undefined {
  if (key === undefined || Object.keys(key).length !== 2 || key.pk?.S === undefined || key.sk?.S === undefined) {
    throw invalid('The provided key element does not match the schema')
  }
  const { pk, sk } = keyOf(key)
  return rows.get(pk, sk)
}
