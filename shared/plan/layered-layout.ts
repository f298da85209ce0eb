import type { DagGraph } from './graph.ts'

/** Where a node stands: column is its layer, row its place in it. */
export interface Spot {
  readonly column: number
  readonly row: number
}

const SWEEPS = 8

/**
 * A layered drawing: each layer is a column, ordered by the middle of its neighbours in sweeps to and fro, which takes
 * most crossings out. Good for what people read (some hundred blocks); larger ones are drawn all the same.
 */
export function layeredLayout({ nodes, edges }: DagGraph): ReadonlyMap<string, Spot> {
  const columns: string[][] = []
  for (const { id, layer } of nodes) {
    while (columns.length <= layer) columns.push([])
    columns[layer]?.push(id)
  }
  const before = Map.groupBy(edges, ({ to }) => to)
  const after = Map.groupBy(edges, ({ from }) => from)
  const rows = new Map<string, number>()
  for (const column of columns) number(column, rows)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forth = sweep % 2 === 0
    for (const column of forth ? columns : columns.toReversed()) {
      const near = (id: string) =>
        forth ? (before.get(id) ?? []).map(({ from }) => from) : (after.get(id) ?? []).map(({ to }) => to)
      sortByMiddle(column, near, rows)
    }
  }
  return new Map(columns.flatMap((ids, column) => ids.map((id, row) => [id, { column, row }] as const)))
}

function sortByMiddle(column: string[], near: (id: string) => readonly string[], rows: Map<string, number>): void {
  const middles = new Map(column.map((id) => [id, middleOf(near(id), rows) ?? rows.get(id) ?? 0]))
  column.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0))
  number(column, rows)
}

function middleOf(ids: readonly string[], rows: ReadonlyMap<string, number>): number | undefined {
  if (ids.length === 0) return undefined
  return ids.reduce((sum, id) => sum + (rows.get(id) ?? 0), 0) / ids.length
}

/** Rows are counted from the middle of a column, so that columns of different heights compare. */
function number(column: readonly string[], rows: Map<string, number>): void {
  column.forEach((id, row) => {
    rows.set(id, row - (column.length - 1) / 2)
  })
}
