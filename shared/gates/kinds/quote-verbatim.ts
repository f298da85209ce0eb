import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { safeOneLine } from '../../text/redact.ts'
import { checkQuote, indexQuoteSources, type QuoteFinding } from '../../text/verbatim-quotes.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, readPortEvidence, wrongTypeResult } from '../read-facts.ts'

const MAX_QUOTES = 500
/** Words of evidence times quotes: about 300 ms at worst (every quote spliced). */
const MAX_WORK = 20_000_000

const QuoteVerbatimSchema = z.strictObject({
  port: PortNameSchema,
  evidence: PortNameSchema,
  min: z.int().min(0).max(MAX_QUOTES).default(1),
})
type QuoteVerbatim = z.infer<typeof QuoteVerbatimSchema>

/** What a found quote is: shared/text/verbatim-quotes.ts. */
export const quoteVerbatim: Gate<QuoteVerbatim> = {
  type: 'quote_verbatim',
  summary:
    'Passes when every quote (a list of texts or of {quote, source_id}) stands word for word in the evidence (a list of {id, text}, of texts, or one text), in its own source where it names one, and at least `min` count: only how it is set may differ (whitespace, dashes, quote marks, ligatures, soft hyphens, hyphens at the end of a line, the case of its first letter, its last mark), marks around a quote and Markdown `>` before it are none of it, right behind `not`, `it is not true that` or `failed to`, or without its `if` or `unless`, it is cut and does not pass, and under 12 characters a quote does not count.',
  params: QuoteVerbatimSchema,
  reads: ({ port, evidence }) => [port, evidence],
  judges: ({ port }, name) => (name === port ? [] : ['text']),
  examples: [
    {
      check: { port: 'quotes', evidence: 'sources' },
      inputs: { sources: [{ id: 'report', text: 'The bridge is not safe for lorries.' }] },
      outputs: { quotes: [{ quote: 'not safe for lorries', source_id: 'report' }] },
      passes: true,
    },
    {
      check: { port: 'quotes', evidence: 'sources' },
      inputs: { sources: ['The bridge is not safe for lorries.'] },
      outputs: { quotes: ['The bridge is safe for lorries.'] },
      passes: false,
    },
  ],
  check,
}

interface Quote {
  readonly quote: string
  readonly source_id?: string
}

function check({ port, evidence, min }: QuoteVerbatim, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const quotes = readQuotes(value)
  if (quotes === undefined) return wrongTypeResult(port, 'a list of quotes (texts or {quote, source_id})', value)
  if (quotes.length > MAX_QUOTES) return tooMuch(port, `at most ${MAX_QUOTES} quotes are checked`, quotes.length)
  const read = readPortEvidence(facts, evidence)
  if ('unfit' in read) return read.unfit
  const index = indexQuoteSources(read.sources)
  const words = index.bodies.reduce((sum, body) => sum + body.words.length, 0)
  if (words * quotes.length > MAX_WORK) {
    return tooMuch(port, `at most ${MAX_WORK} words are searched (quotes times words of evidence)`, quotes.length)
  }
  const findings = quotes.map(({ quote, source_id }) => checkQuote(index, quote, source_id))
  return verdict(port, min, quotes, findings)
}

function readQuotes(value: Json | undefined): readonly Quote[] | undefined {
  if (!Array.isArray(value)) return undefined
  const quotes = value.slice(0, MAX_QUOTES + 1).map(readQuote)
  return quotes.some((quote) => quote === undefined) ? undefined : quotes.filter((quote) => quote !== undefined)
}

function readQuote(item: Json): Quote | undefined {
  if (typeof item === 'string') return { quote: item }
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const { quote, source_id } = item as Readonly<Record<string, Json>>
  const source = source_id ?? undefined
  if (typeof quote !== 'string') return undefined
  if (source === undefined) return { quote }
  return typeof source === 'string' || Number.isSafeInteger(source) ? { quote, source_id: String(source) } : undefined
}

function verdict(
  port: string,
  min: number,
  quotes: readonly Quote[],
  findings: readonly (QuoteFinding | undefined)[],
): CheckResult {
  const bad = findings.findIndex((finding) => finding !== undefined && finding.verdict !== 'found')
  const finding = findings[bad]
  const found = findings.filter((one) => one?.verdict === 'found').length
  if (finding !== undefined) {
    const reason = `must quote word for word: quote ${bad + 1} "${safeOneLine(quotes[bad]?.quote ?? '', 80)}" ${say(finding)}`
    return { passed: false, reason, facts: { port, quote: bad + 1, ...finding } }
  }
  if (found < min) {
    const reason = `must have at least ${min} quotes of 12 characters or more, has ${found}`
    return { passed: false, reason, facts: { port, found } }
  }
  const [first] = findings.filter((one) => one !== undefined)
  return { passed: true, reason: `${found} quotes stand in the evidence`, facts: { port, found, ...first } }
}

function say(finding: QuoteFinding): string {
  if (finding.verdict === 'misattributed') return `stands in source "${safeOneLine(finding.source_id, 60)}" instead`
  if (finding.verdict === 'frankenquote') return `is put together of ${finding.parts.length} parts`
  if (finding.verdict === 'cut')
    return `stands in source "${safeOneLine(finding.source_id, 60)}" right behind what denies it, or without its condition`
  return 'stands in no source'
}

function tooMuch(port: string, why: string, quotes: number): CheckResult {
  return { passed: false, unfit: true, reason: `${why}, port ${port} has ${quotes} quotes`, facts: { port, quotes } }
}
