import * as z from 'zod'

/** A payload as JSON: optional members that are zero, false, empty or absent are left out, at every level of the schema. */
export function encodePayload<T>(schema: z.ZodType<T>, value: T): unknown {
  return encode(schema, value)
}

function encode(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => encode(inner.element, item))
  if (!(inner instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value
  const held = value as Readonly<Record<string, unknown>>
  const members = Object.entries(inner.shape).flatMap(([key, member]) => {
    const encoded = encode(member, held[key])
    return member instanceof z.ZodOptional && isEmpty(encoded) ? [] : [[key, encoded] as const]
  })
  return Object.fromEntries(members)
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !value
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}
