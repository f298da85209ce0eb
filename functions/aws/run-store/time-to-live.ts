import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { as } from './attribute-values.ts'

const DAY_MS = 86_400_000
/** Names of executions are taken for 90 days: HEAD must remember them as long (decisions, "HEAD, exactly"). */
const AFTER_END_DAYS = 91
/** A machine's longest life. */
const LONGEST_RUN_DAYS = 365

/** `ttl` of HEAD, set when the run ends; `ended_at` ISO. A run that lives has none. */
export function keepHead(ended_at: string): AttributeValue {
  return seconds(Date.parse(ended_at), AFTER_END_DAYS)
}

/** `ttl` of an item beside HEAD written now: it outlives HEAD, without which nobody reads it. */
export function keepItem(now: number): AttributeValue {
  return seconds(now, LONGEST_RUN_DAYS + AFTER_END_DAYS)
}

/** `ttl` of CTX and META: they outlive every other item, so that a run id made again meets none of its forerunner's. */
export function keepBirth(now: number): AttributeValue {
  return seconds(now, 2 * (LONGEST_RUN_DAYS + AFTER_END_DAYS))
}

function seconds(from: number, days: number): AttributeValue {
  return as.number(Math.floor((from + days * DAY_MS) / 1_000))
}
