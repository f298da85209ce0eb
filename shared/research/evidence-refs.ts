import { citationsIn } from '../gates/citations.ts'
import { refuseEntityId } from '../graph/entity-id.ts'
import type { Evidence } from './evidence.ts'

/** A reference of an answer to its evidence: what it says, and the place from 1 of what it names, if it names any. */
export interface EvidenceRef {
  readonly ref: string
  readonly place: number | undefined
}

type Items = readonly Pick<Evidence, 'entity_id' | 'objectstore_ref'>[]

/** Citations (`[1]`, `[an.entity.id]`), then six-part ids and object refs that stand in the prose. */
export function refsIn(text: string, evidence: Items): readonly EvidenceRef[] {
  const cited = citationsIn(text).flatMap(({ ids }) => ids)
  const inProse = [...text.matchAll(OBJECT_REF), ...text.matchAll(DOTTED)].map(([ref]) => ref)
  const named = inProse.filter((ref) => ref.startsWith('objstore:') || refuseEntityId(ref) === undefined)
  return [...new Set([...cited, ...named])].map((ref) => ({ ref, place: placeOf(ref, evidence) }))
}

/** The same text without the references; a citation keeps its others. */
export function withoutRefs(text: string, refs: ReadonlySet<string>): string {
  let from = 0
  const kept: string[] = []
  for (const { ids, at, end } of citationsIn(text)) {
    const left = ids.filter((id) => !refs.has(id))
    const whole = text.slice(at, end)
    const before = left.length === 0 ? text.slice(from, at).trimEnd() : text.slice(from, at)
    kept.push(before, left.length === ids.length ? whole : left.length === 0 ? '' : `[${left.join(', ')}]`)
    from = end
  }
  const drop = (ref: string) => (refs.has(ref) ? GONE : ref)
  return [...kept, text.slice(from)].join('').replace(OBJECT_REF, drop).replace(DOTTED, drop)
}

/** What is left to read when citations, ids and object refs are taken out. */
export function proseOf(text: string): string {
  let from = 0
  const kept: string[] = []
  for (const { at, end } of citationsIn(text)) {
    kept.push(text.slice(from, at))
    from = end
  }
  const prose = [...kept, text.slice(from)].join(' ').replace(OBJECT_REF, ' ')
  return prose.replace(DOTTED, (ref) => (refuseEntityId(ref) === undefined ? ' ' : ref))
}

const GONE = '(unknown reference)'
const OBJECT_REF = /objstore:\/\/[A-Za-z0-9._-]{1,64}\/[A-Za-z0-9._/-]{0,200}[A-Za-z0-9]/g
/** Six segments or more: what stands in brackets was read as a citation. */
const DOTTED = /(?<![\w.-])[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5,}(?![\w-])/g

function placeOf(ref: string, evidence: Items): number | undefined {
  if (/^\d{1,6}$/.test(ref)) return Number(ref) >= 1 && Number(ref) <= evidence.length ? Number(ref) : undefined
  const at = evidence.findIndex(({ entity_id, objectstore_ref }) => ref === entity_id || ref === objectstore_ref)
  return at < 0 ? undefined : at + 1
}
