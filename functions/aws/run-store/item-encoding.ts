import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { Fault } from '../../../shared/errors.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'

/** An item as the wire has it. */
export type Item = Readonly<Record<string, AttributeValue>>

/** Our values as DynamoDB's. Structures are JSON text: it keeps every value and every key, and is the shortest form. */
export const as = {
  text: (S: string): AttributeValue => ({ S }),
  json: (value: unknown): AttributeValue => ({ S: JSON.stringify(value) }),
  number: (value: number): AttributeValue => ({ N: String(value) }),
  bytes: (B: Uint8Array): AttributeValue => ({ B }),
  /** A set with one member, for ADD and DELETE. */
  member: (value: string): AttributeValue => ({ SS: [value] }),
  members: (values: readonly string[]): AttributeValue => ({ SS: [...values] }),
  numberMember: (value: number): AttributeValue => ({ NS: [String(value)] }),
  list: (texts: readonly string[]): AttributeValue => ({ L: texts.map((S) => ({ S })) }),
  map: (M: Record<string, AttributeValue>): AttributeValue => ({ M }),
} as const

/** DynamoDB's values as ours; Fault Bug item_corrupt where an attribute we always write is missing. */
export const from = {
  text: (item: Item, name: string): string => item[name]?.S ?? corruptItem(item, name),
  number: (item: Item, name: string): number => Number(item[name]?.N ?? corruptItem(item, name)),
  bytes: (item: Item, name: string): Uint8Array => item[name]?.B ?? corruptItem(item, name),
  list: (item: Item, name: string): readonly string[] => {
    const { L = corruptItem(item, name) } = item[name] ?? {}
    return L.map(({ S = corruptItem(item, name) }) => S)
  },
  /** Members of a set in order; a set that lost its last member is not there. */
  members: (item: Item, name: string): readonly string[] => (item[name]?.SS ?? []).toSorted(),
  map: (item: Item, name: string): Readonly<Record<string, AttributeValue>> => item[name]?.M ?? {},
} as const

export function corruptItem(item: Item, name: string, cause?: unknown): never {
  const message = `Cannot read item "${item.sk?.S ?? '?'}" of a run: its attribute "${name}" is missing, damaged or of another type. Something else wrote to the table.`
  throw new Fault('Bug', 'item_corrupt', message, cause === undefined ? {} : { cause })
}

/** Key of an item of a run: `T#<tenant>#R#<run>` and its kind (docs/architecture.md, "The run store"). */
export function itemKey({ tenant, run_id }: RunKey, sk: string): Item {
  return { pk: as.text(`T#${tenant}#R#${run_id}`), sk: as.text(sk) }
}

/** The run an index entry belongs to: the inverse of `itemKey`. Run ids have no `#`, tenants may. */
export function runInKey(pk: string): RunKey {
  const at = pk.lastIndexOf('#R#')
  return { tenant: pk.slice(2, at), run_id: pk.slice(at + 3) }
}

/** Key of a page: its LAST seq, padded so that text order is number order. */
export function pageSk(seq: number): string {
  return `P#${String(seq).padStart(12, '0')}`
}

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
export function headTtl(ended_at: string, { retention_days }: Pick<Keeping, 'retention_days'>): AttributeValue {
  return seconds(Date.parse(ended_at), afterEnd(retention_days))
}

/** `ttl` of an item beside HEAD written now: it outlives HEAD, without which nobody reads it. */
export function itemTtl({ now, retention_days }: Keeping): AttributeValue {
  return seconds(now(), LONGEST_RUN_DAYS + afterEnd(retention_days))
}

/** `ttl` of CTX and META: they outlive every other item, so that a run id made again meets none of its forerunner's. */
export function birthTtl({ now, retention_days }: Keeping): AttributeValue {
  return seconds(now(), 2 * (LONGEST_RUN_DAYS + afterEnd(retention_days)))
}

function afterEnd(retention_days: number): number {
  return Math.max(LEAST_DAYS, retention_days)
}

function seconds(from: number, days: number): AttributeValue {
  return as.number(Math.floor((from + days * DAY_MS) / 1_000))
}

export const DAY_SEC = 86_400
