import * as z from 'zod'
import type { Isolate } from '../../ports/isolate.ts'
import { type LinearPattern, linearPattern } from '../../text/linear-pattern.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, withPortText, wrongTypeResult } from '../read-facts.ts'
import { readSchemaAnswer } from '../schema-limits.ts'

/** Bytes of text one pattern may search. */
const MAX_BYTES = 1_048_576
/** Steps times characters done on the event loop: about 100 ms at worst (measured: 10 ns each); more goes to the Isolate. */
const MAX_WORK_HERE = 10_000_000

const MatchesSchema = z.strictObject({
  port: PortNameSchema,
  pattern: z.string().min(1),
  flags: z.string().optional(),
})
type Matches = z.infer<typeof MatchesSchema>

/** A search, not a full match, in linear time. */
export const matches: Gate<Matches> = {
  type: 'matches',
  summary: 'Passes when the pattern (RE2 syntax; flags i, m, s) is found anywhere in the text of the port.',
  params: MatchesSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  programs: ({ pattern, flags }) => [{ path: 'pattern', pattern, flags }],
  examples: [
    { check: { port: 'version', pattern: '^v\\d+\\.\\d+$' }, outputs: { version: 'v1.12' }, passes: true },
    { check: { port: 'version', pattern: '^v\\d+\\.\\d+$' }, outputs: { version: '1.12' }, passes: false },
  ],
  check,
}

async function check({ port, pattern, flags }: Matches, facts: GateFacts, ports: { readonly isolate: Isolate }) {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_BYTES) {
    const reason = `port ${port} has ${bytes} bytes of text, at most ${MAX_BYTES} can be searched`
    return { passed: false, unfit: true as const, reason, facts: { port, bytes } }
  }
  const read = linearPattern(pattern, flags)
  if (!read.ok) return { passed: false, error: true as const, reason: read.message }
  return verdict(port, text, read.pattern, ports.isolate)
}

async function verdict(port: string, text: string, pattern: LinearPattern, isolate: Isolate): Promise<CheckResult> {
  const shown = safeOneLine(pattern.source, 120)
  const found =
    pattern.steps * text.length > MAX_WORK_HERE ? await foundApart(text, pattern, isolate) : pattern.test(text)
  if (typeof found === 'string') return { passed: false, error: true, reason: `cannot search for ${shown}: ${found}` }
  const facts = { port, pattern: pattern.source, characters: text.length }
  if (found) return { passed: true, reason: `matches ${shown}`, facts }
  return { passed: false, reason: `must match ${shown}, ${text.length} characters were searched`, facts }
}

/** JSON Schema's `pattern` is the same search on the same engine, so the heavy case needs no third kind of Isolate. */
async function foundApart(text: string, pattern: LinearPattern, isolate: Isolate): Promise<boolean | string> {
  const schema = { type: 'string', pattern: pattern.source }
  const answer = readSchemaAnswer(await isolate.run('json_schema', { program: schema, input: text }))
  return answer.ok ? answer.valid : answer.message
}

const { judges: _, ...search } = matches

/**
 * The name existing DAG files use for matches. They also use it on ports that hold no text: a number, a boolean, a list
 * or an object is searched as its canonical JSON text, where `matches` refuses it.
 */
export const portMatches: typeof matches = {
  ...search,
  type: 'port_matches',
  summary:
    'Passes when the pattern (RE2 syntax; flags i, m, s) is found anywhere in the text of the port; what is no text is searched as its canonical JSON text.',
  examples: [
    ...matches.examples,
    { check: { port: 'urls', pattern: '^\\["https:' }, outputs: { urls: ['https://a.example/1.png'] }, passes: true },
    { check: { port: 'urls', pattern: '^\\["https:' }, outputs: { urls: [] }, passes: false },
    { check: { port: 'errors', pattern: '^0$' }, outputs: { errors: 0 }, passes: true },
  ],
  check: (params, facts, ports) => matches.check(params, withPortText(facts, params.port), ports),
}
