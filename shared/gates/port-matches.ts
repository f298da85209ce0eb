import { matches } from './matches.ts'
import { withPortText } from './port-text.ts'

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
