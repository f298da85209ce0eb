import * as z from 'zod'
import type { DispatchAnswer, DispatchRequest } from './provider.ts'
import { RecordedCallSchema, recordedCall } from './recording.ts'

/** Characters of one text that was asked: what is kept for people; the hash beside it is of the whole. */
const MOST_ASKED = 65_536

const AskedSchema = z.strictObject({
  system: z.string().optional(),
  prompt: z.string(),
  /** A text was longer than is kept. */
  cut: z.literal(true).optional(),
})

/** A call as its attempt keeps it: a recorded one, and the words that were asked (absent in what was kept before they were). */
const KeptCallSchema = RecordedCallSchema.extend({ asked: AskedSchema.optional() })
export type KeptCall = z.infer<typeof KeptCallSchema>

/** What a block's attempt, or a gate's judge, was answered: the object that `raw_ref` of an event names. */
export const RawAnswersSchema = z.strictObject({ v: z.literal(1), calls: z.array(KeptCallSchema).min(1) })

export function keptCall(
  provider: string,
  request: Pick<DispatchRequest, 'system' | 'prompt' | 'model' | 'params' | 'idempotency_key'>,
  answer: DispatchAnswer,
): KeptCall {
  const { system, prompt } = request
  const isCut = prompt.length > MOST_ASKED || (system ?? '').length > MOST_ASKED
  const asked = {
    ...(system === undefined ? {} : { system: kept(system) }),
    prompt: kept(prompt),
    ...(isCut ? { cut: true as const } : {}),
  }
  return { ...recordedCall(provider, request, answer), asked }
}

/** Without half a character, which no canonical JSON can hold. */
function kept(text: string): string {
  return text.slice(0, MOST_ASKED).toWellFormed()
}
