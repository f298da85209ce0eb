import * as z from 'zod'
import { quotedList, safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, wrongTypeResult } from '../read-facts.ts'

const ContainsSchema = z.strictObject({
  port: PortNameSchema,
  values: z.array(z.string().min(1).max(500)).min(1).max(100),
  case_sensitive: z.boolean().default(false),
})
type Contains = z.infer<typeof ContainsSchema>

export const contains: Gate<Contains> = {
  type: 'contains',
  summary: 'Passes when every one of the texts in `values` occurs in the text of the port.',
  params: ContainsSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'plan', values: ['Risks', 'Costs'] },
      outputs: { plan: 'Costs and risks are known.' },
      passes: true,
    },
    { check: { port: 'plan', values: ['Risks'] }, outputs: { plan: 'All is well.' }, passes: false },
  ],
  check: checkContains,
}

function checkContains({ port, values, case_sensitive }: Contains, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const { missing } = occurrences(text, values, case_sensitive)
  // No repeat of the text in the facts: the wanted words are what a person or the next attempt needs.
  if (missing.length > 0)
    return { passed: false, reason: `must contain ${quotedList(missing)}`, facts: { port, missing } }
  return { passed: true, reason: `contains ${quotedList(values)}`, facts: { port } }
}

const ContainsAnySchema = z.strictObject({
  port: PortNameSchema,
  values: z.array(z.string().min(1).max(500)).min(1).max(100),
  case_sensitive: z.boolean().default(false),
})
type ContainsAny = z.infer<typeof ContainsAnySchema>

export const containsAny: Gate<ContainsAny> = {
  type: 'contains_any',
  summary: 'Passes when at least one of the texts in `values` occurs in the text of the port.',
  params: ContainsAnySchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'label', values: ['bug', 'feature'] }, outputs: { label: 'A new feature' }, passes: true },
    { check: { port: 'label', values: ['bug', 'feature'] }, outputs: { label: 'question' }, passes: false },
  ],
  check: checkContainsAny,
}

function checkContainsAny({ port, values, case_sensitive }: ContainsAny, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const { found } = occurrences(text, values, case_sensitive)
  if (found.length > 0) return { passed: true, reason: `contains ${quotedList(found)}`, facts: { port, found } }
  return { passed: false, reason: `must contain one of ${quotedList(values)}`, facts: { port, values } }
}

const StartsWithSchema = z.strictObject({
  port: PortNameSchema,
  value: z.string().min(1).max(1_000),
  case_sensitive: z.boolean().default(true),
})
type StartsWith = z.infer<typeof StartsWithSchema>

export const startsWith: Gate<StartsWith> = {
  type: 'starts_with',
  summary: 'Passes when the text of the port starts with `value`; spaces and line ends count.',
  params: StartsWithSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'brief', value: '# ' }, outputs: { brief: '# Title' }, passes: true },
    { check: { port: 'brief', value: '# ' }, outputs: { brief: 'Sure! # Title' }, passes: false },
  ],
  check: checkStart,
}

function checkStart({ port, value, case_sensitive }: StartsWith, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const fold = (part: string) => (case_sensitive ? part : part.toUpperCase())
  const passed = fold(text).startsWith(fold(value))
  if (passed) return { passed, reason: `starts with ${quotedList([value])}`, facts: { port, value } }
  const seen = safeOneLine(text.slice(0, 60), 60)
  return { passed, reason: `must start with ${quotedList([value])}, starts with "${seen}"`, facts: { port, value } }
}

const EndsWithSchema = z.strictObject({
  port: PortNameSchema,
  value: z.string().min(1).max(1_000),
  case_sensitive: z.boolean().default(true),
})
type EndsWith = z.infer<typeof EndsWithSchema>

export const endsWith: Gate<EndsWith> = {
  type: 'ends_with',
  summary: 'Passes when the text of the port ends with `value`; spaces and line ends count.',
  params: EndsWithSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'answer', value: '.' }, outputs: { answer: 'It is done.' }, passes: true },
    { check: { port: 'answer', value: '.' }, outputs: { answer: 'It is' }, passes: false },
  ],
  check: checkEnd,
}

function checkEnd({ port, value, case_sensitive }: EndsWith, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const fold = (part: string) => (case_sensitive ? part : part.toUpperCase())
  const passed = fold(text).endsWith(fold(value))
  if (passed) return { passed, reason: `ends with ${quotedList([value])}`, facts: { port, value } }
  const seen = safeOneLine(text.slice(-60), 60)
  return { passed, reason: `must end with ${quotedList([value])}, ends with "${seen}"`, facts: { port, value } }
}

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
  check: checkKeywords,
}

function checkKeywords({ port, keywords, min_matches }: SemanticReview, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const { found, missing } = occurrences(text, distinct(keywords), false)
  const seen = { port, found: found.length, missing }
  if (found.length >= min_matches) {
    return { passed: true, reason: `contains ${found.length} keywords, ${min_matches} wanted`, facts: seen }
  }
  const reason = `must contain at least ${min_matches} of the keywords ${quotedList(keywords)}; found ${found.length}`
  return { passed: false, reason, facts: seen }
}

/** Keywords that differ by more than case: one word written twice is one match. */
function distinct(keywords: readonly string[]): string[] {
  return [...new Map(keywords.toReversed().map((word) => [word.toUpperCase(), word])).values()].toReversed()
}

/**
 * The wanted texts split by whether they occur in `text`. Without `caseSensitive` both sides are compared in upper
 * case, which (unlike lower case) does not depend on a letter's neighbours.
 */
function occurrences(
  text: string,
  wanted: readonly string[],
  caseSensitive: boolean,
): { readonly found: readonly string[]; readonly missing: readonly string[] } {
  const fold = (part: string): string => (caseSensitive ? part : part.toUpperCase())
  const folded = fold(text)
  const found: string[] = []
  const missing: string[] = []
  for (const part of wanted) (folded.includes(fold(part)) ? found : missing).push(part)
  return { found, missing }
}
