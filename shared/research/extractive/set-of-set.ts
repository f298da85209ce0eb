import { contentTerms } from '../question/terms.ts'
import { saysAll } from './set-order.ts'
import type { ReadCondition, Reading, SetCondition } from './set-reading.ts'
import { type KnownThing, pluralOf, type RelationEnd, statingEnd, typeOfThing } from './thing-set.ts'

/** Reads what is asked of the other things, as of any set. */
type ReadConditions = (back: string, reading: Reading) => readonly ReadCondition[] | undefined

/**
 * `languages designed by people that were born in Oslo`: things that lead to others, of which something is asked too.
 * undefined: no such words, or nothing states that relation.
 */
export function readLeadingTo(back: string, reading: Reading, read: ReadConditions): ReadCondition | undefined {
  const types = [...new Set((reading.set.linked ?? []).map(typeOfThing))]
  const found = types.flatMap((type) => cutAt(back, type) ?? [])
  const [one, ...others] = found
  if (one === undefined || others.length > 0 || / (?:not|never|no|and|but|or) /.test(back)) return undefined
  const members = (reading.set.linked ?? []).filter((thing) => typeOfThing(thing) === one.type)
  const of = read(one.right, { ...reading, set: { ...reading.set, type: one.type, members } })
  if (of === undefined || of.length === 0) return undefined
  return leadingTo(relationIn(one.left), { of, members, reading })
}

interface Cut {
  readonly type: string
  readonly left: string
  readonly right: string
}

/** What stands before and behind the word of a type. */
function cutAt(back: string, type: string): Cut | undefined {
  const plain = type.replace(/[_-]+/g, ' ').toLowerCase()
  for (const word of [pluralOf(type).toLowerCase(), plain]) {
    const at = back.indexOf(` ${word} `)
    const right = back.slice(at + word.length + 1).replace(/^ (?:that|which|who)(?= )/, '')
    if (at >= 0 && right.trim() !== '') return { type, left: back.slice(0, at + 1), right }
  }
  return undefined
}

interface Relation {
  readonly terms: readonly string[]
  readonly end: RelationEnd
}

function relationIn(left: string): Relation {
  const words = left.replace(/ (?:the|a|an|any|some) $/, ' ')
  return { terms: contentTerms(words), end: / by $/.test(words) ? 'object' : 'subject' }
}

interface Leading {
  readonly of: readonly SetCondition[]
  readonly members: readonly KnownThing[]
  readonly reading: Reading
}

function leadingTo({ terms, end }: Relation, { of, members, reading }: Leading): ReadCondition | undefined {
  const known = new Map(members.map((thing) => [thing.entity_id, thing]))
  const edges = ({ facts = [] }: KnownThing) =>
    facts.filter((fact) => known.has(fact.object_id ?? '') && (terms.length === 0 || saysAll(fact.predicate, terms)))
  const stated = reading.set.members.flatMap(edges)
  const predicates = new Set(stated.map(({ predicate }) => predicate))
  if (predicates.size !== 1 || (terms.length > 0 && stated.some((fact) => statingEnd(fact) !== end))) return undefined
  const judged = new Map(members.map((thing) => [thing.entity_id, allFit(of, thing)]))
  const isFitting = (id: string | undefined) => judged.get(id ?? '') === true
  return {
    fits: (thing) => {
      const ends = edges(thing).map(({ object_id = '' }) => judged.get(object_id))
      if (ends.includes(true)) return true
      return ends.length === 0 || ends.includes(undefined) ? undefined : false
    },
    proofs: (thing) => {
      const fitting = edges(thing).filter(({ object_id }) => isFitting(object_id))
      const own = fitting.map(({ predicate }) => ({ entity_id: thing.entity_id, predicate }))
      const theirs = fitting.flatMap(({ object_id = '' }) => {
        const other = known.get(object_id)
        return other === undefined ? [] : of.flatMap((condition) => condition.proofs(other))
      })
      return [...own, ...theirs]
    },
    related: [],
  }
}

function allFit(conditions: readonly SetCondition[], thing: KnownThing): boolean | undefined {
  const all = conditions.map(({ fits }) => fits(thing))
  return all.includes(false) ? false : all.includes(undefined) ? undefined : true
}
