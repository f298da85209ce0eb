import { citationsIn } from '../../text/citations.ts'
import { numbersIn } from '../../text/numbers.ts'
import { isQuoteLeadIn, normalizeMarks, quotationsIn, withoutQuotations } from '../../text/quotations.ts'
import {
  checkQuote,
  indexQuoteSources,
  isVerbatimIn,
  type QuoteFinding,
  type QuoteIndex,
} from '../../text/verbatim-quotes.ts'
import type { Evidence } from '../payloads/candidate-and-evidence.ts'
import { PRONOUNS } from './allowed-cuts.ts'
import { claimLines, evidenceAsLines, UNSUPPORTED_MARK } from './claim-lines.ts'
import {
  type ClaimHow,
  judgeClaim,
  type Passages,
  readPassages,
  type SupportStatus,
  splitSentences,
} from './claim-support.ts'
import { referencesIn, withoutAnyReference } from './evidence-references.ts'
import { citableText, factText, groupFacts, plainName, type ShownEvidence } from './shown-evidence.ts'

/** What an item of evidence says, and where it is stored. */
export type CitedEvidence = ShownEvidence &
  Pick<Evidence, 'objectstore_ref'> & { readonly snippet_text?: string | undefined }

/** One sentence of an answer, held against the evidence it cites. */
export interface SentenceFinding {
  readonly sentence: string
  readonly status: SupportStatus
  /** The sentence or fact of the evidence it agrees with, and whose it is. */
  readonly passage?: { readonly place: number; readonly text: string }
  /** Places of the evidence it cites, from 1. */
  readonly places: readonly number[]
  readonly unknown_refs: readonly string[]
  /** Quotations of 12 characters or more that do not stand in what it cites. */
  readonly bad_quotes: readonly { readonly quote: string; readonly verdict: QuoteFinding['verdict'] }[]
  /** Numbers that do not occur in what it cites. */
  readonly bad_numbers: readonly string[]
}

/**
 * Every claim of an answer against the stored bodies: references resolve, quotations stand there word for word (in the
 * evidence the sentence cites, nowhere else), and one passage of what it cites agrees with it (claim-support.ts).
 */
export function checkSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly CitedEvidence[],
): readonly SentenceFinding[] {
  const sources = evidence.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) }))
  const index = indexQuoteSources(sources)
  const numbers = evidence.map(numbersOf)
  const read = new Map<number, Passages>()
  const passages = (place: number) => {
    const item = evidence[place - 1]
    const known = read.get(place) ?? readPassages(item ?? { entity_id: '' })
    read.set(place, known)
    return known
  }
  const known = { evidence, index, numbers, passages }
  // What is shown of the evidence where an answer cites none is the evidence itself.
  const echoed = new Map(evidenceAsLines(evidence).map((line, at) => [line, at + 1]))
  let before: SentenceFinding | undefined
  return claimLines(topic, synthesis).flatMap(({ text, sentences }) => {
    const place = echoed.get(text.trim())
    return sentences.map((sentence) => {
      const found = {
        status: 'quoted',
        places: [place ?? 0],
        unknown_refs: [],
        bad_quotes: [],
        bad_numbers: [],
      } as const
      const { leans, ...own } = place === undefined ? checkSentence(sentence, known) : { sentence, ...found }
      const isOther = (leans === true || PRONOUNS.has(firstWord(sentence))) && meansAnother(own, before, evidence)
      const finding = isOther ? { ...own, ...UNSUPPORTED } : own
      before = finding
      return finding
    })
  })
}

/** `Drone One crashed [2]. It is not certified [1].`: whom a sentence without a name means is said by the one before it. */
function meansAnother(
  { places }: SentenceFinding,
  before: SentenceFinding | undefined,
  evidence: readonly CitedEvidence[],
): boolean {
  if (before === undefined) return false
  if (before.places.length > 0) return !places.every((place) => before.places.includes(place))
  const said = before.sentence.toLowerCase()
  return !places.every((place) => said.includes((evidence[place - 1]?.label ?? ' ').toLowerCase()))
}

