import type { CaseResult } from '../../../shared/cases/judge-case.ts'
import { missLines } from '../../../shared/cases/miss-lines.ts'

/** As JUnit has it: a suite a file, a case a case. */
export function junitOf(results: readonly CaseResult[]): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(([file, of]) => suiteOf(file, of))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sluice test">\n${suites.join('\n')}\n</testsuites>\n`
}

function suiteOf(file: string, results: readonly CaseResult[]): string {
  const counted = (verdict: CaseResult['verdict']) => results.filter((one) => one.verdict === verdict).length
  const head = `name="${escaped(file)}" tests="${results.length}" failures="${counted('failed')}" skipped="${counted('skipped')}"`
  return `  <testsuite ${head}>\n${results.map(caseOf).join('\n')}\n  </testsuite>`
}

function caseOf({ file, name, verdict, took_ms, why = '', misses }: CaseResult): string {
  const head = `    <testcase classname="${escaped(file)}" name="${escaped(name)}" time="${(took_ms / 1_000).toFixed(3)}"`
  if (verdict === 'passed') return `${head}/>`
  if (verdict === 'skipped') return `${head}><skipped message="${escaped(why)}"/></testcase>`
  const [first] = misses
  const message = first === undefined ? '' : `${first.what}: expected ${first.expected}, seen ${first.seen}`
  return `${head}><failure message="${escaped(message)}">${escaped(misses.flatMap(missLines).join('\n'))}</failure></testcase>`
}

/** XML 1.0 has no characters below a space but three, and none of half a pair. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
