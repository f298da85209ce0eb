import { describe, expect, test } from 'vitest'
import { foldCoverage, listedFiles, ranFiles } from '../../../scripts/report/results.ts'
import { AREAS, areaOf, KINDS, reportPage, summarize } from '../../../scripts/report/summary.ts'

const result = (name: string, statuses: readonly string[], status = 'passed') => ({
  name: `/x/${name}`,
  startTime: 1_000,
  endTime: 3_500,
  status,
  assertionResults: statuses.map((one) => ({ status: one })),
})
const RUN = {
  startTime: 1,
  testResults: [
    result('test/unit/gates/matches.test.ts', ['passed', 'passed', 'failed', 'skipped'], 'failed'),
    result('test/conformance/sqlite-run-store.test.ts', ['passed']),
    result('test/integration/broken.test.ts', [], 'failed'),
  ],
}
const LIST = [{ file: '/x/test/e2e/cli-plan.test.ts' }, { file: '/x/test/e2e/cli-plan.test.ts' }]
const files = [...ranFiles(RUN, '/x'), ...listedFiles(LIST, '/x')]
const summary = summarize(
  files,
  { lines: 81.25 },
  { at: '2026-11-22T10:00:00.000Z', ran: ['unit', 'conformance', 'integration'] },
)

describe('the report', () => {
  test('counts what ran and what was only listed, and a file that could not be loaded as one failure', () => {
    expect(summary.totals).toEqual({ files: 4, passed: 3, failed: 2, skipped: 1, listed: 2, seconds: 8 })
    expect(summary.kinds.e2e).toMatchObject({ files: 1, passed: 0, listed: 2 })
    expect(summary.failed_files).toEqual(['test/integration/broken.test.ts', 'test/unit/gates/matches.test.ts'])
  })

  test('says of every area which kinds of tests it has and has not', () => {
    expect(summary.matrix.map(({ area }) => area)).toEqual(AREAS.map(({ name }) => name))
    const gates = summary.matrix.find(({ area }) => area === 'gates')
    expect(gates?.tests.unit).toBe(4)
    expect(gates?.missing).toEqual(KINDS.filter((kind) => kind !== 'unit'))
    expect(summary.matrix.flatMap(({ tests }) => Object.values(tests)).reduce((sum, one) => sum + one, 0)).toBe(8)
  })

  test('tells people the same', () => {
    const page = reportPage(summary)
    expect(page).toContain('**3 passed, 2 failed, 1 skipped**, 2 more were found and not run here')
    expect(page).toContain('Run for this report: unit, conformance, integration. Only listed: e2e, faults, aws.')
    expect(page).toContain('- gates: no tests of kind conformance, integration, e2e, faults, aws.')
    expect(page).toContain('| lines | 81.3 |')
  })

  test.each([
    ['test/aws/runs.test.ts', 'AWS'],
    ['test/conformance/sqlite-run-store.test.ts', 'store'],
    ['test/integration/approvals/votes.test.ts', 'approvals'],
    ['test/unit/compile/series-parallel.test.ts', 'machine'],
    ['test/e2e/cli-server.test.ts', 'CLI'],
    ['test/unit/dag/limits.test.ts', 'language and docs'],
  ])('%s is of the area %s', (file, area) => {
    expect(areaOf(file)).toBe(area)
  })
})

test('coverage is folded by folder, and its total is that of the files', () => {
  const all = (total: number, covered: number) => ({
    lines: { total, covered },
    statements: { total, covered },
    functions: { total, covered },
    branches: { total: 0, covered: 0 },
  })
  const json = {
    total: all(1, 1),
    '/x/shared/dag/parse.ts': all(10, 9),
    '/x/shared/dag/yaml.ts': all(10, 6),
    '/x/functions/gates/a.ts': all(20, 20),
  }
  const folded = foldCoverage(json, '/x')
  expect(Object.keys(folded)).toEqual(['total', 'functions/gates', 'shared/dag'])
  expect(folded['shared/dag']?.lines).toEqual({ total: 20, covered: 15, pct: 75 })
  expect(folded.total?.lines?.pct).toBe(87.5)
  expect(folded.total?.branches?.pct).toBe(100)
})