function firstWord(text: string): string {
  return /[\p{L}\p{N}]+/u.exec(text)?.[0].toLowerCase() ?? ''
}

/** Whether a sentence is quoted or supported, and cites nothing unknown beside. */
export function isGrounded({ status, unknown_refs }: SentenceFinding): boolean {
  return status !== 'unsupported' && unknown_refs.length === 0
}

/** Whether a sentence was kept although it is unsupported. */
export function isMarkedUnsupported(sentence: string): boolean {
  return sentence.startsWith(UNSUPPORTED_MARK)
}

/** One line of an answer: its claims, each held against what it cites; a note about the answer has none. */
export interface CheckedLine {
  readonly text: string
  readonly sentences: readonly SentenceFinding[]
}

/** An answer as it was published, with why it is less than it could be. */
interface PublishedAnswer {
  readonly topic: string
  readonly synthesis: string
  readonly degraded: readonly string[]
}

/**
 * A published answer line by line, for whoever shows it. The line the chain wrote of `degraded` at its end, and its words
 * for no answer, are about the answer and claim nothing; the like of them from a model is a claim.
 */
export function checkedLines(
  { topic, synthesis, degraded }: PublishedAnswer,
  evidence: readonly CitedEvidence[],
): readonly CheckedLine[] {
  const own = new Set([...NO_ANSWER, `Degraded: ${degraded.join('; ')}.`])
  return cutAtLines(synthesis, own).flatMap((piece) => {
    if (own.has(piece)) return [{ text: piece, sentences: [] }]
    const findings = checkSynthesis(topic, piece, evidence)
    let next = 0
    return claimLines(topic, piece).map(({ text, sentences }) => {
      next += sentences.length
      return { text, sentences: findings.slice(next - sentences.length, next) }
    })
  })
}

/** As claim-lines.ts writes them. */
const NO_ANSWER = ['No answer was composed.', 'What was found:']

/** A text cut at some of its lines, those as pieces of their own. */
function cutAtLines(text: string, at: ReadonlySet<string>): readonly string[] {
  const groups: string[][] = []
  for (const line of text.split('\n')) {
    const last = groups.at(-1)
    if (last === undefined || at.has(line) || at.has(last[0] ?? '')) groups.push([line])
    else last.push(line)
  }
  return groups.map((lines) => lines.join('\n'))
}

/** How sentences stand to what they cite, in numbers: `2 of 3 sentences quoted, 1 supported, 0 unsupported`. */
export function supportCountWords(sentences: readonly Pick<SentenceFinding, 'status'>[]): string {
  const of = (status: SentenceFinding['status']) => sentences.filter((one) => one.status === status).length
  const [quoted, supported, unsupported] = [of('quoted'), of('supported'), of('unsupported')]
  const all = `${sentences.length} ${sentences.length === 1 ? 'sentence' : 'sentences'}`
  return `${quoted} of ${all} quoted, ${supported} supported, ${unsupported} unsupported`
}

interface Checking {
  readonly evidence: readonly CitedEvidence[]
  readonly index: QuoteIndex
  readonly numbers: readonly ReadonlySet<string>[]
  readonly passages: (place: number) => Passages
}

/** Of its text, its name and its id: `Drone 001` is a name with a number. */
function numbersOf(item: CitedEvidence): ReadonlySet<string> {
  const text = [citableText(item), item.label ?? '', item.entity_id.replaceAll(/[._-]/g, ' ')].join('\n')
  return new Set(numbersIn(text).map(({ key }) => key))
}

