import * as z from 'zod'
import type { Evidence, LocatedMarker } from '../evidence.ts'
import { isMetricName, metricValue, normaliseDashes } from '../marker.ts'
import { CRITERION_BASE, type CriterionKind, type Judgement, sourceOf } from './criterion.ts'

/** The operators of a metric_threshold, `tolerance` in favour of the metric; `!=` must be further away than it. */
const COMPARISONS = {
  '>=': (actual, target, tolerance) => actual >= target - tolerance,
  '>': (actual, target, tolerance) => actual > target - tolerance,
  '<=': (actual, target, tolerance) => actual <= target + tolerance,
  '<': (actual, target, tolerance) => actual < target + tolerance,
  '==': (actual, target, tolerance) => Math.abs(actual - target) <= tolerance,
  '!=': (actual, target, tolerance) => Math.abs(actual - target) > tolerance,
} as const satisfies Readonly<Record<string, (actual: number, target: number, tolerance: number) => boolean>>

type Operator = keyof typeof COMPARISONS

// The keys of an object literal are its keys.
export const OPERATORS = Object.keys(COMPARISONS) as readonly Operator[]

const MetricThresholdSchema = z.strictObject({
  ...CRITERION_BASE,
  kind: z.literal('metric_threshold'),
  metric: z
    .string()
    .regex(/\S/, 'it must not be blank')
    .max(200)
    .refine(isMetricName, 'every object has a member of this name; choose another one'),
  op: z.enum(OPERATORS),
  target: z.number(),
  tolerance: z.number().min(0).default(0),
})
type MetricThreshold = z.infer<typeof MetricThresholdSchema>

export const metricThreshold: CriterionKind<MetricThreshold> = {
  kind: 'metric_threshold',
  summary:
    'A metric compares with `target`. The name is literal, the last `[METRIC:name]` line in event order counts, and its content begins with a plain number.',
  example: { id: 'AC1', kind: 'metric_threshold', metric: 'cv_accuracy_mean', op: '>=', target: 0.9 },
  schema: MetricThresholdSchema,
  target: ({ target }) => target,
  asks: ({ metric, op, target, tolerance }) =>
    `the metric ${metric} ${wantedWords(op, target, tolerance)}, shown by a line that begins with [METRIC:${metric}] and goes on with a plain number`,
  judge,
  suggest,
}

function judge(criterion: MetricThreshold, evidence: Evidence): Judgement {
  const { metric, op, target, tolerance } = criterion
  const last = lastOf(metric, evidence)
  if (last === undefined) return { status: 'NOT_MET', message: `there is no [METRIC:${metric}] line in the evidence` }
  const source = sourceOf(last)
  const read = metricValue(last.content)
  if (!read.ok) {
    const seen = read.seen === '' ? 'has no value' : `is ${JSON.stringify(read.seen)}, which is not a number`
    return { status: 'NOT_MET', actualValue: read.seen, message: `${metric} ${seen}`, source }
  }
  const met = COMPARISONS[op](read.value, target, tolerance)
  const wanted = wantedWords(op, target, tolerance)
  const message = `${metric} is ${read.value}, ${met ? 'as wanted' : 'wanted'}: ${wanted}`
  return { status: met ? 'MET' : 'NOT_MET', actualValue: read.value, message, source }
}

function wantedWords(op: Operator, target: number, tolerance: number): string {
  return `${op} ${target}${tolerance === 0 ? '' : ` (tolerance ${tolerance})`}`
}

function lastOf(metric: string, { markers }: Evidence): LocatedMarker | undefined {
  const name = normaliseDashes(metric)
  return markers.findLast(({ type, subtype }) => type === 'METRIC' && subtype === name)
}

function suggest({ metric, op, target }: MetricThreshold, { actualValue }: Judgement): string {
  if (actualValue === undefined) return `Measure ${metric} and print a line "[METRIC:${metric}] <number>"`
  if (typeof actualValue === 'string') return `Print ${metric} as a plain number, 0.85 and not 85 % or 1,234`
  return `Change the approach so that ${metric} is ${op} ${target}: now ${actualValue}${gapWords(actualValue, target)}`
}

/** ` (gap -0.15, -16.7 % of the target)`; without what is no finite number. */
function gapWords(actual: number, target: number): string {
  const gap = actual - target
  if (!Number.isFinite(gap)) return ''
  const percent = (gap / Math.abs(target)) * 100
  const share = Number.isFinite(percent) ? `, ${signed(Number(percent.toFixed(1)))} % of the target` : ''
  return ` (gap ${signed(Number(gap.toPrecision(6)))}${share})`
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value)
}
