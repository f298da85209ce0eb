import * as z from 'zod'
import { firstJson } from '../gates/first-json.ts'
import type { Classification } from './classify-keywords.ts'
import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { refuseRange } from './payload-rules.ts'
import { readSearchHints } from './search-hints.ts'

/** A model's classification (tier 3). Hints that are not of their form are left out, as a caller's are. */
export function readClassification(text: string): Decoded<Classification> {
  const read = readPayload(ANSWER, firstJson(text))
  if (!read.ok) return read
  const { intent, confidence, hints = {} } = read.value
  return { ok: true, value: { tier: '3', intent: intent.slice(0, 200), confidence, hints: readSearchHints(hints) } }
}

const AnswerSchema = z.object({
  intent: z.string(),
  confidence: z.number(),
  hints: z.record(z.string(), z.unknown()).optional(),
})

const ANSWER: PayloadKind<z.output<typeof AnswerSchema>> = {
  schema: AnswerSchema,
  validate: ({ confidence }) => refuseRange('confidence', confidence, { most: 1 }),
}
