import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { as } from './attribute-values.ts'

const DAY_MS = 86_400_000
/** Step Functions keeps the names of executions for 90 days: HEAD must remember them as long. */
const LEAST_DAYS = 91
/** A machine's longest life. */
const LONGEST_RUN_DAYS = 365

/** How long a table keeps what it is given. */
export interface Keeping {
  now(): number
  /** `safety.retention_days` of the settings: how long an ended run is kept. */
  readonly retention_days: number
}

/** `ttl` of HEAD, set when the run ends; `ended_at` ISO. A run that lives has none. */
export function keepHead(ended_at: string, { retention_days }: Pick<Keeping, 'retention_days'>): AttributeValue {
  return seconds(Date.parse(ended_at), afterEnd(retention_days))
}

/** `ttl` of an item beside HEAD written now: it outlives HEAD, without which nobody reads it. */
export function keepItem({ now, retention_days }: Keeping): AttributeValue {
  return seconds(now(), LONGEST_RUN_DAYS + afterEnd(retention_days))
}

/** `ttl` of CTX and META: they outlive every other item, so that a run id made again meets none of its forerunner's. */
export function keepBirth({ now, retention_days }: Keeping): AttributeValue {
  return seconds(now(), 2 * (LONGEST_RUN_DAYS + afterEnd(retention_days)))
}

function afterEnd(retention_days: number): number {
  return Math.max(LEAST_DAYS, retention_days)
}

function seconds(from: number, days: number): AttributeValue {
  return as.number(Math.floor((from + days * DAY_MS) / 1_000))
}
