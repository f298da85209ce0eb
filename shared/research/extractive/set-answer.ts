import { factText, groupFacts, oneSentence, plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import { inWordsOfGraph, type RelationName } from './asked-words.ts'
import { isUnclear } from './measures.ts'
import { statedValue } from './set-order.ts'
import { readSetQuestion, type SetQuestion } from './set-question.ts'
import { type KnownThing, pluralOf, predicateText, type ThingSet } from './thing-set.ts'

/** What a question about all things of a type comes to. */
export interface SetAnswer {
  /** Things the answer names, best first: they must be in the evidence. */
  readonly named: readonly KnownThing[]
  /** Ids of other things whose facts say that those fit: they must be there too. */
  readonly proving: readonly string[]
  /** All that fit. */
  readonly count: number
  /** Things that were looked at. */
  readonly of: number
  /** Things that state nothing of what is asked: they may fit. */
  readonly silent: number
  readonly type: string
  readonly question: SetQuestion
}

/** Things an answer names; the rest is counted. */
const MOST_NAMED = 24
/** Of an order: the first, and those behind it. */
const RANKED = 3

export type SetOutcome =
  | { readonly answer: SetAnswer }
  | { readonly refused: 'not_closed' | 'nothing_fits' | 'unclear_order' }

/** undefined: the question asks nothing of a whole set, or in words nobody here understands. */
export function solveSetQuestion(
  written: string,
  set: ThingSet,
  words: readonly RelationName[] = [],
): SetOutcome | undefined {
  const things = [...set.members, ...set.named, ...(set.linked ?? [])]
  const predicates = things.flatMap(({ facts = [] }) => facts.map(({ predicate }) => predicate))
  const topic = inWordsOfGraph(written, { predicates, things: set.named, words })
  const question = readSetQuestion(topic, set) ?? (topic === written ? undefined : readSetQuestion(written, set))
  if (question === undefined) return undefined
  if (!set.closed && !question.related.some((id) => set.around.includes(id))) return { refused: 'not_closed' }
  const { conditions, order, without } = question
  const looked = set.members.filter(({ entity_id }) => !without.has(entity_id))
  const judged = looked.map((thing) => ({ thing, fits: conditions.map(({ fits }) => fits(thing)) }))
  const fitting = judged.filter(({ fits }) => fits.every((one) => one === true)).map(({ thing }) => thing)
  const unknown = judged.filter(({ fits }) => fits.includes(undefined) && !fits.includes(false)).length
  const common = { of: looked.length, type: set.type, question }
  if (order === undefined) {
    if (fitting.length === 0) return { refused: 'nothing_fits' }
    const sorted = fitting.toSorted((a, b) => compareNames(a, b))
    const named = sorted.slice(0, MOST_NAMED)
    const proving = provedBy(named, question)
    return { answer: { ...common, named, proving, count: sorted.length, silent: unknown } }
  }
  return inOrder({ fitting, order, unknown, common })
}

interface Ordering {
  readonly fitting: readonly KnownThing[]
  readonly order: NonNullable<SetQuestion['order']>
  readonly unknown: number
  readonly common: Pick<SetAnswer, 'of' | 'type' | 'question'>
}

function inOrder({ fitting, order, unknown, common }: Ordering): SetOutcome {
  const valued = fitting.flatMap((thing) => {
    const value = statedValue(thing, order.predicate)
    return value === undefined ? [] : [{ thing, value }]
  })
  const [first] = valued
  const isAlike = valued.every(({ value }) => value.unit === first?.value.unit && value.dated === first.value.dated)
  if (first === undefined || !isAlike) return { refused: 'nothing_fits' }
  const sign = order.end === 'most' ? -1 : 1
  const sorted = valued.toSorted((a, b) => sign * (a.value.value - b.value.value) || compareNames(a.thing, b.thing))
  const best = sorted[0]?.value.value
  const ties = sorted.filter(({ value }) => value.value === best).length
  const shown = sorted.slice(0, Math.min(MOST_NAMED, Math.max(RANKED, order.top, ties)))
  const silent = unknown + fitting.length - valued.length
  const isOpen = sorted.slice(0, shown.length + 1).some(({ value }, at) => isUnclear(value, sorted[at - 1]?.value))
  if (isOpen) return { refused: 'unclear_order' }
  const named = shown.map(({ thing }) => thing)
  return { answer: { ...common, named, proving: provedBy(named, common.question), count: valued.length, silent } }
}

function provedBy(named: readonly KnownThing[], { conditions }: SetQuestion): readonly string[] {
  const own = new Set(named.map(({ entity_id }) => entity_id))
  const proofs = named.flatMap((thing) => conditions.flatMap((condition) => condition.proofs(thing)))
  return [...new Set(proofs.map(({ entity_id }) => entity_id).filter((id) => !own.has(id)))].slice(0, MOST_NAMED)
}

function compareNames(a: KnownThing, b: KnownThing): number {
  const [one, other] = [a.label ?? a.entity_id, b.label ?? b.entity_id]
  if (one === other) return a.entity_id < b.entity_id ? -1 : 1
  return one < other ? -1 : 1
}

/** The answer line by line, its things by their places in the evidence; undefined: one of them is not there. */
export function setAnswerLines(
  { named, count, of, silent, type, question }: SetAnswer,
  evidence: readonly ShownEvidence[],
): readonly string[] | undefined {
  const rows = named.map((thing) => {
    const place = evidence.findIndex(({ entity_id }) => entity_id === thing.entity_id)
    return { thing, item: evidence[place], n: place + 1, label: plainName(thing.label ?? thing.entity_id) }
  })
  if (rows.some(({ item }) => item === undefined)) return undefined
  const note = setNote({ of, type, silent })
  if (question.order !== undefined)
    return [rankingLine(rows, question.order), ...proofs(rows, question, evidence), note]
  const kind = count === 1 ? type.replace(/[_-]+/g, ' ') : pluralOf(type)
  const cut = count > rows.length ? `; the first ${rows.length} are` : ''
  const list = rows.map(({ label, n }) => `${label} [${n}]`).join(', ')
  return [`${oneSentence(`${count} ${kind}${cut}: ${list}`)}.`, ...proofs(rows, question, evidence), note]
}

interface Row {
  readonly thing: KnownThing
  readonly item: ShownEvidence | undefined
  readonly n: number
  readonly label: string
}

function rankingLine(rows: readonly Row[], { predicate, end }: NonNullable<SetQuestion['order']>): string {
  const dated = rows.some(({ thing }) => statedValue(thing, predicate)?.dated)
  const [most, least] = dated ? ['latest', 'earliest'] : ['greatest', 'smallest']
  const values = rows.map(({ thing }) => statedValue(thing, predicate))
  const list = rows.map(({ label, n }, at) => {
    const equal = at > 0 && values[at]?.value === values[at - 1]?.value ? ' (equal)' : ''
    return `${label} ${values[at]?.written}${equal} [${n}]`
  })
  return `${oneSentence(`By ${predicateText(predicate)}, ${end === 'most' ? most : least} first: ${list.join(', ')}`)}.`
}

/** What says that they fit, each fact once. */
function proofs(
  rows: readonly Row[],
  { conditions }: SetQuestion,
  evidence: readonly ShownEvidence[],
): readonly string[] {
  const wanted = rows.flatMap(({ thing }) => conditions.flatMap((condition) => condition.proofs(thing)))
  const lines = wanted.flatMap(({ entity_id, predicate }) => {
    const at = evidence.findIndex((item) => item.entity_id === entity_id)
    const facts = groupFacts(evidence[at]?.facts ?? []).filter((fact) => fact.predicate === predicate)
    return facts.map(
      ({ objects }) => `${oneSentence(factText(evidence[at]?.label ?? entity_id, predicate, objects))} [${at + 1}].`,
    )
  })
  return [...new Set(lines)].slice(0, MOST_NAMED)
}

/** How much was looked at, and of how many nobody knows. */
function setNote({ of, type, silent }: Pick<SetAnswer, 'of' | 'type' | 'silent'>): string {
  const words = `Note: ${of} of type ${type.replace(/[^\p{L}\p{N} _-]/gu, '')} were looked at`
  return silent === 0 ? `${words}.` : `${words}; ${silent} of them do not say it, and more may fit.`
}
