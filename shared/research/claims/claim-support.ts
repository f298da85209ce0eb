import { detectLanguage, isMostlyEnglish } from '../../text/language.ts'
import { sentencesIn } from '../../text/prose.ts'
import { type CutSentence, cutsFrom, LONGEST_PHRASE, mayBeginAt, mayEndAt, PRONOUNS } from './allowed-cuts.ts'
import {
  isClauseQualifier,
  isPast,
  isQualifier,
  isSameWord,
  matchEnd,
  NO_WORD,
  OWNERS,
  type PassageWord,
  PREPOSITIONS,
  passageWords,
  UNITS,
} from './passage-words.ts'
import { factText, groupFacts, type ShownEvidence } from './shown-evidence.ts'

/**
 * How a claim stands to the evidence it cites. `quoted`: its words stand there one after the other. `supported`: its words,
 * numbers with units, names and negation agree with one passage, in its order. It is not said that the claim is true, nor
 * that it means the same: words are compared. `unsupported`: neither.
 */
export type SupportStatus = 'quoted' | 'supported' | 'unsupported'

/** One sentence of evidence, or one of its facts. */
interface Passage extends CutSentence {
  readonly text: string
  readonly fact?: FactPositions
  /** Only then may words be left out: lists of words that turn a sentence are English. */
  readonly english: boolean
}

/** The passages of one item, with where each word occurs. */
export interface Passages {
  readonly passages: readonly Passage[]
  readonly byWord: ReadonlyMap<string, readonly number[]>
}

/** A longer sentence is compared as a quotation only. */
const MOST_WORDS = 300
/** Passages a claim is held against: those with its rarest word. */
const MOST_PASSAGES = 200

type Words = readonly PassageWord[]
type Item = ShownEvidence & { readonly snippet_text?: string | undefined }

/** Cuts an item into passages, once for all claims that cite it. Linear. */
export function readPassages(item: Item): Passages {
  const label = item.label ?? ''
  const written = [item.text ?? '', item.snippet_text ?? '']
  // A word that a line's end cuts is read with its hyphen and without.
  const texts = [...new Set([...written, ...written.map(joinLines)])].filter((text) => text !== '')
  const passages = [...texts.flatMap((text) => textPassages(text, label)), ...factPassages(item)]
  const byWord = new Map<string, number[]>()
  for (const [at, { words }] of passages.entries()) {
    for (const key of new Set(words.map((word) => word.key)))
      byWord.set(key, [...(byWord.get(key) ?? []).slice(0, MOST_PASSAGES), at])
  }
  return { passages, byWord }
}

function joinLines(text: string): string {
  return text.replace(/(?<=\p{L})[-\u2010][^\S\n]{0,20}\n[^\S\n]{0,20}(?=\p{Ll})/gu, '')
}

function textPassages(text: string, name: string): readonly Passage[] {
  const language = detectLanguage(text.slice(0, 20_000))
  const isEnglish = language === 'en' || (language === undefined && /\bthe\b/i.test(text))
  const label = passageWords(`x ${name}`)
    .slice(1)
    .map(({ key }) => key)
  const named = new Set(label)
  let subject: ReadonlySet<string> = named
  return splitSentences(text).map((sentence) => {
    const words = passageWords(sentence)
    const first = /^([\p{L}]+)/u.exec(sentence)?.[1]?.toLowerCase() ?? ''
    if (!PRONOUNS.has(first)) subject = leadingName(sentence, named)
    const means = PRONOUNS.has(first) ? subject : new Set<string>()
    const english = isEnglish && isMostlyEnglish(sentence, language)
    const compared = words.length > MOST_WORDS ? [] : words
    return { text: sentence, words: compared, subject: means, english, label, gaps: new Map() }
  })
}

/** The sentences a text is compared by, a quotation's too. */
export function splitSentences(text: string): readonly string[] {
  return sentencesIn(text).flatMap(shortOnes)
}

/** A sentence of two words is no abbreviation here: `Nobody came. The mayor left.` */
function shortOnes(sentence: string): readonly string[] {
  const [short, first = ''] = /^([\p{L}\p{N}][^\s.!?]{0,100} [^\s.!?]{3,100}[.!?]) (?=\p{Lu})/u.exec(sentence) ?? []
  return short === undefined ? [sentence] : [first, sentence.slice(short.length)]
}

