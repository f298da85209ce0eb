import type { CaseResult } from '../../../shared/cases/judge-case.ts'
import { missLines } from '../../../shared/cases/miss-lines.ts'
import { xmlText } from '../../../shared/text/xml.ts'

/** As JUnit has it: a suite a file, a case a case. */
export function junitOf(results: readonly CaseResult[]): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(([file, of]) => suiteOf(file, of))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sluice test">\n${suites.join('\n')}\n</testsuites>\n`
}

function suiteOf(file: string, results: readonly CaseResult[]): string {
  const counted = (verdict: CaseResult['verdict']) => results.filter((one) => one.verdict === verdict).length
  const head = `name="${xmlText(file)}" tests="${results.length}" failures="${counted('failed')}" skipped="${counted('skipped')}"`
  return `  <testsuite ${head}>\n${results.map(caseOf).join('\n')}\n  </testsuite>`
}

function caseOf({ file, name, verdict, took_ms, why = '', misses }: CaseResult): string {
  const head = `    <testcase classname="${xmlText(file)}" name="${xmlText(name)}" time="${(took_ms / 1_000).toFixed(3)}"`
  if (verdict === 'passed') return `${head}/>`
  if (verdict === 'skipped') return `${head}><skipped message="${xmlText(why)}"/></testcase>`
  const [first] = misses
  const message = first === undefined ? '' : `${first.what}: expected ${first.expected}, seen ${first.seen}`
  return `${head}><failure message="${xmlText(message)}">${xmlText(misses.flatMap(missLines).join('\n'))}</failure></testcase>`
}
