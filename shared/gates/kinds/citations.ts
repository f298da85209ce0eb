import * as z from 'zod'
import { claimSentences, saysNoAnswer } from '../../research/claims/claim-lines.ts'
import { citationsIn, MAX_CITING_BYTES } from '../../text/citations.ts'
import { numbersIn } from '../../text/numbers.ts'
import { citationsOutsideQuotations } from '../../text/quotations.ts'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPortEvidence, readPortText } from '../read-facts.ts'

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
    'Passes when every citation of the text ([id], [^id], [1, 2]) names an item of the evidence (a list of {id, text}, or of texts, cited by their place from 1) and there are at least `min`. A citation inside a quotation is that of whom is quoted, and none of the text. An answer of research that says that it found none cites nothing, whatever it shows below.',
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
  check: checkCitations,
}

function checkCitations({ port, evidence, min }: CitationExists, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = readPortEvidence(facts, evidence)
  if ('unfit' in given) return given.unfit
  const known = new Set(given.sources.map(({ id }) => id))
  const cited = new Set(citationsOutsideQuotations(read.text).flatMap(({ ids }) => ids))
  const unknown = [...cited].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 5)
    const wanted = `the evidence has ${quotedList([...known].slice(0, 5))}${known.size > 5 ? ' and more' : ''}`
    return {
      passed: false,
      reason: `must cite only the evidence: there is no ${quotedList(shown)}; ${wanted}`,
      facts: { port, unknown },
    }
  }
  const isAnswer = !saysNoAnswer(read.text)
  const told = { port, cited: isAnswer ? cited.size : 0 }
  if (told.cited >= min) return { passed: true, reason: `cites ${told.cited} items of the evidence`, facts: told }
  const reason = `must cite at least ${min} items of the evidence as [id], ${isAnswer ? `cites ${cited.size}` : 'says that it is no answer'}`
  return { passed: false, reason, facts: told }
}

const CitationCoverageSchema = z.strictObject({
  port: PortNameSchema,
  min: z.number().gt(0).max(1).default(1),
  evidence: PortNameSchema.optional(),
})
type CitationCoverage = z.infer<typeof CitationCoverageSchema>

/** What a sentence and its citations are: as in an answer of the research chain (shared/research/claims/claim-lines.ts). */
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
  check: checkCoverage,
}

function checkCoverage({ port, min, evidence }: CitationCoverage, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = evidence === undefined ? undefined : readPortEvidence(facts, evidence)
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
  const first = safeOneLine(bare[0] ?? '', 80)
  return { passed: false, reason: `must cite at least ${min} of the sentences: ${seen}, not "${first}"`, facts: told }
}

function isCited(sentence: string, known: ReadonlySet<string> | undefined): boolean {
  return citationsOutsideQuotations(sentence).some(({ ids }) => known === undefined || ids.some((id) => known.has(id)))
}

const NumbersInEvidenceSchema = z.strictObject({ port: PortNameSchema, evidence: PortNameSchema })
type NumbersInEvidence = z.infer<typeof NumbersInEvidenceSchema>

/** How a number is read: shared/text/numbers.ts. */
export const numbersInEvidence: Gate<NumbersInEvidence> = {
  type: 'numbers_in_evidence',
  summary:
    'Passes when every number of the text occurs in the evidence with exactly the same value: 1,200 is 1200, 5 million is 5,000,000, 5% is 5 percent and never 5; what is no plain number (1.2.3, B12, 10km) must occur as written. Citations and list numbers do not count, number words are not read, a text without numbers passes.',
  params: NumbersInEvidenceSchema,
  reads: ({ port, evidence }) => [port, evidence],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'answer', evidence: 'sources' },
      inputs: { sources: ['Sales were 1,200 units in 2024, up 5 percent.'] },
      outputs: { answer: 'In 2024 they sold 1200 units (+5%) [1].' },
      passes: true,
    },
    {
      check: { port: 'answer', evidence: 'sources' },
      inputs: { sources: ['Sales were 1,200 units in 2024.'] },
      outputs: { answer: 'They sold 1,300 units.' },
      passes: false,
    },
  ],
  check: checkNumbers,
}

function checkNumbers({ port, evidence }: NumbersInEvidence, facts: GateFacts): CheckResult {
  const read = readPortText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = readPortEvidence(facts, evidence)
  if ('unfit' in given) return given.unfit
  const known = new Set(given.sources.flatMap(({ text }) => numbersIn(text).map(({ key }) => key)))
  const numbers = numbersIn(withoutLabels(read.text))
  const unknown = [...new Set(numbers.filter(({ key }) => !known.has(key)).map(({ written }) => written))]
  if (unknown.length === 0) {
    return {
      passed: true,
      reason: `all ${numbers.length} numbers are in the evidence`,
      facts: { port, numbers: numbers.length },
    }
  }
  const shown = quotedList(unknown.slice(0, 5))
  const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
  const reason = `must have only numbers of the evidence: take out or correct ${shown}${more}`
  return { passed: false, reason, facts: { port, unknown } }
}

/** Without citations and the numbers of list items. */
function withoutLabels(text: string): string {
  let from = 0
  const kept: string[] = []
  for (const { at, end } of citationsIn(text)) {
    kept.push(text.slice(from, at))
    from = end
  }
  return [...kept, text.slice(from)].join(' ').replace(/^[ \t]{0,20}\d{1,3}[.)][ \t]/gm, '')
}
