import { quotationsIn } from '../../research/quotations.ts'
import { checkQuote } from '../../research/quote.ts'
import type { QuoteIndex } from '../../research/quote-index.ts'
import { sourceOf } from '../criteria/source-of.ts'
import type { PlacedMarker } from '../evidence.ts'
import type { JudgedFinding } from '../verified-findings.ts'
import type { Challenge, CheckedRecord } from './challenge.ts'

/** Does what a finding and the citations before it quote stand in the stored sources, word for word? */
export function challengeReferences({ finding, before }: JudgedFinding, record: CheckedRecord): readonly Challenge[] {
  const citations = before.filter(({ type }) => type === 'CITATION').toReversed()
  const found = [...citations, finding].flatMap((marker) => referenceChallenges(marker, record.quotes))
  if (found.length > 0) return found
  const message = `the finding of line ${finding.line} quotes nothing and cites nothing`
  return [{ type: 'reference', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

/** The same of one marker: the source a citation names is stored, and each quotation stands in it. */
function referenceChallenges(marker: PlacedMarker, index: QuoteIndex): readonly Challenge[] {
  const id = marker.type === 'CITATION' ? marker.subtype : undefined
  const source = sourceOf(marker)
  const quotes = quotationsIn(marker.content).flatMap(({ quote }): readonly Challenge[] => {
    const finding = checkQuote(index, quote, id)
    if (finding === undefined) return []
    const upheld = finding.verdict === 'found'
    const message = `the quotation ${JSON.stringify(quote.slice(0, 80))} ${VERDICTS[finding.verdict]}`
    return [{ type: 'reference', outcome: upheld ? 'upheld' : 'refuted', message, source }]
  })
  if (id === undefined) return quotes
  const stored = index.bodies.some((body) => body.source.id === id)
  const message = `the source ${JSON.stringify(id)} is ${stored ? '' : 'not '}stored`
  return [{ type: 'reference', outcome: stored ? 'upheld' : 'refuted', message, source }, ...quotes]
}

const VERDICTS = {
  found: 'is found',
  misattributed: 'stands in another source than the one named',
  frankenquote: 'is put together from parts',
  not_found: 'stands in no stored source',
} as const