/** The name a sentence begins with; of one that begins otherwise nobody can tell whom the next `it` means. */
function leadingName(sentence: string, named: ReadonlySet<string>): ReadonlySet<string> {
  const lead = /^(?:The )?((?:[\p{Lu}\d][\p{L}\p{M}\d'’-]*\s){1,5})/u.exec(sentence)?.[1] ?? ''
  const keys = new Set(
    passageWords(`x ${lead}`)
      .slice(1)
      .map(({ key }) => key),
  )
  const isSame = [...keys].some((key) => named.has(key))
  return isSame ? new Set([...keys, ...named]) : keys
}

function factPassages({ label, entity_id, facts }: Item): readonly Passage[] {
  const name = (label ?? entity_id).trim()
  return groupFacts(facts ?? []).map(({ predicate, objects }) => {
    const word = (predicate.split('.').at(-1) ?? predicate).replace(/[_-]+/g, ' ')
    const front = passageWords(`x ${name}`).length - 1
    const said = passageWords(`x ${name}, ${word}`).length - 1
    const text = factText(name, predicate, objects)
    const words = passageWords(text)
    const fact = { name: front, object: said }
    return { text, words, subject: new Set<string>(), fact, english: true, label: [], gaps: new Map() }
  })
}

/** How a claim is read. */
export interface ClaimHow {
  /** It stands in quotation marks: word for word, and it need not be a whole sentence. */
  readonly marked?: boolean
  /** It goes on from a piece about other evidence: it has a subject of its own, or it says nothing of this item. */
  readonly whole?: boolean
}

/** How a claim (without its citations) stands to one item. */
export function judgeClaim(
  claim: string,
  { passages, byWord }: Passages,
  how: ClaimHow = {},
): { readonly status: SupportStatus; readonly passage?: string } {
  const said = passageWords(claim)
  if (said.length > MOST_WORDS || said.every(({ kind }) => kind === 'light')) return { status: 'unsupported' }
  const asks = ASKS.test(claim)
  const rarest = rarestOf(said, byWord, new Set(passages[0]?.label ?? []))
  let found: { status: SupportStatus; passage?: string } = { status: 'unsupported' }
  for (const at of rarest) {
    const passage = passages[at]
    if (passage === undefined || asks !== ASKS.test(passage.text)) continue
    const status = againstOne(said, passage, how)
    if (status === 'quoted') return { status, passage: passage.text }
    if (status === 'supported') found = { status, passage: passage.text }
  }
  return found
}

/** Passages with its rarest word. Its name may stand for a pronoun there, so that it is not looked for first. */
function rarestOf(said: Words, byWord: Passages['byWord'], label: ReadonlySet<string>): readonly number[] {
  const listsOf = (words: Words) => words.flatMap(({ key }) => (byWord.has(key) ? [byWord.get(key) ?? []] : []))
  const others = listsOf(said.filter(({ key, kind }) => !label.has(key) && kind !== 'light'))
  const lists = others.length > 0 ? others : listsOf(said)
  return lists.toSorted((a, b) => a.length - b.length)[0] ?? []
}

const ASKS = /[?？]["'”’»)\]*_\s]{0,5}$/u

function againstOne(said: Words, passage: Passage, how: ClaimHow): SupportStatus {
  const { words, fact, english } = passage
  if (said.length === words.length && said.every((word, at) => isSameWord(word, words[at], !english))) return 'quoted'
  if (fact !== undefined) return byFact(said, words, fact, how)
  if (!english) return 'unsupported'
  const direct = alignment(said, passage, how)
  return direct !== 'unsupported' || how.marked === true ? direct : inOtherWords(said, passage)
}

function byFact(said: Words, words: Words, fact: FactPositions, { marked }: ClaimHow): SupportStatus {
  if (isFactPart(said, words, fact)) return 'quoted'
  return marked !== true && saysFact(said, words, fact) ? 'supported' : 'unsupported'
}

/** The same words with a name for the pronoun, a time or place moved, or the passive of what the passage says. */
function inOtherWords(said: Words, passage: Passage): SupportStatus {
  const others = [withPronoun(said, passage), ...turnedRound(said), inActive(said)]
  const isSaid = others.some(
    (other) => other !== undefined && alignment(other, passage, { whole: true }) !== 'unsupported',
  )
  return isSaid || withoutFront(said, passage) ? 'supported' : 'unsupported'
}

/**
 * Whether a claim is a passage, or what is left of it when pieces are left out that change nothing: an aside, names of a
 * list, a place or time. All its words stand there in its order; `quoted` where they stand one after the other.
 */
function alignment(said: Words, passage: Passage, how: ClaimHow): SupportStatus {
  const must = said.some(isClauseQualifier)
  const isMarked = how.marked === true
  const [first] = said
  const starts = passage.words.flatMap((word, from) =>
    first !== undefined && isSameWord(first, word, isMarked) && mayBeginAt(from, passage, { ...how, must })
      ? [from]
      : [],
  )
  const isRun = starts.some((from) => {
    const end = matchEnd(said, passage.words, from, isMarked)
    return end !== undefined && mayEndAt(end, passage.words, said, must)
  })
  if (isRun) return 'quoted'
  return !isMarked && !must && starts.some((from) => isSaidWithGaps(said, passage, from)) ? 'supported' : 'unsupported'
}

/** The same with pieces between that may go. Each pair of places is looked at once. */
function isSaidWithGaps(said: Words, passage: Passage, from: number): boolean {
  const { words } = passage
  let places: ReadonlySet<number> = new Set([from])
  for (const wanted of said.slice(1)) {
    const next = [...places].flatMap((at) => [at + 1, ...cutsFrom(passage, at + 1)])
    places = new Set(next.filter((at) => isSameWord(wanted, words[at], false)))
  }
  return [...places].some((at) => mayEndAt(at, words, said, false))
}

/** `Norway's parliament` where the evidence of Norway says `Its parliament`. */
function withPronoun(said: Words, { words, subject }: Passage): Words | undefined {
  const [pronoun] = words
  if (pronoun === undefined || subject.size === 0 || !PRONOUNS.has(pronoun.key)) return undefined
  let named = 0
  while (subject.has(said[named]?.key ?? '') && named < LONGEST_NAME) named += 1
  const isOwner = said[named - 1]?.possessive === true
  if (named === 0 || isOwner !== OWNERS.has(pronoun.key)) return undefined
  return [pronoun, ...said.slice(named)]
}

const LONGEST_NAME = 6

/** A place or time moved from the front to the end: `In 1969 oil was found`. */
function turnedRound(said: Words): readonly Words[] {
  const cuts = said.flatMap((word, at) => (at > 0 && TURNED.has(word.key) ? [at] : []))
  return cuts.slice(-MOST_TURNS).map((at) => [...said.slice(at), ...said.slice(0, at)])
}

const TURNED: ReadonlySet<string> = new Set(['in', 'on', 'at', 'during', 'between', 'since'])
const MOST_TURNS = 6

/** The other way round: the claim without its front, and the passage without it, wherever it stands there as a whole. */
function withoutFront(said: Words, passage: Passage): boolean {
  const { words } = passage
  const [lead] = said
  if (lead === undefined || !TURNED.has(lead.key)) return false
  return words.some((word, at) => {
    if (at === 0 || word.key !== lead.key) return false
    let length = 1
    while (length < LONGEST_PHRASE && isSameWord(said[length] ?? NO_WORD, words[at + length], false)) length += 1
    const next = words[at + length]
    const isWhole = next === undefined || next.apart || PREPOSITIONS.has(next.key)
    if (!isWhole || length === 1 || next?.key === 'of') return false
    const rest = { ...passage, words: [...words.slice(0, at), ...words.slice(at + length)], gaps: new Map() }
    return alignment(said.slice(length), rest, { whole: true }) !== 'unsupported'
  })
}

/** `Beta was bought by Acme in 2019` where the evidence says `Acme bought Beta in 2019`; never the other way round. */
function inActive(said: Words): Words | undefined {
  const by = said.findIndex(({ key }) => key === 'by')
  const [be, verb] = [said[by - 2], said[by - 1]]
  const [agent] = said.slice(by + 1)
  if (by < 3 || be === undefined || verb === undefined || agent?.kind !== 'name') return undefined
  if (!(be.key === 'was' || be.key === 'were') || !isPast(verb)) return undefined
  let end = by + 1
  while (said[end]?.kind === 'name') end += 1
  return [...said.slice(by + 1, end), verb, ...said.slice(0, by - 2), ...said.slice(end)]
}

type FactWordList = readonly PassageWord[]

/** `Norway, capital: Oslo`: how many of its words name the thing, and where what is said of it begins. */
interface FactPositions {
  readonly name: number
  readonly object: number
}

/** Words of a fact as they stand there: all of it, or from its predicate or one of its objects on, whole objects. */
function isFactPart(said: FactWordList, words: FactWordList, { name, object }: FactPositions): boolean {
  const from = [0, name, ...words.flatMap((word, at) => (at === object || (at > object && word.apart) ? [at] : []))]
  return from.some((start) => {
    const end = matchEnd(said, words, start, false)
    if (end === undefined || end < object) return false
    const isWhole = words[end + 1] === undefined || words[end + 1]?.apart === true
    return isWhole && (start <= name || !words.slice(name, object).some(isQualifier))
  })
}

/**
 * A fact in a sentence: its name, the whole of its predicate and some of its objects, in an order that does not turn it
 * round. A predicate that ends in a preposition (`killed by`, `successor of`) stands before its object.
 */
function saysFact(said: FactWordList, words: FactWordList, { name, object }: FactPositions): boolean {
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
  readonly named: FactWordList
  readonly head: FactWordList
  readonly objects: readonly FactWordList[]
  /** `km2` of `area km2`, said behind the number. */
  readonly unit: FactWordList
}

/** Objects of a list, each whole; of `Oslo (city)` what stands before the bracket is one too. */
function objectsOf(words: FactWordList): readonly FactWordList[] {
  const groups: PassageWord[][] = []
  for (const word of words) {
    if (word.apart || groups.length === 0) groups.push([word])
    else groups.at(-1)?.push(word)
  }
  return [...groups, words]
}

/** `Norway borders Sweden`, `Norway has a population of 5.5 million`, `It was founded in 1990`. */
function saidForward(said: FactWordList, fact: FactWords): boolean {
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
function saidOf(said: FactWordList, fact: FactWords): boolean {
  const is = said.findIndex(({ key }) => key === 'is' || key === 'are')
  if (is < 1) return false
  const [front, back] = [said.slice(0, is), said.slice(is + 1)]
  return (isHeadOf(front, fact) && isObjects(back, fact)) || (isHeadOf(back, fact) && isObjects(front, fact))
}

function isHeadOf(words: FactWordList, { named, head }: FactWords): boolean {
  const end = startsWith(words, head)
  if (end !== undefined && words[end]?.key === 'of')
    return startsWith(words.slice(end + 1), named) === words.length - end - 1 && words.at(-1)?.possessive === false
  const owner = OWNERS.has(words[0]?.key ?? '') ? 1 : startsWith(words, named, true)
  if (owner === undefined || ((owner > 1 || !OWNERS.has(words[0]?.key ?? '')) && words[owner - 1]?.possessive !== true))
    return false
  return startsWith(words.slice(owner), head) === words.length - owner
}

/** Behind the name of the thing, or a pronoun for it. */
function subjectEnd(said: FactWordList, named: FactWordList): number | undefined {
  if (said[0]?.key === 'it' || said[0]?.key === 'they') return 1
  return startsWith(said, named)
}

function startsWith(said: FactWordList, words: FactWordList, owns = false): number | undefined {
  const isSame = words.every((word, at) => {
    const one = said[at]
    const isLast = at === words.length - 1
    return one?.stem === word.stem && (owns && isLast ? true : one.possessive === word.possessive)
  })
  return isSame && words.length > 0 ? words.length : undefined
}

/** Whole objects of the fact, one after the other, and nothing else. */
function isObjects(said: FactWordList, { objects, unit }: FactWords): boolean {
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
