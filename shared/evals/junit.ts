import { xmlText } from '../text/xml.ts'
import type { Report } from './report.ts'
import { type Round, verdictsOf } from './round-file.ts'

/** A round as JUnit's XML: a suite a variant, a case an item, and one suite of what is demanded. */
export function junitOf(round: Round, report: Report): string {
  const suites = round.head.variants.map(({ name }) => variantSuite(round, name))
  const demanded = report.thresholds.map(({ words, held }) => caseOf('thresholds', words, held ? undefined : words, 0))
  const all = [...suites, ...(demanded.length === 0 ? [] : [suiteOf('thresholds', demanded)])]
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xmlText(report.eval)}">\n${all.join('\n')}\n</testsuites>\n`
}

function variantSuite({ head, results }: Round, variant: string): string {
  const byItem = new Map(results.filter((one) => one.variant === variant).map((one) => [one.item, one]))
  const cases = head.items.map(({ id }) => {
    const result = byItem.get(id)
    if (result === undefined) return caseOf(variant, id, 'It has no result: the round is not complete.', 0)
    const [whole, ...parts] = verdictsOf(result, head.asserted)
    const failed = parts.filter(({ passed }) => !passed).map(({ what, words }) => `${what}: ${words}`)
    const words = whole?.passed === true ? undefined : [...failed, `run ${result.run_id}`].join('\n')
    return caseOf(variant, id, words, (result.latency_ms ?? 0) / 1_000)
  })
  return suiteOf(variant, cases)
}

function suiteOf(name: string, cases: readonly string[]): string {
  const failures = cases.filter((one) => one.includes('<failure')).length
  return `  <testsuite name="${xmlText(name)}" tests="${cases.length}" failures="${failures}">\n${cases.join('\n')}\n  </testsuite>`
}

function caseOf(suite: string, name: string, failure: string | undefined, seconds: number): string {
  const head = `    <testcase classname="${xmlText(suite)}" name="${xmlText(name)}" time="${seconds.toFixed(3)}"`
  if (failure === undefined) return `${head}/>`
  const [first = ''] = failure.split('\n')
  return `${head}><failure message="${xmlText(first)}">${xmlText(failure)}</failure></testcase>`
}
