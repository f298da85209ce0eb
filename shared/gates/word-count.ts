import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'
import { MAX_WORD_BYTES, wordsOf } from './words.ts'

const WordCountSchema = z
  .strictObject({ port: PortNameSchema, min: z.int().min(0).optional(), max: z.int().min(0).optional() })
  .superRefine(({ min, max }, context) => {
    if (min === undefined && max === undefined) context.addIssue({ code: 'custom', message: 'needs min, max or both' })
    if (min !== undefined && max !== undefined && min > max) {
      context.addIssue({
        code: 'custom',
        path: ['min'],
        message: `min ${min} is above max ${max}: it could never pass`,
      })
    }
  })
type WordCount = z.infer<typeof WordCountSchema>

export const wordCount: Gate<WordCount> = {
  type: 'word_count',
  summary: 'Passes when the text of the port has at least `min` and at most `max` words (runs of letters and digits).',
  params: WordCountSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'summary', min: 2, max: 50 }, outputs: { summary: 'Short and good' }, passes: true },
    { check: { port: 'summary', max: 2 }, outputs: { summary: 'Far too long' }, passes: false },
  ],
  check,
}

function check({ port, min = 0, max = Number.MAX_SAFE_INTEGER }: WordCount, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_WORD_BYTES) {
    const reason = `port ${port} has ${bytes} bytes of text, the words of at most ${MAX_WORD_BYTES} are counted`
    return { passed: false, unfit: true, reason, facts: { port, bytes } }
  }
  const words = wordsOf(text).length
  if (words < min)
    return { passed: false, reason: `must be at least ${min} words, has ${words}`, facts: { port, words } }
  if (words > max)
    return { passed: false, reason: `must be at most ${max} words, has ${words}`, facts: { port, words } }
  return { passed: true, reason: `has ${words} words`, facts: { port, words } }
}
