import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { foldCoverage, listedFiles, ranFiles, type TestFile } from './report/results.ts'
import { KINDS, reportPage, summarize } from './report/summary.ts'

/**
 * `npm run test:report`: runs unit, conformance and integration tests with coverage, lists the others, and writes
 * `reports/`, which is not committed. `-- --run unit,conformance` runs those only, for a machine that has other work. Exit code: that of the
 * tests; a report of failed ones is written all the same.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
const { run: chosen } = parseArgs({
  options: { run: { type: 'string', default: 'unit,conformance,integration' } },
}).values
const ran = chosen.split(',')
const listed = KINDS.filter((kind) => !ran.includes(kind))

const results = join(folder, 'results.json')
const coverage = join(folder, 'coverage')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
const status = vitest(['run', ...projects(ran), '--coverage', `--coverage.reportsDirectory=${coverage}`, ...reporters])
const list = join(folder, 'list.json')
// Integration files that get their tests from a suite must be run to be counted; the others are read, which is faster.
const read = listed.includes('integration') ? ['--staticParse=false'] : []
vitest(['list', ...read, ...projects(listed), `--json=${list}`])
writeReports([...ranFiles(readJson(results), root), ...listedFiles(readJson(list), root)])
rmSync(folder, { recursive: true, force: true })
process.exitCode = status

function writeReports(files: readonly TestFile[]): void {
  const reports = join(root, 'reports')
  const covered = foldCoverage(readJson(join(coverage, 'coverage-summary.json')), root)
  const percent = Object.entries(covered.total ?? {}).map(([measure, { pct }]) => [measure, pct])
  const summary = summarize(files, Object.fromEntries(percent), { at: new Date().toISOString(), ran })
  mkdirSync(join(reports, 'coverage'), { recursive: true })
  // A line a file: what changed is seen in a diff.
  const lines = files.map((file) => `  ${JSON.stringify(file)}`)
  writeFileSync(join(reports, 'vitest-results.json'), `[\n${lines.join(',\n')}\n]\n`)
  writeFileSync(join(reports, 'coverage', 'coverage-summary.json'), `${JSON.stringify(covered, null, 2)}\n`)
  writeFileSync(join(reports, 'test-summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
  writeFileSync(join(reports, 'test-summary.md'), reportPage(summary))
}

function vitest(words: readonly string[]): number {
  const bin = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  return spawnSync(process.execPath, [bin, ...words], { cwd: root, stdio: 'inherit' }).status ?? 1
}

function projects(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => ['--project', name])
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
