import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readText } from './port-text.ts'
import { xmlProblem } from './xml-problem.ts'

const MAX_BYTES = 1_048_576

const ValidXmlSchema = z.strictObject({ port: PortNameSchema })
type ValidXml = z.infer<typeof ValidXmlSchema>

/** Well-formedness; no document type, so nothing to expand. */
export const validXml: Gate<ValidXml> = {
  type: 'valid_xml',
  summary:
    'Passes when the text of the port (at most 1 MiB) is well-formed XML 1.0 with one root; a document type (DOCTYPE) is refused, so only the five entities and character references exist.',
  params: ValidXmlSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'feed' }, outputs: { feed: '<?xml version="1.0"?><a b="1">x &amp; y</a>' }, passes: true },
    { check: { port: 'feed' }, outputs: { feed: '<a><b></a></b>' }, passes: false },
  ],
  check,
}

function check({ port }: ValidXml, facts: GateFacts): CheckResult {
  const read = readText(facts, port, MAX_BYTES)
  if ('unfit' in read) return read.unfit
  const problem = xmlProblem(read.text)
  if (problem === undefined) return { passed: true, reason: 'is well-formed XML', facts: { port } }
  const before = read.text.slice(0, problem.at).split('\n')
  const line = before.length
  const column = [...(before.at(-1) ?? '')].length + 1
  const reason = `port ${port} must be XML: line ${line}, column ${column}: ${problem.message}`
  return { passed: false, reason, facts: { port, line, column } }
}
