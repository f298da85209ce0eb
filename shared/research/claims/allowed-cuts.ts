import {
  BE,
  isPast,
  isQualifier,
  isSign,
  isSuperlative,
  NEARLY,
  NEGATING,
  OF_THE_WHOLE,
  type PassageWord,
  PREPOSITIONS,
  UNITS,
} from './passage-words.ts'

/** One sentence of evidence as pieces of it are left out. */
export interface CutSentence {
  readonly words: readonly PassageWord[]
  /** Whom its pronouns mean, as far as that is plain: keys of the name that may stand for them. */
  readonly subject: ReadonlySet<string>
  /** Of the item's name. */
  readonly label: readonly string[]
  /** Where pieces that may be left out end, by where they begin; filled as they are asked for. */
  readonly gaps: Map<number, readonly number[]>
}

type Words = readonly PassageWord[]

export const PRONOUNS: ReadonlySet<string> = new Set(['it', 'its', 'they', 'their', 'he', 'she', 'his', 'her'])

/** Where a piece that begins here may end, so that it can be left out; found once for each sentence. */
export function cutsFrom(sentence: CutSentence, from: number): readonly number[] {
  const known = sentence.gaps.get(from)
  if (known !== undefined) return known
  const { words } = sentence
  const ends: number[] = []
  const limit = Math.min(words.length - 1, from + LONGEST_GAP)
  for (let to = from; to < limit; to += 1) {
    const word = words[to]
    if (word === undefined || isQualifier(word)) break
    const piece = { words, from, to: to + 1 }
    if (PIECES.some((may) => may(piece, sentence))) ends.push(to + 1)
  }
  sentence.gaps.set(from, ends)
  return ends
}

/** Words of one piece that is left out in the middle. */
const LONGEST_GAP = 40

