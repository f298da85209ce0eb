/** A resource of a synthesized template: its properties are data of any shape. */
export interface TemplateResource {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

interface IdleLine {
  readonly what: string
  readonly quantity: number
  readonly usd: number
}

export interface IdleCost {
  readonly lines: readonly IdleLine[]
  readonly usd_a_month: number
}

/** List prices in USD of us-east-1, free tiers not counted, beside those of aws-prices.ts; read on its day. docs/cost.md repeats them. */
export const IDLE_PRICES = {
  /** aws.amazon.com/cloudwatch/pricing: a metric of a standard alarm, a dashboard, a custom metric; each a month. */
  alarm_metric: 0.1,
  dashboard: 3,
  custom_metric: 0.3,
  /** aws.amazon.com/kms/pricing: a customer-managed key a month. */
  key: 1,
  /** aws.amazon.com/waf/pricing: a web ACL, and each rule or group of AWS's rules in it; each a month. */
  web_acl: 5,
  web_acl_rule: 1,
} as const

/** What a deployment costs each month while nobody uses it, counted in its own templates (docs/cost.md). */
export function idleCost(resources: Readonly<Record<string, TemplateResource>>, prices: CallPrices): IdleCost {
  const all = Object.values(resources)
  const count = (type: string) => all.filter(({ Type }) => Type === type).length
  const calls = all.flatMap((resource) => scheduledCalls(resource, resources))
  const total = calls.reduce((sum, { times }) => sum + times, 0)
  const gbSeconds = calls.reduce((sum, { times, mb }) => sum + (times * SECONDS_A_CALL * mb) / 1_024, 0)
  const lines = [
    idleLine('metrics of alarms', alarmMetrics(all), IDLE_PRICES.alarm_metric),
    idleLine('dashboards', count('AWS::CloudWatch::Dashboard'), IDLE_PRICES.dashboard),
    idleLine('metrics of the sweep', calls.length === 0 ? 0 : METRICS_OF_SWEEP, IDLE_PRICES.custom_metric),
    idleLine('requests of scheduled functions', total, prices.lambda_request),
    idleLine('their GB-seconds', gbSeconds, prices.lambda_gb_second),
    idleLine('their table read units', total * READS_A_CALL, prices.read_unit),
    idleLine('GB of their logs', (total * BYTES_A_CALL) / 1e9, prices.log_gb),
    idleLine('customer-managed keys', keysOf(all), IDLE_PRICES.key),
    idleLine('web ACLs', count('AWS::WAFv2::WebACL'), IDLE_PRICES.web_acl),
    idleLine('their rules', rulesOf(all), IDLE_PRICES.web_acl_rule),
  ].filter(({ quantity }) => quantity > 0)
  return { lines, usd_a_month: rounded(lines.reduce((sum, { usd }) => sum + usd, 0)) }
}

/** What a call costs: of PRICES (aws-prices.ts). */
interface CallPrices {
  readonly lambda_request: number
  readonly lambda_gb_second: number
  readonly read_unit: number
  readonly log_gb: number
}

/** Assumed: a look that finds nothing. */
const SECONDS_A_CALL = 0.2

/** Eight shards of the index of due runs, the slots, the queue and the hold. */
const READS_A_CALL = 8

/** A look writes two lines of metrics; Lambda its START, END and REPORT. */
const BYTES_A_CALL = 900

/** functions/aws/run-store/run-store.ts: runs_due, runs_active, places_overdue. */
const METRICS_OF_SWEEP = 3

const MINUTES_A_MONTH = 43_200

function alarmMetrics(all: readonly TemplateResource[]): number {
  const alarms = all.filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')
  return alarms.reduce((sum, { Properties: { Metrics } = {} }) => {
    const own = (Metrics ?? []) as readonly { readonly MetricStat?: unknown }[]
    return sum + Math.max(1, own.filter(({ MetricStat }) => MetricStat !== undefined).length)
  }, 0)
}

/** How often a rule calls its functions in a month, and their memory. */
function scheduledCalls(
  { Type, Properties = {} }: TemplateResource,
  resources: Readonly<Record<string, TemplateResource>>,
): readonly { readonly times: number; readonly mb: number }[] {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(Properties.ScheduleExpression))
  if (Type !== 'AWS::Events::Rule' || rate === null) return []
  const times = MINUTES_A_MONTH / (Number(rate[1]) * MINUTES[rate[2] as keyof typeof MINUTES])
  const targets = (Properties.Targets ?? []) as readonly { readonly Arn?: unknown }[]
  return targets.map(({ Arn }) => {
    const [id = ''] = (Arn as { readonly 'Fn::GetAtt'?: readonly string[] } | undefined)?.['Fn::GetAtt'] ?? []
    return { times, mb: Number(resources[id]?.Properties?.MemorySize ?? DEFAULT_MB) }
  })
}

const MINUTES = { minute: 1, hour: 60, day: 1_440 } as const

/** Lambda's own. */
const DEFAULT_MB = 128

/** Keys that the table and what lies beside it name: one is paid once. */
function keysOf(all: readonly TemplateResource[]): number {
  const named = all.map(
    ({ Properties = {} }) => Properties.SSESpecification as { KMSMasterKeyId?: unknown } | undefined,
  )
  return new Set(
    named.flatMap((sse) => (sse?.KMSMasterKeyId === undefined ? [] : [JSON.stringify(sse.KMSMasterKeyId)])),
  ).size
}

function rulesOf(all: readonly TemplateResource[]): number {
  const acls = all.filter(({ Type }) => Type === 'AWS::WAFv2::WebACL')
  return acls.reduce((sum, { Properties: { Rules } = {} }) => sum + ((Rules ?? []) as readonly unknown[]).length, 0)
}

function idleLine(what: string, quantity: number, price: number): IdleLine {
  return { what, quantity: rounded(quantity), usd: rounded(quantity * price) }
}

function rounded(value: number): number {
  return Number(value.toFixed(4))
}
