import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { occurrences } from './occurrences.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const SemanticReviewSchema = z
  .strictObject({
    port: PortNameSchema,
    keywords: z.array(z.string().max(500).regex(/\S/, 'a keyword is not blank')).min(1).max(100),
    min_matches: z.int().min(1).default(1),
  })
  .refine(({ keywords, min_matches }) => min_matches <= distinct(keywords).length, {
    path: ['min_matches'],
    message: 'more matches are wanted than there are different keywords: it could never pass',
  })
type SemanticReview = z.infer<typeof SemanticReviewSchema>

/** Keyword coverage; a second model is another gate (llm_review). */
export const semanticReview: Gate<SemanticReview> = {
  type: 'semantic_review',
  summary: 'Passes when at least `min_matches` of the keywords occur in the text of the port, whatever their case.',
  params: SemanticReviewSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'report', keywords: ['method', 'result', 'limits'], min_matches: 2 },
      outputs: { report: 'The method gave one result.' },
      passes: true,
    },
    { check: { port: 'report', keywords: ['method'] }, outputs: { report: 'It went well.' }, passes: false },
  ],
  check,
}

function check({ port, keywords, min_matches }: SemanticReview, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const { found, missing } = occurrences(text, distinct(keywords), false)
  const seen = { port, found: found.length, missing }
  if (found.length >= min_matches) {
    return { passed: true, reason: `contains ${found.length} keywords, ${min_matches} wanted`, facts: seen }
  }
  const reason = `must contain at least ${min_matches} of the keywords ${quoted(keywords)}; found ${found.length}`
  return { passed: false, reason, facts: seen }
}

/** Keywords that differ by more than case: one word written twice is one match. */
function distinct(keywords: readonly string[]): string[] {
  return [...new Map(keywords.toReversed().map((word) => [word.toUpperCase(), word])).values()].toReversed()
}
