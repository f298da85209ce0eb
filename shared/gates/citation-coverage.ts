import * as z from 'zod'
import { claimSentences } from '../research/claim-sentences.ts'
import { ownCitations } from '../research/quotations.ts'
import { MAX_CITING_BYTES } from './citations.ts'
import { readEvidence } from './evidence-port.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readText } from './port-text.ts'

const CitationCoverageSchema = z.strictObject({
  port: PortNameSchema,
  min: z.number().gt(0).max(1).default(1),
  evidence: PortNameSchema.optional(),
})
type CitationCoverage = z.infer<typeof CitationCoverageSchema>

/** What a sentence and its citations are: as in an answer of the research chain (claim-sentences.ts). */
export const citationCoverage: Gate<CitationCoverage> = {
  type: 'citation_coverage',
  summary:
    'Passes when the share of sentences with a citation ([id], [^id]) is at least `min` (0 to 1); with `evidence`, only citations of its items count. Headings and code fences are no sentences; a quotation belongs to one sentence, and a citation inside it to whom is quoted.',
  params: CitationCoverageSchema,
  reads: ({ port, evidence }) => (evidence === undefined ? [port] : [port, evidence]),
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'answer', min: 0.5 },
      outputs: { answer: 'The city of Oslo grows [1]. It has many new trams.' },
      passes: true,
    },
    {
      check: { port: 'answer' },
      outputs: { answer: 'The city of Oslo grows [1]. It has many new trams.' },
      passes: false,
    },
  ],
  check,
}

function check({ port, min, evidence }: CitationCoverage, facts: GateFacts): CheckResult {
  const read = readText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = evidence === undefined ? undefined : readEvidence(facts, evidence)
  if (given !== undefined && 'unfit' in given) return given.unfit
  const known = given && new Set(given.sources.map(({ id }) => id))
  const sentences = claimSentences(read.text)
  if (sentences.length === 0) {
    return { passed: false, unfit: true, reason: `port ${port} must have sentences, has none`, facts: { port } }
  }
  const bare = sentences.filter((sentence) => !isCited(sentence, known))
  const share = (sentences.length - bare.length) / sentences.length
  const told = { port, sentences: sentences.length, cited: sentences.length - bare.length, min }
  const seen = `${told.cited} of ${told.sentences} sentences are cited`
  if (share >= min) return { passed: true, reason: seen, facts: told }
  const first = oneSentence(bare[0] ?? '', 80)
  return { passed: false, reason: `must cite at least ${min} of the sentences: ${seen}, not "${first}"`, facts: told }
}

function isCited(sentence: string, known: ReadonlySet<string> | undefined): boolean {
  return ownCitations(sentence).some(({ ids }) => known === undefined || ids.some((id) => known.has(id)))
}
