import * as z from 'zod'
import { sha256 } from '../text/hash.ts'
import type { Json } from '../text/json.ts'

/** Whose data a run holds (docs/runs.md, "Subjects"). */
export const SUBJECT_LIMITS = { subjects: 10, characters: 256, depth: 8 } as const

const SUBJECT_RULE = `a subject is a text of 1 to ${SUBJECT_LIMITS.characters} characters on one line, without a space at its ends`
const SUBJECT = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u

const SubjectSchema = z.string(SUBJECT_RULE).max(SUBJECT_LIMITS.characters, SUBJECT_RULE).regex(SUBJECT, SUBJECT_RULE)

/** One, or several. */
export const SubjectsSchema = z.union(
  [SubjectSchema, z.array(SubjectSchema).min(1).max(SUBJECT_LIMITS.subjects)],
  `${SUBJECT_RULE}; or a list of at most ${SUBJECT_LIMITS.subjects}`,
)

/** `inputs.customer.id`: a run input, and what of it. */
export const SUBJECT_PATH = /^inputs(?:\.[A-Za-z_][A-Za-z0-9_-]{0,63}){1,8}$/

/**
 * What is kept of a subject: it finds the runs, and says nothing by itself. It stands in META and in lists, and goes with
 * the run. Who can read those and guesses a subject can tell whether it is this one, as of any value that is searched.
 */
export function subjectDigest(subject: string): string {
  return sha256(`subject\n${subject.normalize('NFC')}`)
}

/** Digests of those a start names, and of those its document finds in the values it starts with; each once. */
export function subjectsOf(
  paths: readonly string[],
  values: Readonly<Record<string, Json>>,
  given: string | readonly string[] | undefined,
): readonly string[] {
  const told = given === undefined ? [] : typeof given === 'string' ? [given] : given
  const found = paths.flatMap((path) => subjectAt(path, values) ?? [])
  return [...new Set([...told, ...found].map(subjectDigest))]
}

/** A text or a number; undefined: nothing is there that could be a subject. */
function subjectAt(path: string, values: Readonly<Record<string, Json>>): string | undefined {
  let value: Json | undefined = values
  for (const name of path.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined
    value = (value as Readonly<Record<string, Json>>)[name]
  }
  const text = typeof value === 'number' ? String(value) : value
  return SubjectSchema.safeParse(text).success ? (text as string) : undefined
}
