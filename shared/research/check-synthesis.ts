import { numbersIn } from '../gates/numbers-in.ts'
import { claimLines } from './claim-sentences.ts'
import type { Evidence } from './evidence.ts'
import { proseOf, refsIn } from './evidence-refs.ts'
import { quotationsIn } from './quotations.ts'
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
export function checkSynthesis(synthesis: string, evidence: readonly CitedEvidence[]): readonly SentenceFinding[] {
  const sources = evidence.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) }))
  const index = indexQuotes(sources)
  const numbers = evidence.map(numbersOf)
  return claimLines(synthesis)
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
  const refs = refsIn(sentence, evidence)
  const places = [...new Set(refs.flatMap(({ place }) => place ?? []))]
  const said = numbersIn(withoutPowers(proseOf(sentence)))
  const unknown = said.filter(({ key }) => !places.some((place) => numbers[place - 1]?.has(key)))
  return {
    sentence,
    places,
    unknown_refs: refs.filter(({ place }) => place === undefined).map(({ ref }) => ref),
    bad_quotes: quotationsIn(sentence).flatMap(({ quote }) => badQuote(quote, places, index)),
    bad_numbers: [...new Set(unknown.map(({ written }) => written))],
  }
}

function badQuote(quote: string, places: readonly number[], index: QuoteIndex): SentenceFinding['bad_quotes'] {
  const findings = (places.length === 0 ? [undefined] : places).map((place) =>
    checkQuote(index, quote, place === undefined ? undefined : `${place}`),
  )
  const [first] = findings
  if (first === undefined || findings.some((finding) => finding?.verdict === 'found')) return []
  return [{ quote, verdict: first.verdict }]
}
