import { numbersIn } from '../gates/numbers-in.ts'
import { claimLines } from './claim-sentences.ts'
import type { Evidence } from './evidence.ts'
import { proseOf, refsIn } from './evidence-refs.ts'
import { outsideQuotations, quotationsIn } from './quotations.ts'
import { checkQuote, type QuoteFinding } from './quote.ts'
import { indexQuotes, type QuoteIndex } from './quote-index.ts'
import { citableText, type ShownEvidence } from './shown-evidence.ts'

/** What an item of evidence says, and where it is stored. */
export type CitedEvidence = ShownEvidence & Pick<Evidence, 'objectstore_ref'>

/** One sentence of an answer, held against the evidence it cites. */
export interface SentenceFinding {
  readonly sentence: string
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
 * evidence the sentence cites, nowhere else), numbers occur there with the same value. Nothing fuzzy passes.
 */
export function checkSynthesis(
  topic: string,
  synthesis: string,
  evidence: readonly CitedEvidence[],
): readonly SentenceFinding[] {
  const sources = evidence.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) }))
  const index = indexQuotes(sources)
  const numbers = evidence.map(numbersOf)
  return claimLines(topic, synthesis)
    .flatMap(({ sentences }) => sentences)
    .map((sentence) => checkSentence(sentence, { evidence, index, numbers }))
}

/** Whether nothing is wrong with a sentence; one that cites nothing is not grounded. */
export function isGrounded({ places, unknown_refs, bad_quotes, bad_numbers }: SentenceFinding): boolean {
  return places.length > 0 && unknown_refs.length + bad_quotes.length + bad_numbers.length === 0
}

interface Known {
  readonly evidence: readonly CitedEvidence[]
  readonly index: QuoteIndex
  readonly numbers: readonly ReadonlySet<string>[]
}

/** Of its text, its name and its id: `Drone 001` is a name with a number. */
function numbersOf(item: CitedEvidence): ReadonlySet<string> {
  const text = [citableText(item), item.label ?? '', item.entity_id.replaceAll(/[._-]/g, ' ')].join('\n')
  return new Set(numbersIn(withoutPowers(text)).map(({ key }) => key))
}

/** `km²` is a unit, not a number. */
function withoutPowers(text: string): string {
  return text.replace(/(?<=\p{L})[²³]/gu, '')
}

function checkSentence(sentence: string, { evidence, index, numbers }: Known): SentenceFinding {
  const refs = refsIn(outsideQuotations(sentence), evidence)
  const places = [...new Set(refs.flatMap(({ place }) => place ?? []))]
  const quoted = quotationsIn(sentence).map((at) => ({ ...at, verdict: verdictOf(at.quote, places, index) }))
  // What stands there word for word has its numbers from there.
  const found = quoted.filter(({ verdict }) => verdict === 'found' && places.length > 0)
  const said = numbersIn(withoutPowers(proseOf(cutOut(sentence, found))))
  const unknown = said.filter(({ key }) => !places.some((place) => numbers[place - 1]?.has(key)))
  return {
    sentence,
    places,
    unknown_refs: refs.filter(({ place }) => place === undefined).map(({ ref }) => ref),
    bad_quotes: quoted.flatMap(({ quote, verdict }) =>
      verdict === undefined || verdict === 'found' ? [] : [{ quote, verdict }],
    ),
    bad_numbers: [...new Set(unknown.map(({ written }) => written))],
  }
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