function checkSentence(sentence: string, known: Checking): SentenceFinding & Pick<Support, 'leans'> {
  const { evidence, index, numbers } = known
  // Offsets of quotations and citations are those of the text with its marks as they are read.
  const text = normalizeMarks(sentence)
  const refs = referencesIn(withoutQuotations(text), evidence)
  const places = [...new Set(refs.flatMap(({ place }) => place ?? []))]
  const quoted = quotationsIn(text).map((at) => ({ ...at, verdict: verdictOf(at.quote, places, index) }))
  // What stands there word for word has its numbers from there.
  const found = quoted.filter(({ verdict }) => verdict === 'found' && places.length > 0)
  const said = numbersIn(withoutAnyReference(cutOut(text, found)))
  const unknown = said.filter(({ key }) => !places.some((place) => numbers[place - 1]?.has(key)))
  const isQuotedWell = quoted.every(({ verdict }) => verdict === undefined || verdict === 'found')
  const support = isQuotedWell ? sentenceSupport(text, places, known) : UNSUPPORTED
  return {
    sentence,
    ...support,
    places,
    unknown_refs: refs.filter(({ place }) => place === undefined).map(({ ref }) => ref),
    bad_quotes: quoted.flatMap(({ quote, verdict }) =>
      verdict === undefined || verdict === 'found' ? [] : [{ quote, verdict }],
    ),
    bad_numbers: support.status === 'unsupported' ? [...new Set(unknown.map(({ written }) => written))] : [],
  }
}

type Support = Pick<SentenceFinding, 'status' | 'passage'> & {
  /** It has no subject of its own: `flew 12 missions`, below a name. */
  readonly leans?: true
}

const UNSUPPORTED: Support = { status: 'unsupported' }

/**
 * The whole sentence by one item it cites, or else each of its pieces by the item cited right behind it; what stands
 * behind the last citation belongs to the last piece. A sentence of quotations alone is judged by each of them.
 */
function sentenceSupport(sentence: string, places: readonly number[], known: Checking): Support {
  if (places.length === 0 || sentence.includes(UNSUPPORTED_MARK)) return UNSUPPORTED
  const quotes = onlyQuotes(sentence)
  if (quotes !== undefined)
    return allOf(quotes.map((quote) => bestOf(places.map((place) => quotedBy(quote, place, known)))))
  const claim = withoutAnyReference(sentence)
  const said = (how?: ClaimHow) => bestOf(places.map((place) => bySource(claim, place, known.passages, how)))
  const whole = said({ whole: true })
  if (whole.status !== 'unsupported') return whole
  const leaning = said()
  if (leaning.status !== 'unsupported') return { ...leaning, leans: true }
  const pieces = piecesOf(sentence)
  const rest = restOf(sentence)
  const isEnd = !/[\p{L}\p{N}\p{So}\p{Sm}?？]/u.test(rest)
  if (isEnd && (isRanking(pieces, known) || isCounted(pieces, known))) return { status: 'supported' }
  if (isEnd && areNames(pieces, known)) return { status: 'supported' }
  const last = pieces.length - 1
  const together = allOf(
    pieces.map((piece, at) =>
      byPiece(at < last ? piece : { ...piece, text: `${piece.text}${rest}` }, pieces[at - 1], known),
    ),
  )
  return pieces.length > 1 && together.status === 'quoted' ? { ...together, status: 'supported' } : together
}

/** A piece has a subject of its own, or goes on about the item that was cited before it. */
function byPiece({ text, cited }: Piece, before: Piece | undefined, { evidence, passages }: Checking): Support {
  const placesOf = (citation: string) => referencesIn(citation, evidence).flatMap(({ place }) => place ?? [])
  const earlier = before === undefined ? undefined : placesOf(before.cited)
  const all = placesOf(cited).map((place) => {
    const goesOn = earlier === undefined || earlier.includes(place)
    if (!goesOn && PRONOUNS.has(firstWord(text))) return UNSUPPORTED
    return bySource(text, place, passages, { whole: !goesOn })
  })
  return bestOf(all)
}

