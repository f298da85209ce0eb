/**
 * Why a text is no entity id (docs/research.md, "Entity ids, predicates, triples"), in the order they are looked for.
 */
type EntityIdReason = 'empty' | 'bytes' | 'arity' | 'empty_segment' | 'first_byte' | 'alphabet'

/** What was seen, in numbers only: a refused id may hold anything and is never echoed. */
interface EntityIdRefusal {
  readonly reason: EntityIdReason
  readonly message: string
}

/**
 * Six dot-separated segments `org.platform.domain.system.type.instance`, each a letter or digit and then letters,
 * digits, `_` or `-`, at most 256 bytes in all; case is kept. undefined = it is one.
 */
export function refuseEntityId(text: string): EntityIdRefusal | undefined {
  return refuse(text, { least: SEGMENTS, wildcard: false, what: 'An entity id' })
}

/** The first one to six segments of an id. */
export function refuseEntityIdPrefix(text: string): EntityIdRefusal | undefined {
  return refuse(text, { least: 1, wildcard: false, what: 'An entity id prefix' })
}

// The console reads ids too, and browsers have no Buffer.
const ENCODER = new TextEncoder()

/** Six segments, each one of an id or a lone `*`. */
export function refuseEntityIdPattern(text: string): EntityIdRefusal | undefined {
  return refuse(text, { least: SEGMENTS, wildcard: true, what: 'An entity id pattern' })
}

const SEGMENTS = 6
const MAX_BYTES = 256

interface Form {
  readonly least: number
  readonly wildcard: boolean
  readonly what: string
}

function refuse(text: string, form: Form): EntityIdRefusal | undefined {
  const { least, what } = form
  if (text === '') return { reason: 'empty', message: `${what} is refused (empty): it has no characters.` }
  const bytes = ENCODER.encode(text).length
  if (bytes > MAX_BYTES) {
    return { reason: 'bytes', message: `${what} is refused (bytes): it has ${bytes} bytes, at most ${MAX_BYTES}.` }
  }
  const segments = text.split('.')
  if (segments.length < least || segments.length > SEGMENTS) {
    const wanted = least === SEGMENTS ? `${SEGMENTS}` : `${least} to ${SEGMENTS}`
    return {
      reason: 'arity',
      message: `${what} is refused (arity): it has ${segments.length} dot-separated segments, wanted are ${wanted}.`,
    }
  }
  return refuseSegments(segments, form)
}

/** Each rule over all segments before the next rule: the reason does not depend on where the faults stand. */
function refuseSegments(segments: readonly string[], { wildcard, what }: Form): EntityIdRefusal | undefined {
  const literal = (segment: string) => !(wildcard && segment === '*')
  const told = (reason: EntityIdReason, at: number, rule: string) => ({
    reason,
    message: `${what} is refused (${reason}): segment ${at + 1} ${rule}.`,
  })
  const empty = segments.indexOf('')
  if (empty >= 0) return told('empty_segment', empty, 'has no characters')
  const first = segments.findIndex((segment) => literal(segment) && !/^[A-Za-z0-9]/.test(segment))
  if (first >= 0) return told('first_byte', first, 'must start with a letter A-Z, a-z or a digit')
  const alphabet = segments.findIndex((segment) => literal(segment) && !/^[A-Za-z0-9_-]+$/.test(segment))
  if (alphabet >= 0) return told('alphabet', alphabet, 'may have only letters A-Z, a-z, digits, _ and -')
  return undefined
}

/**
 * Whether the id ends in the part, on a segment boundary. Any suffix would be too much: `1` would match
 * `drone.11`.
 */
export function hasSuffix(entityId: string, part: string): boolean {
  return part !== '' && (entityId === part || entityId.endsWith(`.${part}`))
}
