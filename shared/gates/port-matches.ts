import { canonicalJson, type Json } from '../canonical.ts'
import type { GateFacts } from './gate.ts'
import { matches } from './matches.ts'
import { readPort } from './read-port.ts'

/**
 * The name existing DAG files use for matches. They also use it on ports of type json: a list or an object is searched
 * as its canonical JSON text, where `matches` refuses what is no text.
 */
export const portMatches: typeof matches = {
  ...matches,
  type: 'port_matches',
  summary:
    'Passes when the pattern (RE2 syntax; flags i, m, s) is found anywhere in the text of the port; a list or an object is searched as its canonical JSON text.',
  examples: [
    ...matches.examples,
    { check: { port: 'urls', pattern: '^\\["https:' }, outputs: { urls: ['https://a.example/1.png'] }, passes: true },
    { check: { port: 'urls', pattern: '^\\["https:' }, outputs: { urls: [] }, passes: false },
  ],
  check: (params, facts, ports) => matches.check(params, asText(params.port, facts), ports),
}

function asText(port: string, facts: GateFacts): GateFacts {
  const value = readPort(facts, port)
  const text = typeof value === 'object' && value !== null ? canonicalText(value) : undefined
  return text === undefined ? facts : { ...facts, outputs: { ...facts.outputs, [port]: text } }
}

/** undefined: it holds what is no JSON (NaN), and stays what it is, so that the check refuses it. */
function canonicalText(value: Json): string | undefined {
  try {
    return canonicalJson(value)
  } catch {
    return undefined
  }
}