/** A quotation of several sentences is each of them, and stands there as a whole. */
function quotedBy(quote: string, place: number, { passages, index }: Checking): Support {
  const sentences = splitSentences(quote)
  if (sentences.length < 2) return bySource(quote, place, passages, { marked: true })
  if (checkQuote(index, quote, `${place}`)?.verdict !== 'found') return UNSUPPORTED
  return allOf(sentences.map((one) => bySource(one, place, passages, { marked: true })))
}

/** The quotations, where nothing but them, citations and `The report says` stands in the sentence. */
function onlyQuotes(sentence: string): readonly string[] | undefined {
  const quotes = quotationsIn(sentence).filter(({ quote }) => /[\p{L}\p{N}]/u.test(quote))
  const isAlone = quotes.length > 0 && isQuoteLeadIn(withoutAnyReference(withoutQuotations(sentence)))
  return isAlone ? quotes.map(({ quote }) => quote) : undefined
}

function allOf(all: readonly Support[]): Support {
  if (all.length === 0 || all.some(({ status }) => status === 'unsupported')) return UNSUPPORTED
  return all.find(({ status }) => status === 'supported') ?? all[0] ?? UNSUPPORTED
}

type Piece = ReturnType<typeof piecesOf>[number]

/**
 * The extractive model's comparison: `By area, greatest first: Peru 1285216 [3], Norway 323802 [2].`, each a fact, in
 * order, and `Equal by area: ..`, `.. 323802 (equal) [2]` where they are. That nothing comes before them is not looked at.
 */
function isRanking(pieces: readonly Piece[], { evidence, passages }: Checking): boolean {
  const [lead = '', ranked, order = '', same] = RANKING.exec(pieces[0]?.text ?? '') ?? []
  const word = ranked ?? same
  if (word === undefined) return false
  const isEqual = pieces.map(({ text }, at) => at > 0 && (same !== undefined || text.endsWith(EQUAL)))
  const values = pieces.map(({ text, cited }, at) => {
    const place = placeOf(cited, evidence)
    const item = evidence[(place ?? 0) - 1]
    const said = at === 0 ? text.slice(lead.length) : text
    const label = plainName(item?.label ?? item?.entity_id ?? '')
    if (place === undefined || !said.startsWith(`${label} `)) return Number.NaN
    const value = said.slice(label.length + 1).replace(EQUAL_END, '')
    const isFact = judgeClaim(`${label}, ${word}: ${value}`, passages(place)).status === 'quoted'
    return isFact ? rankedValue(value, order) : Number.NaN
  })
  const sign = order === 'greatest' || order === 'latest' ? 1 : -1
  return values.every((value, at) => {
    const more = at === 0 ? 0 : sign * (value - (values[at - 1] ?? 0))
    return !Number.isNaN(value) && (isEqual[at] === true ? more === 0 : more <= 0)
  })
}

const RANKING = /^(?:By ([^:]{1,200}), (greatest|smallest|latest|earliest) first|Equal by ([^:]{1,200})): /
const EQUAL = ' (equal)'
const EQUAL_END = / \(equal\)$/

function placeOf(cited: string, evidence: readonly CitedEvidence[]): number | undefined {
  return referencesIn(cited, evidence).flatMap((ref) => ref.place ?? [])[0]
}

/** What one thing states by a predicate, counted: `Search Team, member, 3 in all: Ann, Bo, Cy [1].` */
function isCounted([piece, ...more]: readonly Piece[], { evidence, passages }: Checking): boolean {
  const [said, count] = /, (\d{1,3}) in all(?=: )/.exec(piece?.text ?? '') ?? []
  const place = placeOf(piece?.cited ?? '', evidence)
  if (piece === undefined || said === undefined || more.length > 0 || place === undefined) return false
  const fact = piece.text.replace(said, '')
  const item = evidence[place - 1]
  const stated = groupFacts(item?.facts ?? []).find(
    ({ predicate, objects }) => factText(item?.label ?? item?.entity_id ?? '', predicate, objects) === fact,
  )
  return stated?.objects.length === Number(count) && judgeClaim(fact, passages(place)).status === 'quoted'
}

