import * as z from 'zod'
import { MAIN_TENANT } from '../auth/principal.ts'
import { TenantSchema } from '../auth/settings.ts'
import { encryptedUrl, KeySchema } from '../ports/secrets.ts'
import { RUN_ERASED } from '../runs/erasure.ts'
import { EVENT_TYPES } from '../runs/event.ts'

/** Of webhooks and buses together: each is an entry of HEAD while a run lives. */
export const MOST_ENDPOINTS = 10

const NAME = 'a small letter, then small letters, digits and dashes, 31 at most'

/** Those of the log, and what is told when the log is gone. */
const TOLD_TYPES = [...EVENT_TYPES, RUN_ERASED] as const

const EventsSchema = z.union([z.literal('all'), z.array(z.enum(TOLD_TYPES)).min(1).max(TOLD_TYPES.length)], {
  error: 'all, or a list of types of events, such as [run:completed, run:failed]',
})

const DagsSchema = z.array(z.string().min(1).max(200)).min(1).max(100)

const GiveUpSchema = z.int().min(60).max(259_200).default(86_400)

const EndpointSchema = z.strictObject({
  /** Part of every message's id. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, NAME),
  url: encryptedUrl,
  events: EventsSchema,
  /** Whose runs it is told of; no other tenant sees that there is such an endpoint. */
  tenant: TenantSchema.default(MAIN_TENANT),
  /** Runs of these DAGs alone; absent = of all. */
  dags: DagsSchema.optional(),
  /** The secret messages are signed with, `whsec_..`; two while it is rotated: both sign. */
  key: z.union([KeySchema, z.tuple([KeySchema, KeySchema])], {
    error: 'give {env: NAME} or {secret: ARN}, or a list of two while it is rotated',
  }),
  /** Of one request: API Gateway waits 29 s for a test of it. */
  timeout_ms: z.int().min(1).max(20_000).default(10_000),
  /** How long a message is tried, before it is a dead letter. */
  give_up_sec: GiveUpSchema,
})
export type WebhookEndpoint = z.infer<typeof EndpointSchema>

/** `webhooks` in sluice.yaml: who is told of events over HTTP (docs/webhooks.md). */
export const WebhookSettingsSchema = z
  .array(EndpointSchema)
  .max(MOST_ENDPOINTS)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two endpoints have one name')

const BUS = 'the name of a bus (1 to 256 letters, digits and ._-/), or its whole ARN'

const BusSchema = z.strictObject({
  /** Part of every event's id. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, NAME),
  /** By name where it is of the stage's own account and region; else by its ARN. */
  bus: z
    .string(BUS)
    .regex(/^([\w./-]{1,256}|arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]{1,256})$/, BUS)
    .default('default'),
  events: EventsSchema,
  tenant: TenantSchema.default(MAIN_TENANT),
  dags: DagsSchema.optional(),
  give_up_sec: GiveUpSchema,
})
export type Bus = z.infer<typeof BusSchema>

/** `buses` in sluice.yaml: the buses of EventBridge that events are put on (docs/webhooks.md, "EventBridge"). */
export const BusSettingsSchema = z
  .array(BusSchema)
  .max(MOST_ENDPOINTS)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two buses have one name')

/** Whoever is told of events: over HTTP, or by a bus. */
export type Endpoint = WebhookEndpoint | Bus
