import { citationsIn } from '../../../shared/gates/citations.ts'
import { checkSynthesis, isGrounded, type SentenceFinding } from '../../../shared/research/check-synthesis.ts'
import { claimLines } from '../../../shared/research/claim-sentences.ts'
import type { Evidence } from '../../../shared/research/evidence.ts'
import { refsIn } from '../../../shared/research/evidence-refs.ts'
import type { ShownEvidence } from '../../../shared/research/shown-evidence.ts'

/** One line of an answer: its claims, each held against what it cites; a note about the answer has none. */
export interface CheckedLine {
  readonly text: string
  readonly sentences: readonly CheckedSentence[]
}

export interface CheckedSentence extends SentenceFinding {
  readonly grounded: boolean
}

/**
 * An answer line by line, checked against evidence as it is stored. `degraded` is what the chain says of itself; the
 * line it wrote of that at the end, and its words for no answer, are about the answer and claim nothing.
 */
export function checkedLines(
  {
    topic,
    synthesis,
    degraded,
  }: { readonly topic: string; readonly synthesis: string; readonly degraded: readonly string[] },
  evidence: readonly (Evidence & ShownEvidence)[],
): readonly CheckedLine[] {
  const own = new Set([...NO_ANSWER, `Degraded: ${degraded.join('; ')}.`])
  return pieces(synthesis, own).flatMap((piece) =>
    own.has(piece) ? [{ text: piece, sentences: [] }] : checkedPiece(topic, piece, evidence),
  )
}

/** As shared/research/degraded-result.ts writes them. */
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

function checkedPiece(
  topic: string,
  text: string,
  evidence: readonly (Evidence & ShownEvidence)[],
): readonly CheckedLine[] {
  const findings = checkSynthesis(topic, text, evidence)
  let next = 0
  return claimLines(topic, text).map((line) => {
    const own = findings.slice(next, next + line.sentences.length)
    next += line.sentences.length
    return { text: line.text, sentences: own.map((finding) => ({ ...finding, grounded: isGrounded(finding) })) }
  })
}

/** What was found wrong with a sentence, each in words; none of one that is quoted or supported. */
export function faultWords({
  places,
  unknown_refs,
  bad_quotes,
  bad_numbers,
  status,
}: SentenceFinding): readonly string[] {
  const isPlain = places.length > 0 && unknown_refs.length + bad_quotes.length + bad_numbers.length === 0
  return [
    ...(status === 'unsupported' && isPlain ? ['no one passage of what it cites says it in these words'] : []),
    ...(places.length === 0 && unknown_refs.length === 0 ? ['it cites nothing'] : []),
    ...unknown_refs.map((ref) => `${ref} is no evidence of this answer`),
    ...bad_quotes.map(({ quote, verdict }) => `“${quote}” ${QUOTE_WORDS[verdict]}`),
    ...bad_numbers.map((number) => `${number} does not occur in what it cites`),
  ]
}

const QUOTE_WORDS = {
  found: 'stands there',
  misattributed: 'stands in other evidence than it cites',
  frankenquote: 'is put together from several places',
  not_found: 'does not stand in the evidence',
} as const

/** A text with its citations apart: `place` from 1 for those that name evidence. */
export type TextPart = string | { readonly ref: string; readonly place: number | undefined }

export function citedParts(text: string, evidence: readonly Evidence[]): readonly TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { ids, at, end } of citationsIn(text)) {
    parts.push(text.slice(from, at))
    for (const id of ids) parts.push(refsIn(`[${id}]`, evidence)[0] ?? `[${id}]`)
    from = end
  }
  return [...parts, text.slice(from)].filter((part) => part !== '')
}