/** A number; of dates the day. */
function rankedValue(value: string, order: string): number {
  const day = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/.exec(value)
  if (/^(?:latest|earliest)?$/.test(order) && day !== null) {
    return Number(`${day[1]}${day[2] ?? '00'}${day[3] ?? '00'}`)
  }
  return Number(numbersIn(value)[0]?.key ?? Number.NaN)
}

function bySource(claim: string, place: number, passages: Checking['passages'], how?: ClaimHow): Support {
  const { status, passage } = judgeClaim(claim, passages(place), how)
  return passage === undefined ? { status } : { status, passage: { place, text: passage } }
}

function bestOf(all: readonly Support[]): Support {
  const found = all.find(({ status }) => status === 'quoted') ?? all.find(({ status }) => status === 'supported')
  return found ?? UNSUPPORTED
}

/** What stands before each citation, without the comma or word that goes on from the one before. */
function piecesOf(sentence: string): readonly { readonly text: string; readonly cited: string }[] {
  let from = 0
  return citationsIn(sentence).map(({ at, end }) => {
    const text = sentence.slice(from, at).replace(/^[\s,;.]{0,20}(?:and\s)?/, '')
    from = end
    return { text: text.trim(), cited: sentence.slice(at, end) }
  })
}

/** What stands behind the last citation. */
function restOf(sentence: string): string {
  return sentence.slice(citationsIn(sentence).at(-1)?.end ?? sentence.length)
}

/**
 * The lists of the extractive model: `Found there: Sensor S1 [1], Sensor S2 [2].`, `5 elements: Radium [3], ..`, nothing
 * but names: as many as it says, or its first where it says that.
 */
function areNames(pieces: readonly Piece[], { evidence }: Checking): boolean {
  const [lead = '', all, first] = NAME_LIST.exec(pieces[0]?.text ?? '') ?? []
  if (first !== undefined && (Number(first) !== pieces.length || Number(all) <= Number(first))) return false
  if (all !== undefined && first === undefined && Number(all) !== pieces.length) return false
  return pieces.every(({ text, cited }, at) => {
    const name = at === 0 ? text.slice(lead.length) : text
    return referencesIn(cited, evidence).some(({ place }) => place !== undefined && isName(name, evidence[place - 1]))
  })
}

const NAME_LIST = /^(?:Found there|(\d{1,5}) [\p{L}\p{N} -]{1,100}(?:; the first (\d{1,3}) are)?):\s*/u

function isName(text: string, item: CitedEvidence | undefined): boolean {
  const named = text.toLowerCase()
  return (
    item !== undefined &&
    [item.label ?? item.entity_id, item.entity_id].some((name) => plainName(name).toLowerCase() === named)
  )
}

/**
 * Found in one of the places cited (in any evidence, where none is); undefined = too short to say more of than that it
 * stands there.
 */
function verdictOf(quote: string, places: readonly number[], index: QuoteIndex): QuoteFinding['verdict'] | undefined {
  const sources = places.length === 0 ? [undefined] : places.map(String)
  const verdicts = sources.map((source) => checkQuote(index, quote, source)?.verdict)
  if (verdicts.includes('found')) return 'found'
  const isThere = verdicts[0] !== undefined || sources.some((source) => isVerbatimIn(index, quote, source))
  return isThere ? verdicts[0] : 'not_found'
}

function cutOut(text: string, parts: readonly { readonly at: number; readonly end: number }[]): string {
  let from = 0
  const kept: string[] = []
  for (const { at, end } of parts) {
    kept.push(text.slice(from, at))
    from = end
  }
  return [...kept, text.slice(from)].join(' ')
}
