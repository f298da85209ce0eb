import { citationsIn } from '../gates/citations.ts'
import { numbersIn } from '../gates/numbers-in.ts'
import { UNSUPPORTED_MARK } from './answer-notes.ts'
import { claimLines } from './claim-sentences.ts'
import { echoEvidence } from './degraded-result.ts'
import type { Evidence } from './evidence.ts'
import { proseOf, refsIn } from './evidence-refs.ts'
import { passageWords } from './passage-words.ts'
import { plainName } from './plain-name.ts'
import { outsideQuotations, quotationsIn } from './quotations.ts'
import { checkQuote, type QuoteFinding } from './quote.ts'
import { indexQuotes, type QuoteIndex } from './quote-index.ts'
import { citableText, type ShownEvidence } from './shown-evidence.ts'
import { type Passages, passagesOf, type SupportStatus, supportOf, withoutLead } from './support.ts'

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
 * evidence the sentence cites, nowhere else), and one passage of what it cites agrees with it (support.ts).
 */
export function checkSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly CitedEvidence[],
): readonly SentenceFinding[] {
  const sources = evidence.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) }))
  const index = indexQuotes(sources)
  const numbers = evidence.map(numbersOf)
  const read = new Map<number, Passages>()
  const passages = (place: number) => {
    const item = evidence[place - 1]
    const known = read.get(place) ?? passagesOf(item ?? { entity_id: '' })
    read.set(place, known)
    return known
  }
  const known = { evidence, index, numbers, passages }
  // What is shown of the evidence where an answer cites none is the evidence itself.
  const echoed = new Map(echoEvidence(evidence).map((line, at) => [line, at + 1]))
  return claimLines(topic, synthesis).flatMap(({ text, sentences }) => {
    const place = echoed.get(text.trim())
    if (place === undefined) return sentences.map((sentence) => checkSentence(sentence, known))
    const found = { status: 'quoted', places: [place], unknown_refs: [], bad_quotes: [], bad_numbers: [] } as const
    return sentences.map((sentence) => ({ sentence, ...found }))
  })
}

/** Whether a sentence is quoted or supported, and cites nothing unknown beside. */
export function isGrounded({ status, unknown_refs }: SentenceFinding): boolean {
  return status !== 'unsupported' && unknown_refs.length === 0
}

/** Whether a sentence was kept although it is unsupported. */
export function isMarked(sentence: string): boolean {
  return sentence.startsWith(UNSUPPORTED_MARK)
}

/** One line of an answer: its claims, each held against what it cites; a note about the answer has none. */
export interface CheckedLine {
  readonly text: string
  readonly sentences: readonly SentenceFinding[]
}

/** An answer as it was published, with why it is less than it could be. */
export interface PublishedAnswer {
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
  return pieces(synthesis, own).flatMap((piece) => {
    if (own.has(piece)) return [{ text: piece, sentences: [] }]
    const findings = checkSynthesis(topic, piece, evidence)
    let next = 0
    return claimLines(topic, piece).map(({ text, sentences }) => {
      next += sentences.length
      return { text, sentences: findings.slice(next - sentences.length, next) }
    })
  })
}

/** As degraded-result.ts writes them. */
const NO_ANSWER = ['No answer was composed.', 'What was found:']

/** A text cut at some of its lines, those as pieces of their own. */
function pieces(text: string, at: ReadonlySet<string>): readonly string[] {
  const groups: string[][] = []
  for (const line of text.split('\n')) {
    const last = groups.at(-1)
    if (last === undefined || at.has(line) || at.has(last[0] ?? '')) groups.push([line])
    else last.push(line)
  }
  return groups.map((lines) => lines.join('\n'))
}

/** How sentences stand to what they cite, in numbers: `2 of 3 sentences quoted, 1 supported, 0 unsupported`. */
export function comparedWords(sentences: readonly Pick<SentenceFinding, 'status'>[]): string {
  const of = (status: SentenceFinding['status']) => sentences.filter((one) => one.status === status).length
  const [quoted, supported, unsupported] = [of('quoted'), of('supported'), of('unsupported')]
  const all = `${sentences.length} ${sentences.length === 1 ? 'sentence' : 'sentences'}`
  return `${quoted} of ${all} quoted, ${supported} supported, ${unsupported} unsupported`
}

