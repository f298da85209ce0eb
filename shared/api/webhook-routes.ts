import * as z from 'zod'
import { DeadWebhookSchema } from '../runs/dead-webhook.ts'
import { queryInt, type RouteSchema } from './route-schema.ts'

const text = z.string()

/** How one request to an endpoint, or one event for a bus, went. */
const sent = {
  id: text.describe('The webhook-id that was sent'),
  endpoint: text,
  delivered: z.boolean().describe('The endpoint answered 200 to 299, or the bus took the event'),
  status: z.int().optional().describe('What it answered; absent = it did not, or is a bus'),
  reason: text.optional().describe('Why it was not taken'),
}

/** Routes about outgoing webhooks. */
export const WEBHOOK_ROUTES = {
  'list-webhooks': {
    summary: 'The configured webhooks, without what may be a secret of their URLs, and the buses',
    answer: z.strictObject({
      webhooks: z.array(
        z.strictObject({
          name: text,
          host: text,
          events: z.union([z.literal('all'), z.array(text)]),
          dags: z.array(text).optional().describe('Absent = of all'),
          keys: z.int().min(1).describe('Two while the secret is rotated'),
          timeout_ms: z.int(),
          give_up_sec: z.int(),
        }),
      ),
      buses: z.array(
        z.strictObject({
          name: text,
          bus: text.describe('Of EventBridge: its name or ARN; the local place writes a file instead'),
          events: z.union([z.literal('all'), z.array(text)]),
          dags: z.array(text).optional().describe('Absent = of all'),
          give_up_sec: z.int(),
        }),
      ),
    }),
  },
  'test-webhook': {
    summary: 'Send a message of type webhook:test to an endpoint or a bus, once and now',
    body: z.strictObject({ name: text.min(1).max(31) }),
    answer: z.strictObject(sent),
  },
  'list-dead-webhooks': {
    summary: 'Messages that were given up, latest event first',
    query: z.strictObject({
      endpoint: text.min(1).max(31).optional(),
      delivered: z.enum(['true']).optional().describe('Also those a replay has delivered'),
      limit: queryInt(1, 100, 20),
      cursor: text.min(1).max(500).optional(),
    }),
    answer: z.strictObject({
      dead: z.array(DeadWebhookSchema),
      next_cursor: text.nullable().describe('null ends the list; a page before that may be short'),
    }),
  },
  'replay-webhook': {
    summary: 'Send a message that was given up again, once and now; taken, it is dead no more',
    body: z.strictObject({ id: text.min(1).max(100) }),
    answer: z.strictObject({ ...sent, dead: DeadWebhookSchema.describe('As it is now') }),
  },
} as const satisfies Record<string, RouteSchema>
