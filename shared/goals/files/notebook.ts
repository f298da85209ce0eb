import * as z from 'zod'
import type { EvidenceText } from '../evidence.ts'

/** A notebook as far as its goal is concerned. */
export interface Notebook {
  /** Position and text of the first raw or Markdown cell. */
  readonly head?: { readonly index: number; readonly source: string }
  /** What its code cells printed to stdout, in the order of the cells. */
  readonly texts: readonly EvidenceText[]
  readonly cells: number
  /** Cells have ids, these, from format 4.5 on. */
  readonly ids?: ReadonlySet<string>
}

/** Lines may come as a list, as Jupyter writes them, or as one text. */
const TextSchema = z.union([z.string(), z.array(z.string())])

const CellSchema = z.object({
  cell_type: z.string(),
  id: z.string().optional(),
  source: TextSchema,
  outputs: z
    .array(z.object({ output_type: z.string(), name: z.string().optional(), text: z.unknown().optional() }))
    .optional(),
})
type Cell = z.infer<typeof CellSchema>

const NotebookSchema = z.object({
  nbformat: z.literal(4, 'is it a notebook of format 4?'),
  nbformat_minor: z.int().default(0),
  cells: z.array(CellSchema),
})

/** Reads an .ipynb file, hostile or not. */
export function readNotebook(
  text: string,
): { readonly ok: true; readonly notebook: Notebook } | { readonly ok: false; readonly problem: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, problem: `it is no JSON: ${(error as Error).message.slice(0, 200)}` }
  }
  const read = NotebookSchema.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    const place = issue?.path.join('.') || 'it'
    return { ok: false, problem: `it is no notebook that can be read: ${place}: ${issue?.message}` }
  }
  const { cells, nbformat_minor } = read.data
  const index = cells.findIndex(({ cell_type }) => cell_type === 'raw' || cell_type === 'markdown')
  const source = cells[index]?.source
  return {
    ok: true,
    notebook: {
      ...(source === undefined ? {} : { head: { index, source: joined(source) } }),
      texts: cells.flatMap(printedBy),
      cells: cells.length,
      ...(nbformat_minor < 5 ? {} : { ids: new Set(cells.flatMap(({ id }) => id ?? [])) }),
    },
  }
}

/** One text a cell: a marker may be printed in pieces. Cells are counted as people do, from 1. */
function printedBy({ cell_type, outputs = [] }: Cell, index: number): readonly EvidenceText[] {
  if (cell_type !== 'code') return []
  const printed = outputs.flatMap(({ output_type, name, text }) => {
    const read = TextSchema.safeParse(text)
    return output_type === 'stream' && name === 'stdout' && read.success ? [joined(read.data)] : []
  })
  return printed.length === 0 ? [] : [{ block: `cell ${index + 1}`, text: printed.join('') }]
}

function joined(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('')
}
