import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

/** A statement costs more than a row. */
const ROWS = [16, 8, 4, 2, 1]

/** `values`: the columns of as many rows as there are, one row behind the other. */
type Insert = (values: readonly SQLInputValue[]) => void

/** Writes many rows with few statements. `into`: `INTO lanes (run, lane)`; `rest`: what stands behind the values. */
export function inserter(db: DatabaseSync, into: string, columns: number, rest = ''): Insert {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`
  const statements = ROWS.map((rows) => {
    const places = Array.from({ length: rows }, () => row).join(', ')
    return { rows, insert: db.prepare(`INSERT ${into} VALUES ${places} ${rest}`) }
  })
  return (values) => {
    let from = 0
    for (const { rows, insert } of statements) {
      for (const size = rows * columns; values.length - from >= size; from += size) {
        insert.run(...values.slice(from, from + size))
      }
    }
  }
}
