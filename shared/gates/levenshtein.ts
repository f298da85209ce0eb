import * as z from 'zod'
import { editDistance } from './edit-distance.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

/** Code points of each side: with the widest band some 40 ms at worst (measured). */
const MAX_CHARACTERS = 5_000

const LevenshteinSchema = z
  .strictObject({
    port: PortNameSchema,
    text: z.string().max(MAX_CHARACTERS).optional(),
    other: PortNameSchema.optional(),
    max: z.int().min(0).max(500),
  })
  .refine(({ text, other }) => (text === undefined) !== (other === undefined), 'needs either text or other (a port)')
type Levenshtein = z.infer<typeof LevenshteinSchema>

/** Levenshtein's distance (1966) over code points. */
export const levenshtein: Gate<Levenshtein> = {
  type: 'levenshtein',
  summary: 'Passes when at most `max` characters must be changed, added or taken out to make the port the wanted text.',
  params: LevenshteinSchema,
  reads: ({ port, other }) => (other === undefined ? [port] : [port, other]),
  judges: () => ['text'],
  examples: [
    { check: { port: 'name', text: 'Reykjavik', max: 1 }, outputs: { name: 'Reykjavík' }, passes: true },
    {
      check: { port: 'name', other: 'wanted', max: 1 },
      inputs: { wanted: 'Oslo' },
      outputs: { name: 'Bergen' },
      passes: false,
    },
  ],
  check,
}

function check({ port, text, other, max }: Levenshtein, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (typeof seen !== 'string') return wrongType(port, 'text', seen)
  const wanted = text ?? readPort(facts, other ?? '')
  if (typeof wanted !== 'string') return wrongType(other ?? '', 'text', wanted)
  if (seen.length > 2 * MAX_CHARACTERS || wanted.length > 2 * MAX_CHARACTERS) return tooLong(port, seen)
  const [a, b] = [[...seen], [...wanted]]
  if (a.length > MAX_CHARACTERS || b.length > MAX_CHARACTERS) return tooLong(port, seen)
  const distance = editDistance(a, b, max)
  if (distance !== undefined) {
    return {
      passed: true,
      reason: `is ${distance} changes away, at most ${max} wanted`,
      facts: { port, distance, max },
    }
  }
  const reason = `must be at most ${max} changes away from ${quoted([wanted])}, is more`
  return { passed: false, reason, facts: { port, max } }
}

function tooLong(port: string, seen: string): CheckResult {
  const reason = `texts of at most ${MAX_CHARACTERS} characters are compared, port ${port} has ${seen.length}`
  return { passed: false, unfit: true, reason, facts: { port, length: seen.length } }
}
