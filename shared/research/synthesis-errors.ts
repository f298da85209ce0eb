import { UNSUPPORTED_MARK } from './answer-notes.ts'
import { isGrounded, type SentenceFinding } from './check-synthesis.ts'

/** What a synthesizer is told before it is asked once more: a line for each sentence that does not hold; empty = all do. */
export function synthesisErrors(findings: readonly SentenceFinding[]): readonly string[] {
  return findings
    .flatMap((finding, at) => (isGrounded(finding) ? [] : [`Sentence ${at + 1}: ${faultsOf(finding).join('; ')}.`]))
    .slice(0, LISTED)
}

/** More would not help and cost tokens. */
const LISTED = 10

/** What is wrong with a sentence that is unsupported, each in the middle of a sentence; never none. */
export function faultsOf({
  sentence,
  places,
  unknown_refs,
  bad_quotes,
  bad_numbers,
}: SentenceFinding): readonly string[] {
  const isPlain = places.length > 0 && unknown_refs.length + bad_quotes.length + bad_numbers.length === 0
  return [
    ...(sentence.includes(UNSUPPORTED_MARK) ? [`it says ${UNSUPPORTED_MARK}`] : []),
    ...(isPlain
      ? ['no one passage of what it cites says it: use its words, in its order, with its negation and bounds']
      : []),
    ...unknown_refs.map((ref) => `[${ref.slice(0, 100)}] names no evidence`),
    ...(places.length > 0 || unknown_refs.length > 0 ? [] : ['it cites no evidence']),
    ...bad_quotes.map(({ quote, verdict }) => `"${quote.slice(0, 100)}" ${VERDICTS[verdict]}`),
    ...bad_numbers.map((number) => `${number} is not in the evidence it cites`),
  ]
}

const VERDICTS: Readonly<Record<SentenceFinding['bad_quotes'][number]['verdict'], string>> = {
  found: 'stands there',
  misattributed: 'stands in other evidence',
  frankenquote: 'is put together from several places',
  not_found: 'stands nowhere in the evidence word for word',
}
