import { sourceOf } from '../criteria/source-of.ts'
import type { Evidence, PlacedMarker } from '../evidence.ts'
import { sameDashes } from '../marker.ts'
import { metricValue } from '../metric-value.ts'
import type { JudgedFinding } from '../verified-findings.ts'
import type { Challenge, CheckedRecord } from './challenge.ts'

/** Are the metrics a finding states (`cv_accuracy_mean = 0.91`) the ones that were measured last? */
export function challengeMetrics({ finding }: JudgedFinding, { evidence }: CheckedRecord): readonly Challenge[] {
  const stated = [...finding.content.matchAll(STATEMENT)].flatMap(([, name = '', value = '']) => {
    const measured = lastMetric(name, evidence)
    return measured === undefined ? [] : [compared(name, value, measured)]
  })
  if (stated.length > 0) return stated
  const message = `the finding of line ${finding.line} states no metric that was measured`
  return [{ type: 'metric', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

const STATEMENT =
  /\b([A-Za-z][\w-]{0,99})\s*(?:=|:|of|is)\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w%]|[.,]\d)/g

function lastMetric(name: string, { markers }: Evidence): PlacedMarker | undefined {
  return markers.findLast(({ type, subtype }) => type === 'METRIC' && subtype === sameDashes(name))
}

function compared(name: string, stated: string, measured: PlacedMarker): Challenge {
  const read = metricValue(measured.content)
  const source = sourceOf(measured)
  if (!read.ok) {
    return {
      type: 'metric',
      outcome: 'refuted',
      message: `${name} is stated as ${stated}, but no number was measured`,
      source,
    }
  }
  const same = Math.abs(read.value - Number(stated)) <= roundingOf(stated)
  const message = `${name} is stated as ${stated} and was measured as ${read.value}`
  return { type: 'metric', outcome: same ? 'upheld' : 'refuted', message, source }
}

/** Half of the last digit that is written: 0.91 may be said of 0.9149. */
function roundingOf(stated: string): number {
  const [mantissa = '', exponent = '0'] = stated.toLowerCase().split('e')
  const decimals = mantissa.split('.')[1]?.length ?? 0
  return 0.5 * 10 ** (Number(exponent) - decimals)
}
