import * as z from 'zod'
import { ownCitations } from '../research/quotations.ts'
import { MAX_CITING_BYTES } from './citations.ts'
import { readEvidence } from './evidence-port.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readText } from './port-text.ts'

const CitationExistsSchema = z.strictObject({
  port: PortNameSchema,
  evidence: PortNameSchema,
  min: z.int().min(0).max(10_000).default(1),
})
type CitationExists = z.infer<typeof CitationExistsSchema>

/** What a citation is: citations.ts. */
export const citationExists: Gate<CitationExists> = {
  type: 'citation_exists',
  summary:
    'Passes when every citation of the text ([id], [^id], [1, 2]) names an item of the evidence (a list of {id, text}, or of texts, cited by their place from 1) and there are at least `min`. A citation inside a quotation is that of whom is quoted, and none of the text.',
  params: CitationExistsSchema,
  reads: ({ port, evidence }) => [port, evidence],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'answer', evidence: 'sources' },
      inputs: { sources: [{ id: 'census', text: 'Oslo has 717710 inhabitants.' }] },
      outputs: { answer: 'Oslo grows [census].' },
      passes: true,
    },
    {
      check: { port: 'answer', evidence: 'sources' },
      inputs: { sources: ['Oslo has 717710 inhabitants.'] },
      outputs: { answer: 'Oslo grows [2].' },
      passes: false,
    },
  ],
  check,
}

function check({ port, evidence, min }: CitationExists, facts: GateFacts): CheckResult {
  const read = readText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = readEvidence(facts, evidence)
  if ('unfit' in given) return given.unfit
  const known = new Set(given.sources.map(({ id }) => id))
  const cited = new Set(ownCitations(read.text).flatMap(({ ids }) => ids))
  const unknown = [...cited].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 5)
    const wanted = `the evidence has ${quoted([...known].slice(0, 5))}${known.size > 5 ? ' and more' : ''}`
    return {
      passed: false,
      reason: `must cite only the evidence: there is no ${quoted(shown)}; ${wanted}`,
      facts: { port, unknown },
    }
  }
  const told = { port, cited: cited.size }
  if (cited.size >= min) return { passed: true, reason: `cites ${cited.size} items of the evidence`, facts: told }
  const reason = `must cite at least ${min} items of the evidence as [id], cites ${cited.size}`
  return { passed: false, reason, facts: told }
}
