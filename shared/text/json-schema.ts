import * as z from 'zod'
import type { Json } from './json.ts'

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, Json>>

interface Members {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

/** What zod says of an object, without its bound for whole numbers and its words for "any JSON": no rules of ours. */
export function schemaMembers(schema: z.ZodType): Members {
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  // JSON by construction.
  const { properties = {}, required = [] } = JSON.parse(JSON.stringify(made, withoutNoise)) as Partial<Members>
  return { properties, required }
}

function withoutNoise(key: string, value: unknown): unknown {
  if (typeof value === 'object' && value !== null && '$ref' in value) return {}
  return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value
}