interface Known {
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

function checkSentence(sentence: string, known: Known): SentenceFinding {
  const { evidence, index, numbers } = known
  const refs = refsIn(outsideQuotations(sentence), evidence)
  const places = [...new Set(refs.flatMap(({ place }) => place ?? []))]
  const quoted = quotationsIn(sentence).map((at) => ({ ...at, verdict: verdictOf(at.quote, places, index) }))
  // What stands there word for word has its numbers from there.
  const found = quoted.filter(({ verdict }) => verdict === 'found' && places.length > 0)
  const said = numbersIn(proseOf(cutOut(sentence, found)))
  const unknown = said.filter(({ key }) => !places.some((place) => numbers[place - 1]?.has(key)))
  const isQuotedWell = quoted.every(({ verdict }) => verdict === undefined || verdict === 'found')
  const support = isQuotedWell ? supported(sentence, places, known) : UNSUPPORTED
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

type Support = Pick<SentenceFinding, 'status' | 'passage'>

const UNSUPPORTED: Support = { status: 'unsupported' }

/**
 * The whole sentence by one item it cites, or else each of its pieces by the item cited right behind it; what stands
 * behind the last citation belongs to that piece. A sentence of quotations alone is judged by each of them.
 */
function supported(sentence: string, places: readonly number[], known: Known): Support {
  if (places.length === 0 || sentence.includes(UNSUPPORTED_MARK)) return UNSUPPORTED
  const quotes = onlyQuotes(sentence)
  const whole = allOf(quotes.map((claim) => bestOf(places.map((place) => bySource(claim, place, known.passages)))))
  if (whole.status !== 'unsupported') return whole
  const pieces = piecesOf(sentence)
  if (isRanking(pieces, known)) return { status: 'supported' }
  const each = pieces.map(({ text, cited }) => {
    const own = refsIn(cited, known.evidence).flatMap(({ place }) => place ?? [])
    if (own.some((place) => isName(text, known.evidence[place - 1]))) return { status: 'supported' } as const
    return bestOf(own.map((place) => bySource(text, place, known.passages)))
  })
  const together = allOf(each)
  return pieces.length > 1 && together.status === 'quoted' ? { ...together, status: 'supported' } : together
}

/** The quotations, where nothing but them and citations stands in the sentence; else its prose as one claim. */
function onlyQuotes(sentence: string): readonly string[] {
  const quotes = quotationsIn(sentence)
  const rest = passageWords(withoutLead(`${proseOf(outsideQuotations(sentence))}“`))
  const isAlone = quotes.length > 0 && rest.every(({ kind, key }) => kind === 'light' && key === 'and')
  return isAlone ? quotes.map(({ quote }) => quote) : [proseOf(sentence)]
}

function allOf(all: readonly Support[]): Support {
  if (all.length === 0 || all.some(({ status }) => status === 'unsupported')) return UNSUPPORTED
  return all.find(({ status }) => status === 'supported') ?? all[0] ?? UNSUPPORTED
}

type Piece = ReturnType<typeof piecesOf>[number]

/** The extractive model's comparison: `By area, greatest first: Peru 1285216 [3], Norway 323802 [2].`, each a fact, in order. */
function isRanking(pieces: readonly Piece[], { evidence, passages }: Known): boolean {
  const [, word] = /^By ([^:]{1,200}), greatest first: /.exec(pieces[0]?.text ?? '') ?? []
  if (word === undefined || pieces.length < 2) return false
  const values = pieces.map(({ text, cited }, at) => {
    const [place] = refsIn(cited, evidence).flatMap((ref) => ref.place ?? [])
    const item = evidence[(place ?? 0) - 1]
    const said = at === 0 ? text.replace(/^By [^:]{1,200}, greatest first: /, '') : text
    const label = item?.label ?? item?.entity_id ?? ''
    if (place === undefined || !said.startsWith(`${label} `)) return Number.NaN
    const value = said.slice(label.length + 1)
    const isFact = supportOf(`${label}, ${word}: ${value}`, passages(place)).status === 'quoted'
    return isFact ? Number(numbersIn(value)[0]?.key ?? Number.NaN) : Number.NaN
  })
  return values.every((value, at) => at === 0 || value <= (values[at - 1] ?? Number.NaN))
}

function bySource(claim: string, place: number, passages: Known['passages']): Support {
  const { status, passage } = supportOf(claim, passages(place))
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

/** The lists of the extractive model: `Found there: Sensor S1 [1], Sensor S2 [2].` */
function isName(text: string, item: CitedEvidence | undefined): boolean {
  const named = text.replace(/^Found there:\s*/, '').toLowerCase()
  return (
    item !== undefined &&
    [item.label ?? item.entity_id, item.entity_id].some((name) => plainName(name).toLowerCase() === named)
  )
}

/** Found in one of the places cited (in any evidence, where none is); undefined = too short to count. */
function verdictOf(quote: string, places: readonly number[], index: QuoteIndex): QuoteFinding['verdict'] | undefined {
  const sources = places.length === 0 ? [undefined] : places.map(String)
  const verdicts = sources.map((source) => checkQuote(index, quote, source)?.verdict)
  return verdicts.includes('found') ? 'found' : verdicts[0]
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
