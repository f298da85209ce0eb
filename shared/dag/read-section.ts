import type * as z from 'zod'
import type { Json } from '../canonical.ts'
import { unknownKey } from './issue-problems.ts'
import { isLater, laterKeys, laterWords } from './not-yet.ts'
import { type Mapping, type Reading, readMapping, readMember } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'

/**
 * Reads a mapping key by key: what is right is answered, what is wrong is a problem at its place, so one mistake hides
 * no other. Keys that come later (not-yet.ts) and unknown keys are problems too. `undefined` = not a mapping.
 */
export function readSection<S extends z.ZodObject>(
  reading: Reading,
  schema: S,
  given: Json | undefined,
  path: Path,
  section = '',
): Partial<z.output<S>> | undefined {
  const mapping = readMapping(reading, given, path)
  if (mapping === undefined) return undefined
  const later = refuseLater(reading, mapping, section, path)
  for (const key of Object.keys(mapping)) {
    if (!Object.hasOwn(schema.shape, key) && !later.has(key)) refuseKey(reading, schema, section, [...path, key])
  }
  const values: Record<string, unknown> = {}
  for (const [key, type] of Object.entries(schema.shape)) {
    if (later.has(key)) continue
    const value = readMember(reading, type, Object.hasOwn(mapping, key) ? mapping[key] : undefined, [...path, key])
    if (value !== undefined) values[key] = value
  }
  // Each member came from its own schema of the shape.
  return values as Partial<z.output<S>>
}

/** Makes a problem of each key that comes later (not-yet.ts) and answers those keys. */
function refuseLater(reading: Reading, mapping: Mapping, section: string, path: Path): ReadonlySet<string> {
  const later = Object.keys(mapping).filter((key) => isLater(section, key, mapping[key] ?? null))
  for (const key of later) {
    // `mode: dag` and its section `dag` are one thing, said once.
    if (section !== 'block' || mapping.mode !== key)
      refuseOne(reading, laterWords(section, key, mapping[key]), [...path, key])
  }
  return new Set(later)
}

function refuseOne({ problems }: Reading, what: string, path: Path): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} uses ${what}, which is not supported yet`,
    hint: 'Remove it for now; it comes in a later version.',
  })
  problems.push({ code: 'not_yet_supported', path, on: 'key', say })
}

function refuseKey({ problems }: Reading, schema: z.ZodObject, section: string, path: Path): void {
  const known = () => [...Object.keys(schema.shape), ...laterKeys(section)]
  problems.push(unknownKey(path, known))
}
