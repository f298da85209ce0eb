import { relative } from 'node:path'
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