interface Piece {
  readonly words: Words
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** Kinds of pieces that may go from the middle. */
const PIECES: readonly ((piece: Piece, sentence: CutSentence) => boolean)[] = [
  isAside,
  isListed,
  isPhrase,
  isOtherAmount,
  isOtherVerb,
]

/** Between commas, brackets or dashes. */
function isAside({ words, from, to }: Piece): boolean {
  const [first, next] = [words[from], words[to]]
  return first?.apart === true && next?.apart === true && words[from - 1]?.clause === next.clause
}

/** Names of a list, where another one of the list is taken. */
function isListed({ words, from, to }: Piece): boolean {
  const [before, next] = [words[from - 1], words[to]]
  if (next?.kind !== 'name' || before?.kind === 'name' || (!next.apart && words[to - 1]?.key !== 'and')) return false
  return words.slice(from, to).every(({ kind, key }, at) => kind === 'name' || (key === 'and' && at > 0))
}

/** `by Medix` before `to Carewell`: who, where or when, and then another such phrase. */
function isPhrase({ words, from, to }: Piece): boolean {
  const [first, next] = [words[from], words[to]]
  if (first === undefined || next === undefined || to - from > LONGEST_PHRASE) return false
  const isTo = first.key === 'to' && words.slice(from + 1, to).every(({ kind }) => kind === 'name')
  if (!MAY_GO.has(first.key) && !isTo) return false
  if (!PREPOSITIONS.has(next.key) || next.key === 'of') return false
  return !words.slice(from, to).some(({ key, apart }) => key === 'and' || apart) && isParticular(words, from, to)
}

/** `1.2 km long and` of `is 1.2 km long and 14.5 m wide`. */
function isOtherAmount({ words, from, to }: Piece): boolean {
  const [be, first, measure, and, next] = [words[from - 1], words[from], words[to - 2], words[to - 1], words[to]]
  const isAmount = first?.kind === 'number' && next?.kind === 'number' && to - from <= LONGEST_PHRASE
  if (!isAmount || and?.key !== 'and' || !BE.has(be?.key ?? '')) return false
  return measure?.kind === 'word' && !Object.hasOwn(UNITS, measure.key)
}

/** Words of a phrase that is left out or moved. */
export const LONGEST_PHRASE = 6
const MAY_GO: ReadonlySet<string> = new Set(['in', 'on', 'at', 'by', 'for', 'with', 'during'])

/** `covers 58 km² and` of `It covers 58 km² and has 3,900 inhabitants`: what else the same subject does. */
function isOtherVerb({ words, from, to }: Piece, sentence: CutSentence): boolean {
  const [first, and, next] = [words[from], words[to - 1], words[to]]
  if (first === undefined || and?.key !== 'and' || next === undefined) return false
  if (next.kind === 'name' || next.kind === 'number' || next.article || PREPOSITIONS.has(next.key)) return false
  if (words.slice(0, to).some(({ key }) => RELATIVE.has(key)) || PREPOSITIONS.has(first.key)) return false
  const isPronoun = from === 1 && sentence.subject.size > 0
  return isPronoun || isBehindName(from, sentence) || (first.apart && first.kind === 'word')
}

function isBehindName(from: number, { words, label }: CutSentence): boolean {
  return from === label.length && label.length > 0 && label.every((key, at) => words[at]?.key === key)
}

/**
 * A phrase that says where or when by a name or a number: without it the rest is as true. `in winter` and `with alcohol`
 * are conditions; so is any phrase behind `is safe`, and behind the most or the first of something.
 */
function isParticular(words: Words, from: number, to: number): boolean {
  const said = words.slice(0, from)
  if (said.some(isSuperlative)) return false
  const isNow = said.some(({ key }) => key === 'is' || key === 'are' || key === 'am')
  if (isNow && said.some(({ key }, at) => BE.has(key) && isPlain(said[at + 1]))) return false
  const piece = words.slice(from, to)
  // `Revenue rose in Norway`, `was banned in Japan`: only a time may go right behind what happened.
  const last = said.at(-1)
  const isVerb = isPlain(last) && (said.length < SHORT || BE.has(said.at(-2)?.key ?? ''))
  const isBare = isVerb && piece[0]?.key !== 'by'
  return piece.some(({ kind, key }) => kind === 'number' || MONTHS.has(key) || (kind === 'name' && !isBare))
}

/** A sentence of so few words ends with its verb. */
const SHORT = 3

/** An adjective or participle, no noun with an article and no amount: `is safe`, `is owned`. */
function isPlain(word: PassageWord | undefined): boolean {
  return word?.kind === 'word' && !word.article
}

/** How a claim begins. */
interface Beginning {
  /** It stands in quotation marks, and need not be a whole sentence. */
  readonly marked?: boolean | undefined
  /** It has a subject of its own. */
  readonly whole?: boolean | undefined
  /** It has a word that turns or bounds all of its clause. */
  readonly must: boolean
}

/** Whether a claim may begin at this word: what stands before it says nothing that it needs. */
export function mayBeginAt(from: number, sentence: CutSentence, how: Beginning): boolean {
  const { words } = sentence
  const [before, first] = [words[from - 1], words[from]]
  if (from === 0) return true
  if (before === undefined || first === undefined || before.possessive || isTurnedBefore(words, from)) return false
  if (first.clause > before.clause || isJoined(words, from)) return true
  if (how.must && how.marked !== true) return false
  return isFronted(words, from) || mayGoOn(from, sentence, how)
}

/** In the clause itself any word that turns it counts, in one before it what negates, and what holds of the whole. */
function isTurnedBefore(words: Words, from: number): boolean {
  const [first, before] = [words[from], words.slice(0, from)]
  if (before.some((word) => OF_THE_WHOLE.has(word.stem))) return true
  if (before.some((word) => word.clause === first?.clause && isQualifier(word))) return true
  const isApart = (first?.clause ?? 0) > (before.at(-1)?.clause ?? 0) && !CONJUNCTIONS.has(first?.key ?? '')
  return !isApart && before.some((word) => NEGATING.has(word.stem))
}

/** Right behind the conjunction a clause begins with: `and the annex opened`. */
function isJoined(words: Words, from: number): boolean {
  const [before, earlier] = [words[from - 1], words[from - 2]]
  return before !== undefined && CONJUNCTIONS.has(before.key) && before.clause > (earlier?.clause ?? before.clause)
}

/** Without a subject of its own: what is said of the one named before, or a cut quotation. */
function mayGoOn(from: number, sentence: CutSentence, { marked, whole }: Beginning): boolean {
  const { words } = sentence
  if (whole === true || words.slice(0, from).some(({ key }) => RELATIVE.has(key))) return false
  return marked === true ? isFragment(words, from) : isPredicate(from, sentence)
}

const CONJUNCTIONS: ReadonlySet<string> = new Set(['and', 'but', 'while', 'whereas', 'so'])
const RELATIVE: ReadonlySet<string> = new Set('who which whose that whom where because although though as'.split(' '))

/** `In 1969 ..`, `In March 1984, ..`, `However, ..` */
function isFronted(words: Words, from: number): boolean {
  const [lead, first] = [words[0], words[from]]
  if (lead === undefined || first === undefined) return false
  if (from === 1 && first.apart && /^(?:however|moreover|also|furthermore)$/.test(lead.key)) return true
  const piece = words.slice(1, from)
  return FRONT.has(lead.key) && piece.every(({ kind, key }) => kind === 'number' || MONTHS.has(key))
}

const FRONT: ReadonlySet<string> = new Set(['in', 'on', 'at', 'during', 'by'])
const MONTHS: ReadonlySet<string> = new Set(
  'january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday'.split(
    ' ',
  ),
)

/** What is said of the subject without naming it again: `not safe` of `It is not safe`, `flew 12 missions` of the drone. */
function isPredicate(from: number, sentence: CutSentence): boolean {
  const { words, subject } = sentence
  if (BE.has(words[from - 1]?.key ?? '') && words[from]?.apart === false) return true
  if (words[from]?.kind === 'name') return false
  if (from === 1 && subject.size > 0) return PRONOUNS.has(words[0]?.key ?? '')
  return isBehindName(from, sentence)
}

/** A cut quotation that cannot be read as a sentence about another subject. */
function isFragment(words: Words, from: number): boolean {
  const [before, first] = [words[from - 1], words[from]]
  if (before === undefined || first === undefined) return false
  if (first.apart || BE.has(before.key)) return true
  if (first.kind === 'light') return PREPOSITIONS.has(first.key) || BE.has(first.key)
  if (PREPOSITIONS.has(before.key)) return false
  return first.article || first.kind === 'name' || !before.article
}

/** Whether a claim may end at this word: what stands behind it changes nothing of what is said. */
export function mayEndAt(end: number, words: Words, said: Words, isFull: boolean): boolean {
  const [last, next] = [words[end], words[end + 1]]
  if (last === undefined || next === undefined) return last !== undefined
  const rest = words.slice(end + 1)
  if (rest.some((word) => OF_THE_WHOLE.has(word.stem))) return false
  const own = rest.filter(({ clause }) => clause === last.clause)
  if (own.length === 0) return true
  if (last.kind === 'light' || isSign(next.key)) return false
  if (isFull && own.some(({ kind }) => kind !== 'light')) return false
  if (isSequel(next, words.slice(0, end + 1))) return !own.slice(1).some(isQualifier)
  if (next.apart) return mayFollow(own)
  const comma = own.findIndex(({ apart }) => apart)
  const [phrase, aside] = comma < 0 ? [own, []] : [own.slice(0, comma), own.slice(comma)]
  return !phrase.some(isQualifier) && mayFollow(aside) && mayCut(end, words, said)
}

/** `returned in 2012 after 40 years`: what happened, happened, whatever came before it or after it. */
function isSequel(next: PassageWord, said: Words): boolean {
  if (next.key !== 'after' && next.key !== 'before') return false
  return said.some(isPast) && !said.some(({ key }) => key === 'is' || key === 'are')
}

/** Behind a comma: nothing that turns what was said; `, most of them children` and `, about twice the estimate` do not. */
function mayFollow(own: Words): boolean {
  const isOfSome = own[1]?.key === 'of' && /^(?:them|whom|which)$/.test(own[2]?.key ?? '')
  const isChange = own[0]?.key === 'up' && own[1]?.key === 'from'
  return !own.slice(isOfSome || isChange ? 1 : 0).some(isQualifier) || isComparison(own)
}

/** `, about twice the estimate`, `, fewer than Birch`, `, longer than the Mist but shorter than the Vale` */
function isComparison(own: Words): boolean {
  const isNear = NEARLY.has(own[0]?.key ?? '')
  return own.every((word, at) => {
    if (!isQualifier(word) || word.key === 'than' || (isNear && at === 0)) return true
    return MORE.has(word.key) && own[at + 1]?.key === 'than'
  })
}

const MORE: ReadonlySet<string> = new Set(['more', 'fewer', 'less'])

/** A place or time at the end may go, and what else somebody is or does. */
function mayCut(end: number, words: Words, said: Words): boolean {
  const [last, next, after] = [words[end], words[end + 1], words[end + 2]]
  if (last === undefined || next === undefined) return false
  if (next.key === 'and') return !isPair(last, after) && !said.some(({ key }) => key === 'between' || key === 'both')
  // `3 to 1`, behind a name.
  if (last.kind === 'name' && next.kind === 'number') return after?.key === 'to' || next.key.includes('-')
  const isBetween = next.key === 'between' && after?.kind === 'name'
  return (CUT.has(next.key) || isBetween) && isParticular(words, end + 1, words.length)
}

/** `Ines Aerts and her brother`: who did it together. */
function isPair(last: PassageWord, after: PassageWord | undefined): boolean {
  return last.kind === 'name' && (after?.kind === 'name' || PRONOUNS.has(after?.key ?? ''))
}

const CUT: ReadonlySet<string> = new Set(['in', 'on', 'at', 'by', 'for', 'with', 'from', 'during', 'within'])
