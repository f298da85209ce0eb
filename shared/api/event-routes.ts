import * as z from 'zod'
import { EVENT_KEY_RULE, EVENT_LIMITS, EVENT_NAME_RULE, isEventKey, isEventName } from '../runs/outside-event.ts'
import { DURATION_RULE, durationWords, readDuration } from '../text/duration.ts'
import type { Json } from '../text/json.ts'
import type { RouteSchema } from './route-schema.ts'

const text = z.string()
const { kept_sec, most_kept_sec, payload_bytes, id_characters } = EVENT_LIMITS

const isKept = (given: unknown) => {
  const seconds = readDuration(given)
  return seconds !== undefined && seconds >= 1 && seconds <= most_kept_sec
}

/** Events of outside, and answers to callbacks (docs/dag.md, "Wait"). */
export const EVENT_ROUTES = {
  'send-event': {
    summary: 'Say that something happened: every wait for it is woken, and it is kept for waits that come later',
    body: z.strictObject({
      name: text.refine(isEventName, `a name is ${EVENT_NAME_RULE}`),
      key: text
        .refine((key) => isEventKey(key), `a key is ${EVENT_KEY_RULE}`)
        .optional()
        .describe('What it is about: waits that name a key see only events of that key'),
      payload: z
        .custom<Json>((value) => value !== undefined)
        .optional()
        .describe(`Any JSON, ${payload_bytes} bytes at most; default {}`),
      id: text
        .refine(
          (id) => isEventKey(id, id_characters),
          `an id is 1 to ${id_characters} characters without control characters`,
        )
        .optional()
        .describe('The same id again is the same event; default: a new one'),
      expires_in: z
        .union([text, z.number()])
        .refine(isKept, `allowed are ${DURATION_RULE}, from 1s to ${durationWords(most_kept_sec)}`)
        .optional()
        .describe(
          `How long it is kept: 90s, 2h, 7d, or seconds; default ${durationWords(kept_sec)}, at most ${durationWords(most_kept_sec)}`,
        ),
    }),
    answer: z.strictObject({
      event: z.strictObject({
        id: text,
        name: text,
        key: text.optional(),
        at: text.describe('When it was taken first'),
        expires_at: text,
      }),
      woken: z.int().min(0).describe('Waits that ended by it now'),
      all: z.boolean().describe('false: there was no time to look at every wait; the sweep looks at the others'),
    }),
  },
  /** Its own handler reads the request: nobody is authenticated but by the address. */
  'answer-callback': {
    summary: 'Answer the callback of a block, once; the address is all it takes',
    params: z.strictObject({ token: text.describe('As the output callback_url of the block has it') }),
    body: z.custom<Json>(() => true).describe('JSON whose members become the outputs of the block, or text/plain'),
    answer: z.strictObject({
      status: z.literal('taken'),
      at: text,
      run_id: text,
      block_id: text,
    }),
  },
} as const satisfies Record<string, RouteSchema>
