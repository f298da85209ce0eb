import type { Issue } from '../errors.ts'
import { ENTITY_LIMITS } from './entity.ts'
import { type Triple, TripleSchema } from './triple.ts'

/** Issues told of one bad triple. */
const MOST_ISSUES = 10

/** One triple of a call, or what is wrong with it; `id` is its subject, where one could be read. */
export function readTriple(value: unknown): {
  readonly id?: string
  readonly item?: Triple
  readonly issues?: readonly Issue[]
} {
  const parsed = TripleSchema.safeParse(value)
  if (!parsed.success) {
    const subject = TripleSchema.pick({ subject: true }).loose().safeParse(value)
    const issues = parsed.error.issues.slice(0, MOST_ISSUES)
    return {
      ...(subject.success ? { id: subject.data.subject } : {}),
      issues: issues.map(({ path, message }) => ({ path: path.join('.'), message })),
    }
  }
  const { subject, object } = parsed.data
  const most = ENTITY_LIMITS.object_characters
  if (typeof object !== 'string' || object.length <= most) return { id: subject, item: parsed.data }
  const message = `It has ${object.length} characters, at most ${most} are allowed: store it as an object and name its ref.`
  return { id: subject, issues: [{ path: 'object', message }] }
}
