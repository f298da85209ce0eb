import { refuseEntityId } from '../../graph/entity-id.ts'
import { citationsIn } from '../../text/citations.ts'
import type { Evidence } from '../payloads/candidate-and-evidence.ts'

/** A reference of an answer to its evidence: what it says, and the place from 1 of what it names, if it names any. */
interface EvidenceRef {
  readonly ref: string
  readonly place: number | undefined
}

type Items = readonly Pick<Evidence, 'entity_id' | 'objectstore_ref'>[]

/** Citations (`[1]`, `[an.entity.id]`), then six-part ids and object refs that stand in the prose. */
export function referencesIn(text: string, evidence: Items): readonly EvidenceRef[] {
  const cited = citationsIn(text).flatMap(({ ids }) => ids)
  return [...new Set([...cited, ...refsInProse(text)])].map((ref) => ({ ref, place: placeOf(ref, evidence) }))
}

/** The same text without the references; a citation keeps its others. */
export function withoutReferencesTo(text: string, refs: ReadonlySet<string>): string {
  let from = 0
  const kept: string[] = []
  for (const { ids, at, end } of citationsIn(text)) {
    const left = ids.filter((id) => !refs.has(id))
    const whole = text.slice(at, end)
    const before = left.length === 0 ? text.slice(from, at).trimEnd() : text.slice(from, at)
    kept.push(before, left.length === ids.length ? whole : left.length === 0 ? '' : `[${left.join(', ')}]`)
    from = end
  }
  return replaceRefs([...kept, text.slice(from)].join(''), (ref) => (refs.has(ref) ? GONE : ref))
}

/** What is left to read when citations, ids and object refs are taken out. */
export function withoutAnyReference(text: string): string {
  let from = 0
  const kept: string[] = []
  for (const { at, end } of citationsIn(text)) {
    kept.push(text.slice(from, at))
    from = end
  }
  return replaceRefs([...kept, text.slice(from)].join(' '), () => ' ')
}

const GONE = '(unknown reference)'

function placeOf(ref: string, evidence: Items): number | undefined {
  if (/^\d{1,6}$/.test(ref)) return Number(ref) >= 1 && Number(ref) <= evidence.length ? Number(ref) : undefined
  const at = evidence.findIndex(({ entity_id, objectstore_ref }) => ref === entity_id || ref === objectstore_ref)
  return at < 0 ? undefined : at + 1
}

/** Six-part ids and object refs that stand in a text, not in brackets. */
function refsInProse(text: string): readonly string[] {
  const found: string[] = []
  replaceRefs(text, (ref) => {
    found.push(ref)
    return ref
  })
  return found
}

/** The text with something else in their place. */
export function replaceRefs(text: string, replace: (ref: string) => string): string {
  const named = text.replace(OBJECT_REF, (ref) => replace(ref))
  return named.replace(DOTTED, (ref) => (refuseEntityId(ref) === undefined ? replace(ref) : ref))
}

const OBJECT_REF = /objstore:\/\/[A-Za-z0-9._-]{1,64}\/[A-Za-z0-9._/-]{0,200}[A-Za-z0-9]/g

/** Six segments or more, so that a longer name has no id in it. */
const DOTTED = /(?<![\w.-])[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5,}(?![\w-])/g
