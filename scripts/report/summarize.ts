import { AREAS, areaOf, KINDS } from './areas.ts'
import type { TestFile } from './test-file.ts'

interface Counts {
  readonly files: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Found, not run for this report. */
  readonly listed: number
  /** Sum over files; they run side by side. */
  readonly seconds: number
}

interface AreaLine {
  readonly area: string
  readonly risk: string
  readonly gap: string
  /** Tests there are by kind, run or listed. */
  readonly tests: Readonly<Record<string, number>>
  /** Kinds without any test. */
  readonly missing: readonly string[]
}

/** reports/test-summary.json. */
export interface Summary {
  readonly at: string
  readonly note: string
  readonly totals: Counts
  readonly kinds: Readonly<Record<string, Counts>>
  readonly matrix: readonly AreaLine[]
  readonly failed_files: readonly string[]
  readonly slowest: readonly { readonly file: string; readonly seconds: number }[]
  readonly coverage: Readonly<Record<string, number>>
}

/** When it was, and which kinds were run. */
interface Circumstances {
  readonly at: string
  readonly ran: readonly string[]
}

/** Counts by kind, the matrix of areas and kinds, and what stands out. `coverage`: percent by measure. */
export function summarize(
  files: readonly TestFile[],
  coverage: Summary['coverage'],
  { at, ran }: Circumstances,
): Summary {
  const kinds = KINDS.map((kind) => [kind, counted(files.filter((one) => one.kind === kind))] as const)
  return {
    at,
    note: noteOf(ran),
    totals: counted(files),
    kinds: Object.fromEntries(kinds),
    matrix: AREAS.map(({ name, risk, gap }) => areaLine(name, risk, gap, files)),
    failed_files: files.filter(({ failed }) => failed > 0).map(({ file }) => file),
    slowest: files
      .toSorted((left, right) => right.seconds - left.seconds)
      .slice(0, MOST_SLOW)
      .map(({ file, seconds }) => ({ file, seconds })),
    coverage,
  }
}

const MOST_SLOW = 10

/** What a reader must know before believing a figure. */
function noteOf(ran: readonly string[]): string {
  const others = KINDS.filter((kind) => !ran.includes(kind))
  return `Run for this report: ${ran.join(', ')}. Only listed: ${others.join(', ')}. The machine was shared with other work: durations say which files are slow, not how slow. Coverage counts what these tests run in their own process; places, commands and functions that are spawned count nothing, so its figures are too low.`
}

function counted(files: readonly TestFile[]): Counts {
  const sum = (read: (file: TestFile) => number) => files.reduce((total, file) => total + read(file), 0)
  return {
    files: files.length,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    listed: sum(({ listed }) => listed),
    seconds: Math.round(sum(({ seconds }) => seconds)),
  }
}

function areaLine(area: string, risk: string, gap: string, files: readonly TestFile[]): AreaLine {
  const own = files.filter(({ file }) => areaOf(file) === area)
  const tests = KINDS.map((kind) => {
    const { passed, failed, skipped, listed } = counted(own.filter((one) => one.kind === kind))
    return [kind, passed + failed + skipped + listed] as const
  })
  const missing = tests.filter(([, count]) => count === 0).map(([kind]) => kind)
  return { area, risk, gap, tests: Object.fromEntries(tests), missing }
}
