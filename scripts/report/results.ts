import { dirname, relative } from 'node:path'
import * as z from 'zod'

/** What vitest's JSON reporter writes, as far as the report reads it. */
const ResultsSchema = z.looseObject({
  startTime: z.number(),
  testResults: z.array(
    z.looseObject({
      name: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      status: z.string(),
      assertionResults: z.array(z.looseObject({ status: z.string() })),
    }),
  ),
})

/** What `vitest list --json` writes. */
const ListSchema = z.array(z.looseObject({ file: z.string() }))

/** One test file: what ran of it, or how many tests it has where it was only listed. */
export interface TestFile {
  /** `unit`, `conformance`, .. : the folder below test/. */
  readonly kind: string
  readonly file: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Tests that were found and not run. */
  readonly listed: number
  readonly seconds: number
}

/** Files of a run; a file that could not be loaded counts as one failed test. */
export function ranFiles(json: unknown, root: string): readonly TestFile[] {
  const { testResults } = ResultsSchema.parse(json)
  const files = testResults.map(({ name, startTime, endTime, status, assertionResults }) => {
    const count = (wanted: string) => assertionResults.filter((one) => one.status === wanted).length
    const failed = count('failed')
    const passed = count('passed')
    return {
      ...named(name, root),
      passed,
      failed: failed === 0 && status === 'failed' ? 1 : failed,
      skipped: assertionResults.length - passed - failed,
      listed: 0,
      seconds: Math.round((endTime - startTime) / 10) / 100,
    }
  })
  return files.toSorted(byFile)
}

/** Files that were only looked at. */
export function listedFiles(json: unknown, root: string): readonly TestFile[] {
  const counts = new Map<string, number>()
  for (const { file } of ListSchema.parse(json)) counts.set(file, (counts.get(file) ?? 0) + 1)
  const none = { passed: 0, failed: 0, skipped: 0, seconds: 0 }
  return [...counts].map(([file, listed]) => ({ ...named(file, root), ...none, listed })).toSorted(byFile)
}

function named(path: string, root: string): { readonly kind: string; readonly file: string } {
  const file = relative(root, path).replaceAll('\\', '/')
  return { kind: file.split('/')[1] ?? '', file }
}

function byFile(left: TestFile, right: TestFile): number {
  return left.file < right.file ? -1 : 1
}

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
type Coverage = Readonly<Record<string, Readonly<Record<string, Share>>>>

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
