import { detectLanguage } from '../gates/detect-language.ts'
import { sentencesIn } from '../gates/sentences.ts'
import { isSign, type PassageWord, passageWords, stem } from './passage-words.ts'
import { factText, groupFacts, type ShownEvidence } from './shown-evidence.ts'

/**
 * How a claim stands to the evidence it cites. `quoted`: its words stand there one after the other. `supported`: its words,
 * numbers with units, names and negation agree with one passage, in its order. It is not said that the claim is true, nor
 * that it means the same: words are compared. `unsupported`: neither.
 */
export type SupportStatus = 'quoted' | 'supported' | 'unsupported'

/** One sentence of evidence, or one of its facts. */
interface Passage {
  readonly text: string
  readonly words: readonly PassageWord[]
  /** Whom its pronouns mean, as far as that is plain: keys of the name that may stand for them. */
  readonly subject: ReadonlySet<string>
  /** `Norway, capital: Oslo`: how many of its words name the thing, and where what is said of it begins. */
  readonly fact?: { readonly name: number; readonly object: number }
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

type Item = ShownEvidence & { readonly snippet_text?: string | undefined }

/** Cuts an item into passages, once for all claims that cite it. Linear. */
export function passagesOf(item: Item): Passages {
  const label = item.label ?? ''
  const texts = [...new Set([item.text ?? '', item.snippet_text ?? ''])].filter((text) => text !== '')
  const passages = [...texts.flatMap((text) => textPassages(text, label)), ...factPassages(item)]
  const byWord = new Map<string, number[]>()
  for (const [at, { words }] of passages.entries()) {
    for (const key of new Set(words.map((word) => word.key)))
      byWord.set(key, [...(byWord.get(key) ?? []).slice(0, MOST_PASSAGES), at])
  }
  return { passages, byWord }
}

function textPassages(text: string, label: string): readonly Passage[] {
  const isEnglish = ['en', undefined].includes(detectLanguage(text.slice(0, 20_000)))
  const named = new Set(
    passageWords(`x ${label}`)
      .slice(1)
      .map(({ key }) => key),
  )
  let subject: ReadonlySet<string> = named
  return sentencesIn(text).map((sentence) => {
    const words = passageWords(sentence)
    const first = /^(\S+)/.exec(sentence)?.[1]?.toLowerCase() ?? ''
    if (!PRONOUNS.has(first)) subject = leadingName(sentence, named)
    const means = PRONOUNS.has(first) ? subject : new Set<string>()
    return { text: sentence, words: words.length > MOST_WORDS ? [] : words, subject: means, english: isEnglish }
  })
}

const PRONOUNS: ReadonlySet<string> = new Set(['it', 'its', 'they', 'their', 'he', 'she', 'his', 'her'])

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
    return { text, words, subject: new Set<string>(), fact: { name: front, object: said }, english: true }
  })
}

/** How a claim (without its citations) stands to one item. */
export function supportOf(
  claim: string,
  { passages, byWord }: Passages,
): { readonly status: SupportStatus; readonly passage?: string } {
  const said = passageWords(withoutLead(claim))
  const heavy = said.filter(({ kind }) => kind !== 'light')
  if (heavy.length === 0) return { status: 'unsupported' }
  const asks = /\?\s*$/.test(claim)
  const lists = heavy.map(({ key }) => byWord.get(key)).filter((list) => list !== undefined)
  const rarest = lists.toSorted((a, b) => a.length - b.length)[0] ?? []
  let found: { status: SupportStatus; passage?: string } = { status: 'unsupported' }
  for (const at of rarest) {
    const passage = passages[at]
    if (passage === undefined || asks !== /\?\s*$/.test(passage.text)) continue
    const status = againstOne(said, heavy, passage)
    if (status === 'quoted') return { status, passage: passage.text }
    if (status === 'supported') found = { status, passage: passage.text }
  }
  return found
}

/** `The report says:` claims nothing of its own. */
export function withoutLead(claim: string): string {
  const plain = claim.replace(/\s{1,1000}/g, ' ').trim()
  return `${plain.slice(0, LONGEST_LEAD).replace(LEAD, '')}${plain.slice(LONGEST_LEAD)}`
}

