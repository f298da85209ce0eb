import * as z from 'zod'
import { citationsIn, MAX_CITING_BYTES } from './citations.ts'
import { readEvidence } from './evidence-port.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { numbersIn } from './numbers-in.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readText } from './port-text.ts'

const NumbersInEvidenceSchema = z.strictObject({ port: PortNameSchema, evidence: PortNameSchema })
type NumbersInEvidence = z.infer<typeof NumbersInEvidenceSchema>

/** How a number is read: numbers-in.ts. */
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
  check,
}

function check({ port, evidence }: NumbersInEvidence, facts: GateFacts): CheckResult {
  const read = readText(facts, port, MAX_CITING_BYTES)
  if ('unfit' in read) return read.unfit
  const given = readEvidence(facts, evidence)
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
  const shown = quoted(unknown.slice(0, 5))
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
