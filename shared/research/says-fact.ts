import { isPast, isSameWord, NO_WORD, OWNERS, type PassageWord, PREPOSITIONS, runEnd, UNITS } from './passage-words.ts'
import { turns } from './turning-words.ts'

type Words = readonly PassageWord[]

/** `Norway, capital: Oslo`: how many of its words name the thing, and where what is said of it begins. */
export interface FactPlaces {
  readonly name: number
  readonly object: number
}

/** Words of a fact as they stand there: all of it, or from its predicate or one of its objects on, whole objects. */
export function isFactPart(said: Words, words: Words, { name, object }: FactPlaces): boolean {
  const from = [0, name, ...words.flatMap((word, at) => (at === object || (at > object && word.apart) ? [at] : []))]
  return from.some((start) => {
    const end = runEnd(said, words, start, false)
    if (end === undefined || end < object) return false
    const isWhole = words[end + 1] === undefined || words[end + 1]?.apart === true
    return isWhole && (start <= name || !words.slice(name, object).some(turns))
  })
}

/**
 * A fact in a sentence: its name, the whole of its predicate and some of its objects, in an order that does not turn it
 * round. A predicate that ends in a preposition (`killed by`, `successor of`) stands before its object.
 */
export function saysFact(said: Words, words: Words, { name, object }: FactPlaces): boolean {
  const [named, predicate] = [words.slice(0, name), words.slice(name, object)]
  const objects = objectsOf(words.slice(object))
  const unit =
    predicate.length > 1 && Object.hasOwn(UNITS, predicate.at(-1)?.key ?? '') ? predicate.slice(0, -1) : predicate
  return [predicate, ...(unit === predicate ? [] : [unit])].some((head) => {
    const fact = { named, head, objects, unit: head === predicate ? [] : predicate.slice(-1) }
    return saidForward(said, fact) || (!PREPOSITIONS.has(head.at(-1)?.key ?? '') && saidOf(said, fact))
  })
}

interface FactWords {
  readonly named: Words
  readonly head: Words
  readonly objects: readonly Words[]
  /** `km2` of `area km2`, said behind the number. */
  readonly unit: Words
}

/** Objects of a list, each whole; of `Oslo (city)` what stands before the bracket is one too. */
function objectsOf(words: Words): readonly Words[] {
  const groups: PassageWord[][] = []
  for (const word of words) {
    if (word.apart || groups.length === 0) groups.push([word])
    else groups.at(-1)?.push(word)
  }
  return [...groups, words]
}

/** `Norway borders Sweden`, `Norway has a population of 5.5 million`, `It was founded in 1990`. */
function saidForward(said: Words, fact: FactWords): boolean {
  const start = subjectEnd(said, fact.named)
  if (start === undefined) return false
  const [verb] = said.slice(start)
  const isParticiple = isPast(fact.head[0] ?? verb ?? NO_WORD)
  const helps =
    verb !== undefined &&
    (['is', 'are', 'has', 'have'].includes(verb.key) || (isParticiple && ['was', 'were'].includes(verb.key)))
  return [start, ...(helps ? [start + 1] : [])].some((from) => {
    const end = startsWith(said.slice(from), fact.head)
    if (end === undefined) return false
    const rest = said.slice(from + end)
    const link = rest[0]?.key ?? ''
    const isLinked = (link === 'of' && verb?.key === 'has') || (link === 'in' && isParticiple)
    return isObjects(rest, fact) || (isLinked && isObjects(rest.slice(1), fact))
  })
}

/** `The capital of Norway is Oslo`, `Norway's capital is Oslo`, `Oslo is the capital of Norway`. */
function saidOf(said: Words, fact: FactWords): boolean {
  const is = said.findIndex(({ key }) => key === 'is' || key === 'are')
  if (is < 1) return false
  const [front, back] = [said.slice(0, is), said.slice(is + 1)]
  return (isHeadOf(front, fact) && isObjects(back, fact)) || (isHeadOf(back, fact) && isObjects(front, fact))
}

function isHeadOf(words: Words, { named, head }: FactWords): boolean {
  const end = startsWith(words, head)
  if (end !== undefined && words[end]?.key === 'of')
    return startsWith(words.slice(end + 1), named) === words.length - end - 1 && words.at(-1)?.possessive === false
  const owner = OWNERS.has(words[0]?.key ?? '') ? 1 : startsWith(words, named, true)
  if (owner === undefined || ((owner > 1 || !OWNERS.has(words[0]?.key ?? '')) && words[owner - 1]?.possessive !== true))
    return false
  return startsWith(words.slice(owner), head) === words.length - owner
}

/** Behind the name of the thing, or a pronoun for it. */
function subjectEnd(said: Words, named: Words): number | undefined {
  if (said[0]?.key === 'it' || said[0]?.key === 'they') return 1
  return startsWith(said, named)
}

function startsWith(said: Words, words: Words, owns = false): number | undefined {
  const isSame = words.every((word, at) => {
    const one = said[at]
    const isLast = at === words.length - 1
    return one?.stem === word.stem && (owns && isLast ? true : one.possessive === word.possessive)
  })
  return isSame && words.length > 0 ? words.length : undefined
}

/** Whole objects of the fact, one after the other, and nothing else. */
function isObjects(said: Words, { objects, unit }: FactWords): boolean {
  if (said.length === 0) return false
  let at = 0
  while (at < said.length) {
    if (at > 0 && said[at]?.key === 'and') at += 1
    const rest = said.slice(at)
    const fit = objects.filter((object) => object.every((word, i) => isSameWord(word, rest[i], false)))
    const [longest] = fit.toSorted((a, b) => b.length - a.length)
    if (longest === undefined) return false
    at += longest.length
    if (unit.length > 0) {
      if (said[at]?.key !== unit[0]?.key) return false
      at += 1
    }
  }
  return true
}
