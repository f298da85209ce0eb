import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { Fault } from '../../../shared/errors.ts'

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
  text: (item: Item, name: string): string => item[name]?.S ?? corrupt(item, name),
  number: (item: Item, name: string): number => Number(item[name]?.N ?? corrupt(item, name)),
  bytes: (item: Item, name: string): Uint8Array => item[name]?.B ?? corrupt(item, name),
  list: (item: Item, name: string): readonly string[] => {
    const { L = corrupt(item, name) } = item[name] ?? {}
    return L.map(({ S = corrupt(item, name) }) => S)
  },
  /** Members of a set in order; a set that lost its last member is not there. */
  members: (item: Item, name: string): readonly string[] => (item[name]?.SS ?? []).toSorted(),
  map: (item: Item, name: string): Readonly<Record<string, AttributeValue>> => item[name]?.M ?? {},
} as const

function corrupt(item: Item, name: string): never {
  const message = `Cannot read item "${item.sk?.S ?? '?'}" of a run: its attribute "${name}" is missing or of another type. Something else wrote to the table.`
  throw new Fault('Bug', 'item_corrupt', message)
}
