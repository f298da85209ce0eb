import type * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { Gate } from '../gates/gate.ts'
import { issueProblems, unknownKey } from './issue-problems.ts'
import { isLater, laterKeys } from './not-yet.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { shown } from './wording.ts'

/** What the checks share: the problems found so far, the gates there are, and the providers when they are known. */
export interface Reading {
  readonly problems: Problem[]
  readonly gates: {
    readonly gateOf: (type: string) => Gate<unknown> | undefined
    readonly gateTypes: () => readonly string[]
  }
  readonly providers?: readonly string[]
}

export type Mapping = Readonly<Record<string, Json>>

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

/** A value its schema accepts; otherwise undefined, and each issue is a problem. */
export function readMember<S extends z.ZodType>(
  { problems }: Reading,
  schema: S,
  given: Json | undefined,
  path: Path,
): z.output<S> | undefined {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  // One problem a place: the first rule that is broken is enough to go on with.
  const told = new Set<string>()
  for (const issue of result.error.issues) {
    const place = JSON.stringify(issue.path.map(String))
    if (!told.has(place)) problems.push(...issueProblems(issue, path, given, schema))
    told.add(place)
  }
  return undefined
}

/** A mapping as it is, or a problem. */
export function readMapping(reading: Reading, given: Json | undefined, path: Path): Mapping | undefined {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Mapping
  wrong(reading, path, given, 'a mapping')
  return undefined
}

/** A list as it is, or a problem. */
export function readList(reading: Reading, given: Json | undefined, path: Path): readonly Json[] | undefined {
  if (Array.isArray(given)) return given as readonly Json[]
  wrong(reading, path, given, 'a list')
  return undefined
}

function wrong({ problems }: Reading, path: Path, given: Json | undefined, what: string): void {
  const hint = given === null ? `Give ${what}, or remove the key.` : undefined
  const say: Problem['say'] = ({ place }) => ({ text: `${place} must be ${what}, got ${shown(given)}`, hint })
  problems.push({ code: path.length === 0 ? 'not_a_mapping' : 'wrong_type', path, say })
}

/** Makes a problem of each key that comes later (not-yet.ts) and answers those keys. */
export function refuseLater(reading: Reading, mapping: Mapping, section: string, path: Path): ReadonlySet<string> {
  const later = Object.keys(mapping).filter((key) => isLater(section, key, mapping[key] ?? null))
  for (const key of later) {
    // `mode: dag` and its section `dag` are one thing, said once.
    if (section !== 'block' || mapping.mode !== key) refuseOne(reading, mapping[key], [...path, key])
  }
  return new Set(later)
}

function refuseOne({ problems }: Reading, value: Json | undefined, path: Path): void {
  const key = String(path.at(-1))
  const what = typeof value === 'string' || typeof value === 'number' ? `"${key}" (${shown(value)})` : `"${key}"`
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} uses ${what}, which is not supported yet`,
    hint: `${what} comes in a later version: remove it for now.`,
  })
  problems.push({ code: 'not_yet_supported', path, on: 'key', say })
}

function refuseKey({ problems }: Reading, schema: z.ZodObject, section: string, path: Path): void {
  const known = () => [...Object.keys(schema.shape), ...laterKeys(section)]
  problems.push(unknownKey(path, known))
}
