import { dirname, relative } from 'node:path'
import * as z from 'zod'

const MEASURES = ['lines', 'statements', 'functions', 'branches'] as const
const MeasureSchema = z.looseObject({ total: z.number(), covered: z.number() })
const FileSchema = z.looseObject({
  lines: MeasureSchema,
  statements: MeasureSchema,
  functions: MeasureSchema,
  branches: MeasureSchema,
})
const CoverageSchema = z.record(z.string(), FileSchema)

interface Share {
  readonly total: number
  readonly covered: number
  readonly pct: number
}

/** Measures by folder, `total` first. */
export type Coverage = Readonly<Record<string, Readonly<Record<string, Share>>>>

/** The summary a file is by folder: hundreds of files are nobody's to read, and their figures change with every line. */
export function foldCoverage(json: unknown, root: string): Coverage {
  const { total: _, ...files } = CoverageSchema.parse(json)
  const folders = new Map<string, z.infer<typeof FileSchema>[]>()
  for (const [path, file] of Object.entries(files)) {
    const folder = dirname(relative(root, path)).replaceAll('\\', '/').split('/').slice(0, 2).join('/')
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  const lines = [...folders].toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries([
    ['total', shares(Object.values(files))],
    ...lines.map(([name, all]) => [name, shares(all)]),
  ])
}

function shares(files: readonly z.infer<typeof FileSchema>[]): Readonly<Record<string, Share>> {
  const all = MEASURES.map((measure) => {
    const total = files.reduce((sum, file) => sum + file[measure].total, 0)
    const covered = files.reduce((sum, file) => sum + file[measure].covered, 0)
    return [measure, { total, covered, pct: total === 0 ? 100 : Math.round((1_000 * covered) / total) / 10 }]
  })
  return Object.fromEntries(all)
}