const LONGEST_LEAD = 80

const LEAD =
  /^(?:according to |as )?(?:the |this |its )?(?:report|source|evidence|text|document|article|entry|record)(?: says?| states?| reads?| notes?)?(?: that)?[:,]? ?(?=[“"„«'‘「『`])/i

function againstOne(said: readonly PassageWord[], heavy: readonly PassageWord[], passage: Passage): SupportStatus {
  const run = runAt(said, passage.words)
  if (run !== undefined)
    return leavesOut(passage.words, (at) => at >= run && at < run + said.length) ? 'unsupported' : 'quoted'
  if (!passage.english) return 'unsupported'
  if (passage.fact !== undefined) return saysFact(said, passage.words, passage.fact) ? 'supported' : 'unsupported'
  const own = heavy.filter(
    ({ key }) => turns(key) || !passage.subject.has(key) || passage.words.some((word) => word.key === key),
  )
  if (own.length === 0 || !sameTime(said, passage.words)) return 'unsupported'
  const places = placesOf(own, passage.words)
  return places !== undefined && isWhole(own, places, passage) ? 'supported' : 'unsupported'
}

/** Where all words of a claim, light ones too, stand one after the other. */
function runAt(said: readonly PassageWord[], words: readonly PassageWord[]): number | undefined {
  const last = words.length - said.length
  for (let from = 0; from <= last; from += 1) {
    if (said.every(({ key }, i) => words[from + i]?.key === key)) return from
  }
  return undefined
}

/**
 * Words that turn or bound what is said. What a passage has of them a claim may not leave out, and a claim brings none
 * of its own: they are compared as all its words are.
 */
const NEGATIONS =
  'not no never none nobody nothing neither nor without fail failed failure lack deny denied refuse false falsely untrue wrong hardly scarcely barely rarely seldom yet unable non instead rather nicht kein keine keinen nie niemals ne pas jamais aucun não nunca nunca niet geen ikke inte ej sin'
const HEDGES =
  'may might could would should can will shall must possibly perhaps probably likely unlikely alleged allegedly reportedly claim claimed say said according believe believed suspect suspected plan planned expect expected estimate estimated propose proposed intend intended hope aim seem appear suppose supposed rumour rumoured apparently potential potentially almost nearly about around approximately roughly think thought argue argued suggest suggested assume assumed predict predicted forecast'
const BOUNDS =
  'if unless except only until provided whether assuming all every each most many few several some any both half least more less fewer than over under above below before after since against minimum maximum up'
const TURNING: ReadonlySet<string> = new Set(`${NEGATIONS} ${HEDGES} ${BOUNDS}`.split(' ').map(stem))
function turns(key: string): boolean {
  return TURNING.has(key) || isSign(key)
}

const OF_THE_WHOLE: ReadonlySet<string> = new Set(
  'if unless except only provided assuming whether say said claim according alleged allegedly reportedly deny denied false untrue wrong believe suspect rumour apparently'
    .split(' ')
    .map(stem),
)

/** Whether the passage bounds or turns what was taken from it by a word that was not taken. */
function leavesOut(words: readonly PassageWord[], isTaken: (at: number) => boolean): boolean {
  if (isToldByOthers(words, isTaken)) return true
  const clauses = new Set(words.flatMap(({ clause }, at) => (isTaken(at) ? [clause] : [])))
  return words.some(({ key, clause }, at) => {
    if (isTaken(at) || !turns(key)) return false
    if (isSign(key)) return isTaken(at - 1) || isTaken(at + 1)
    return clauses.has(clause) || OF_THE_WHOLE.has(key)
  })
}

/** What is taken begins right behind a `that`: somebody reported, wrote or feared it. */
function isToldByOthers(words: readonly PassageWord[], isTaken: (at: number) => boolean): boolean {
  let at = words.findIndex((_, i) => isTaken(i))
  while (at > 0 && words[at]?.key !== 'that' && (isTaken(at) || words[at]?.kind === 'light')) at -= 1
  return at > 0 && words[at]?.key === 'that' && !isTaken(at)
}

const PRESENT = ['is', 'are']
const PAST = ['was', 'were', 'had']

/** What was is not said to be, nor what is to have been. */
function sameTime(said: readonly PassageWord[], words: readonly PassageWord[]): boolean {
  const has = (list: readonly PassageWord[], of: readonly string[]) => list.some(({ key }) => of.includes(key))
  if (has(said, PRESENT) && !has(words, PRESENT) && has(words, PAST)) return false
  return !(has(said, PAST) && !has(words, PAST) && has(words, PRESENT))
}

/** Where each word of a claim stands: in the order of the passage, or of its two halves turned round. The tightest one. */
function placesOf(own: readonly PassageWord[], words: readonly PassageWord[]): readonly number[] | undefined {
  let best: readonly number[] | undefined
  for (const [from, { key }] of words.entries()) {
    if (key !== own[0]?.key) continue
    const places = placesFrom(own, words, from)
    if (places !== undefined && (best === undefined || spread(places) < spread(best))) best = places
  }
  return best
}

function spread(places: readonly number[]): number {
  return Math.max(...places) - Math.min(...places)
}

function placesFrom(
  own: readonly PassageWord[],
  words: readonly PassageWord[],
  from: number,
): readonly number[] | undefined {
  const places = [from]
  let turned = false
  for (const { key } of own.slice(1)) {
    const last = places.at(-1) ?? 0
    let next = words.findIndex((word, at) => at > last && word.key === key && (!turned || at < from))
    if (next < 0 && !turned) {
      next = words.findIndex((word, at) => at < from && word.key === key)
      turned = true
      // Only what a preposition leads moves: `In 1969 oil was found`.
      if (!PLACES.has(words[from]?.before ?? '')) return undefined
    }
    if (next < 0) return undefined
    places.push(next)
  }
  return places
}

const PLACES: ReadonlySet<string> = new Set(['in', 'on', 'at', 'during'])

/** Nothing that was left out in between, before or behind changes whom or what it is said of. */
function isWhole(own: readonly PassageWord[], places: readonly number[], { words, subject }: Passage): boolean {
  const taken = new Set(places)
  if (leavesOut(words, (at) => taken.has(at))) return false
  if (places.some((at, i) => !sameLead(own[i], words[at]))) return false
  if (!numbersWhole(taken, words)) return false
  const heavy = words.flatMap(({ kind }, at) => (kind === 'light' ? [] : [at]))
  const first = Math.min(...places)
  const lead = heavy.filter((at) => at < first)
  if (lead.length > 0 && words[first]?.apart !== true) return false
  if (subject.size > 0 && lead.length > 0) return false
  return heavy.every((at) => taken.has(at) || at < first || mayDrop(at, taken, words))
}

/** `to 5` is not `by 5`: what leads a name or a number is the same, where both have it. */
function sameLead(own: PassageWord | undefined, word: PassageWord | undefined): boolean {
  if (own === undefined || word === undefined || word.kind === 'word') return true
  const [a, b] = [own.before, word.before]
  return !LEADS.has(a) || !LEADS.has(b) || a === b
}

const LEADS: ReadonlySet<string> = new Set([
  'to',
  'from',
  'by',
  'for',
  'with',
  'into',
  'within',
  'between',
  'through',
  'per',
])

/** A number keeps the unit or the word counted right behind it. */
function numbersWhole(taken: ReadonlySet<number>, words: readonly PassageWord[]): boolean {
  return [...taken].every((at) => {
    const next = words[at + 1]
    if (words[at]?.kind !== 'number' || next === undefined || next.kind === 'light' || next.apart) return true
    return taken.has(at + 1) || taken.has(at + 2)
  })
}

/** Whether a word behind the first one taken may go: not the head of what was taken, no other name or number between. */
function mayDrop(at: number, taken: ReadonlySet<number>, words: readonly PassageWord[]): boolean {
  const { kind, apart } = words[at] ?? { kind: 'word', apart: false }
  const isBehind = [...taken].every((place) => place < at)
  const before = words[at - 1]
  // `the king's mother`, `the drone pilot`: who is meant is the last word.
  if (!apart && taken.has(at - 1) && before?.kind !== 'number') return false
  if (isBehind) return true
  if (kind === 'word') return !isVerbLike(at, taken, words)
  return isAside(at, taken, words) || isListed(at, taken, words)
}

/** Between a subject and what is said of it stands no other subject's verb: `that Beta sold`, only with a name or number. */
function isVerbLike(at: number, taken: ReadonlySet<number>, words: readonly PassageWord[]): boolean {
  const clause = words[at]?.clause
  const from = [...taken].filter((place) => place < at).at(-1)
  return from !== undefined && words[from]?.clause !== clause
}

/** Between commas, brackets or dashes. */
function isAside(at: number, taken: ReadonlySet<number>, words: readonly PassageWord[]): boolean {
  let from = at
  while (from > 0 && !taken.has(from - 1)) from -= 1
  let to = at
  while (to < words.length && !taken.has(to)) to += 1
  return words[from]?.apart === true && words[to]?.apart === true && words[from]?.clause === words[to]?.clause
}

/** A name of a list, where another one of the list was taken. */
function isListed(at: number, taken: ReadonlySet<number>, words: readonly PassageWord[]): boolean {
  let to = at
  while (to < words.length && !taken.has(to)) {
    const { kind, key, before } = words[to] ?? { kind: 'word', key: '', before: '' }
    if (kind !== 'name' && key !== 'and') return false
    if (before !== '' && before !== 'and' && to > at) return false
    to += 1
  }
  return words[at]?.kind === 'name' && words[to]?.kind === 'name'
}

/** The fact's name (or a pronoun), its whole word and some of its objects; never turned round. */
function saysFact(
  said: readonly PassageWord[],
  words: readonly PassageWord[],
  { name, object }: NonNullable<Passage['fact']>,
): boolean {
  const keys = (from: number, to?: number) =>
    new Set(
      words
        .slice(from, to)
        .filter(({ kind }) => kind !== 'light')
        .map(({ key }) => key),
    )
  const [named, predicate, objects] = [keys(0, name), keys(name, object), keys(object)]
  const own = said.filter(({ kind }) => kind !== 'light')
  if (own.some(({ key }) => !named.has(key) && !predicate.has(key) && !objects.has(key))) return false
  if (![...predicate].every((key) => own.some((word) => word.key === key))) return false
  const at = (set: ReadonlySet<string>) => said.findIndex(({ key, kind }) => kind !== 'light' && set.has(key))
  if (at(named) < 0 && !said.some(({ key }) => ITS.has(key))) return false
  if (at(objects) < 0 || !wholeNames(own, objects, words.slice(object))) return false
  return isSaidForward(said, { named, predicate, objects, at })
}

interface FactWords {
  readonly named: ReadonlySet<string>
  readonly predicate: ReadonlySet<string>
  readonly objects: ReadonlySet<string>
  readonly at: (set: ReadonlySet<string>) => number
}

/** The name before its object, or behind an `of`; `Norway is the capital of Oslo` turns it round. */
function isSaidForward(said: readonly PassageWord[], { named, predicate, objects, at }: FactWords): boolean {
  const head = said.findLastIndex(({ key }) => predicate.has(key))
  const isOf = said[head + 1]?.key === 'of'
  const next = said.slice(head + 1).find(({ kind }) => kind !== 'light')?.key ?? ''
  if (isOf && objects.has(next) && !named.has(next)) return false
  return at(named) < 0 || at(named) < at(objects) || isOf || said[at(named)]?.possessive === true
}

const ITS: ReadonlySet<string> = new Set(['its', 'it', 'their', 'his', 'her'])

/** Of `Norwegian krone` no half: what is left out was set apart. */
function wholeNames(own: readonly PassageWord[], objects: ReadonlySet<string>, words: readonly PassageWord[]): boolean {
  const said = new Set(own.flatMap(({ key }) => (objects.has(key) ? [key] : [])))
  const groups: string[][] = [[]]
  for (const { key, apart, kind } of words) {
    if (apart && groups.at(-1)?.length !== 0) groups.push([])
    if (kind !== 'light') groups.at(-1)?.push(key)
  }
  return groups.every(
    (keys) =>
      keys.every((key) => said.has(key)) ||
      keys.every((key) => !said.has(key)) ||
      groups.some((other) => other !== keys && other.every((key) => said.has(key))),
  )
}
