import * as z from 'zod'
import { detectLanguage, LANGUAGES } from './detect-language.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readText } from './port-text.ts'

const MAX_BYTES = 1_048_576

const LanguageSchema = z.strictObject({ port: PortNameSchema, expected: z.enum(LANGUAGES) })
type Language = z.infer<typeof LanguageSchema>

/** The method: detect-language.ts. */
export const language: Gate<Language> = {
  type: 'language',
  summary:
    'Passes when the text of the port is mostly in the expected language, by its writing and function words; a text that decides nothing (fewer than 8 words, or 20 letters of a writing that tells) fails with that reason.',
  params: LanguageSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'answer', expected: 'de' },
      outputs: { answer: 'Die Brücke ist alt und wird im Sommer für den Verkehr gesperrt.' },
      passes: true,
    },
    {
      check: { port: 'answer', expected: 'de' },
      outputs: { answer: 'The bridge is old and will be closed to all traffic in the summer.' },
      passes: false,
    },
  ],
  check,
}

function check({ port, expected }: Language, facts: GateFacts): CheckResult {
  const read = readText(facts, port, MAX_BYTES)
  if ('unfit' in read) return read.unfit
  const seen = detectLanguage(read.text)
  if (seen === undefined) {
    const reason = `must be in language ${expected}, but the text is too short or too mixed to decide its language`
    return { passed: false, unfit: true, reason, facts: { port, expected } }
  }
  if (seen === expected) return { passed: true, reason: `is in language ${seen}`, facts: { port, language: seen } }
  return { passed: false, reason: `must be in language ${expected}, is in ${seen}`, facts: { port, language: seen } }
}
