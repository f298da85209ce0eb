import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { FIRING_STATES } from '../triggers/trigger-store.ts'
import { queryInt, type RouteSchema } from './route-schema.ts'

const text = z.string()
const json = z.custom<Json>((value) => value !== undefined)
const name = text.min(1).max(128)
const params = z.strictObject({ document: name, trigger: name })
const values = z.record(text, json)

const firing = z.strictObject({
  id: text.describe('What makes it this firing: the same again is the same one'),
  at: text.describe('The time it is for: of a schedule its time, else when it came'),
  state: z.enum(FIRING_STATES).describe('owed: its run is still to be started'),
  run_id: text.optional().describe('The run it started, or will; absent where there is none'),
  by: text.optional().describe('Who fired it by hand'),
  object: z.strictObject({ key: text, bytes: z.int() }).optional().describe('What was dropped, where that fired it'),
  ended_at: text.optional(),
  tries: z.int().describe('How often its start was put off'),
  next_at: text.optional().describe('Of one that is put off: when it is tried again'),
  reason: z.strictObject({ code: text, message: text }).optional().describe('Why it is put off, skipped or failed'),
})

const shown = {
  document: text,
  name: text,
  kind: z.enum(['schedule', 'webhook', 'event', 'run', 'object']),
  says: text.describe('What fires it, in words'),
  url: text.optional().describe('Of a webhook: where messages are sent'),
  paused: z.strictObject({ by: text, at: text, reason: text.optional() }).optional(),
  next: text.optional().describe('Of a schedule that is not paused: its next time'),
  waiting: z.int().describe('Firings that are owed a start'),
  failures: z.int().describe('Firings that failed since one did not, of the newest twenty'),
  missed: z
    .strictObject({ count: z.int(), more: z.boolean().optional(), last: text })
    .optional()
    .describe('Times that passed while nobody looked and that nothing was made up for, all of them so far'),
  last: firing.optional().describe('The newest firing'),
}

const one = z.strictObject(shown)

/** Routes about what starts runs by itself. */
export const TRIGGER_ROUTES = {
  'list-triggers': {
    summary: 'What starts runs of the deployed documents by itself, and where it stands',
    answer: z.strictObject({
      triggers: z.array(one),
      unsound: z.array(text).describe('Documents in which something of their triggers is wrong: that does not start'),
    }),
  },
  'get-trigger': {
    summary: 'One trigger and its firings, newest first',
    params,
    query: z.strictObject({ limit: queryInt(1, 100, 20), cursor: text.min(1).max(500).optional() }),
    answer: z.strictObject({
      trigger: one,
      next_times: z.array(text).describe('Of a schedule: the next five'),
      firings: z.array(firing),
      next_cursor: text.nullable().describe('null ends the list; a page before that may be short'),
    }),
  },
  'change-trigger': {
    summary: 'Pause a trigger, or let it go on: what would have fired it meanwhile is not made up for',
    params,
    body: z.strictObject({ paused: z.boolean(), reason: text.min(1).max(300).optional() }),
    answer: z.strictObject({ trigger: one, changed: z.boolean().describe('false: it was so already') }),
  },
  'fire-trigger': {
    summary: 'Fire a trigger by hand, also one that is paused: one run, whose starter it is, with the person behind it',
    params,
    body: z.strictObject({
      inputs: values.optional().describe('Run inputs that go before those of the document'),
      body: json
        .optional()
        .describe(
          'Of a webhook: the message; of an event: its payload; of the end of a run: its outputs, by block and port; of an object: what expressions read of it, as {"ref": "objstore://..", "key": "inbox/a.csv"}',
        ),
      headers: z.record(text, text).optional().describe('Of a webhook: the headers of the message'),
    }),
    status: 202,
    answer: z.strictObject({ firing: firing.describe('owed, where it is new: its run is started at once after this') }),
  },
  'try-trigger': {
    summary: 'What a firing would start, with a sample of what comes; nothing is started or kept',
    params,
    body: z.strictObject({
      body: json
        .optional()
        .describe(
          'Of a webhook: the message; of an event: its payload; of the end of a run: its outputs, by block and port; of an object: what expressions read of it, as {"ref": "objstore://..", "key": "inbox/a.csv"}',
        ),
      headers: z.record(text, text).optional().describe('Of a webhook: the headers of the message'),
      at: text
        .max(40)
        .optional()
        .describe('The time of the firing, ISO 8601; absent: now, of a schedule its next time'),
    }),
    answer: z.strictObject({
      ok: z.boolean().describe('A run would be started'),
      id: text.optional().describe('What would make it this firing'),
      known: z.boolean().describe('There was a firing of this id already: no run would be started'),
      inputs: values,
      problems: z.array(z.strictObject({ code: text, message: text })),
      next_times: z.array(text).describe('Of a schedule: the next five'),
    }),
  },
  'take-webhook': {
    summary: 'A message of a sender who proves itself by a keyed hash; the same message again is the same firing',
    params,
    body: z.unknown(),
    body_type: '*/*',
    status: 202,
    answer: z.strictObject({
      status: z
        .enum(['taken', 'known', 'failed'])
        .describe(
          'known: this message, or one of the same key, came before; failed: so it did, and its start has failed',
        ),
      firing: text,
      run_id: text
        .optional()
        .describe('The run that is started, or was; absent where there is none, or it depends on what else comes'),
    }),
  },
} as const satisfies Record<string, RouteSchema>
