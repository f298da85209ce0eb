import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import type { Json } from '../text/json.ts'

const text = z.string()
const count = z.int().min(0)

/** A call as the model asked for it, in the order it did. */
const AskedCallSchema = z.strictObject({ id: text, tool: text, arguments: text })
export type AskedCall = z.infer<typeof AskedCallSchema>

/** What one turn of an agent came to: the value of its output `turn`. */
export const TurnRecordSchema = z.strictObject({
  v: z.literal(1),
  /** What the user's side said before it, after the prompt and what its tools gave. */
  told: z.exactOptional(text),
  /** What the model said. */
  text,
  calls: z.array(AskedCallSchema).max(LIMITS.agent_calls_per_turn),
  finish_reason: text,
  /** What the provider wants to see again. */
  opaque: z.exactOptional(z.custom<Json>()),
  /** Something untrusted was among what the model had seen. */
  tainted: z.boolean(),
  /** Calls of each tool in the turns before it. */
  called: z.record(text, count),
})
export type TurnRecord = z.infer<typeof TurnRecordSchema>

/** The name of a turn's output. */
export const TURN_PORT = 'turn'
