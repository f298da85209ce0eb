import type * as z from 'zod'
import type { Json } from '../canonical.ts'
import { unknownKey } from './issue-problems.ts'
import { type Reading, readMapping, readMember } from './reading.ts'
import type { Path } from './source.ts'

/**
 * Reads a mapping key by key: what is right is answered, what is wrong is a problem at its place, so one mistake hides
 * no other. Unknown keys are problems too. `undefined` = not a mapping.
 */
export function readSection<S extends z.ZodObject>(
  reading: Reading,
  schema: S,
  given: Json | undefined,
  path: Path,
): Partial<z.output<S>> | undefined {
  const mapping = readMapping(reading, given, path)
  if (mapping === undefined) return undefined
  const known = () => Object.keys(schema.shape)
  for (const key of Object.keys(mapping)) {
    if (!Object.hasOwn(schema.shape, key)) reading.problems.push(unknownKey([...path, key], known))
  }
  const values: Record<string, unknown> = {}
  for (const [key, type] of Object.entries(schema.shape)) {
    const value = readMember(reading, type, Object.hasOwn(mapping, key) ? mapping[key] : undefined, [...path, key])
    if (value !== undefined) values[key] = value
  }
  // Each member came from its own schema of the shape.
  return values as Partial<z.output<S>>
}
