import type { ResearchAnswer } from '../../shared/api/research-routes.ts'
import { checkedLines, isGrounded, type SentenceFinding } from '../../shared/research/check-synthesis.ts'
import { outsideQuotations, quotationsIn } from '../../shared/research/quotations.ts'
import { checkQuote } from '../../shared/research/quote.ts'
import { indexQuotes, type QuoteIndex } from '../../shared/research/quote-index.ts'
import { citableText } from '../../shared/research/shown-evidence.ts'
import type { Target } from './api.ts'
import { type StoredEvidence, storedEvidence } from './stored-evidence.ts'

/** An answer held against what the server has stored, sentence by sentence. */
export interface CheckedAnswer {
  readonly sentences: readonly CheckedSentence[]
  /** Items the answer cites, by their place from 1. */
  readonly cited: ReadonlyMap<number, StoredEvidence>
}

export interface CheckedSentence extends SentenceFinding {
  readonly grounded: boolean
  /** Its quotations, or the whole of it without its citations, where they stand in an item it cites: bytes of its text and facts. */
  readonly verbatim: readonly { readonly place: number; readonly start: number; readonly end: number }[]
}

/** Reads what is cited, nothing else. */
export async function checkAnswer(
  target: Target,
  { intent, result, degraded }: ResearchAnswer,
): Promise<CheckedAnswer> {
  if (result === undefined) return { sentences: [], cited: new Map() }
  const { evidence = [], synthesis } = result
  const check = (items: typeof evidence) =>
    checkedLines({ topic: intent.topic, synthesis, degraded }, items).flatMap(({ sentences }) => sentences)
  // Which items a sentence cites does not depend on what they say.
  const places = new Set(check(evidence).flatMap((finding) => finding.places))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(target, item) : item)),
  )
  const findings = check(stored)
  const cited = [...places]
    .toSorted((a, b) => a - b)
    .flatMap((place): [number, StoredEvidence][] => {
      const item = stored[place - 1]
      return item === undefined ? [] : [[place, item]]
    })
  const index = indexQuotes([...cited].map(([place, item]) => ({ id: `${place}`, text: citableText(item) })))
  return {
    sentences: findings.map((finding) => ({
      ...finding,
      grounded: isGrounded(finding),
      verbatim: verbatimIn(finding, index),
    })),
    cited: new Map(cited),
  }
}

function verbatimIn({ sentence, places }: SentenceFinding, index: QuoteIndex): CheckedSentence['verbatim'] {
  const quoted = quotationsIn(sentence).map(({ quote }) => quote)
  const whole = outsideQuotations(sentence)
    .replace(/ ?\[[^\]]*\]\.?/g, '')
    .trim()
  return (quoted.length > 0 ? quoted : [whole]).flatMap((quote) =>
    places.flatMap((place) => {
      const found = checkQuote(index, quote, `${place}`)
      return found?.verdict === 'found' ? [{ place, start: found.start, end: found.end }] : []
    }),
  )
}
