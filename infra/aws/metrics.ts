import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'

export const FIVE_MINUTES = Duration.minutes(5)

/** The sum within five minutes; `with` makes it another statistic. */
export function metricOf(namespace: string, metricName: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, period: FIVE_MINUTES, statistic: 'Sum' })
}

/** Of the whole stage, written by functions/aws/count-appends.ts. */
export function stageMetric(stage: string, name: string): Metric {
  return metricOf('Sluice', name, { stage })
}
