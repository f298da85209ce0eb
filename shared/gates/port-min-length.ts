import { minLength } from './min-length.ts'
import { withPortText } from './port-text.ts'

const { judges: _, ...length } = minLength

/**
 * The name existing DAG files use for min_length. There everything is measured as text: what is none (a list too, whose
 * items `min_length` counts) as its canonical JSON text. An empty list or object has none.
 */
export const portMinLength: typeof minLength = {
  ...length,
  type: 'port_min_length',
  summary:
    'Passes when the text of the port has at least `min` characters (code points); what is no text is measured as its canonical JSON text, an empty list or object as none.',
  examples: [
    { check: { port: 'plan', min: 5 }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'plan', min: 20 }, outputs: { plan: { steps: ['dig', 'sow', 'water'] } }, passes: true },
    { check: { port: 'steps', min: 1 }, outputs: { steps: [] }, passes: false },
  ],
  check: (params, facts, ports) => minLength.check(params, withPortText(facts, params.port, ''), ports),
}
