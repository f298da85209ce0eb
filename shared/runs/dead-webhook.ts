import * as z from 'zod'

const text = z.string()

/** A message that was given up: what it was, and how its last try went. The message itself is made again of its event. */
export const DeadWebhookSchema = z.strictObject({
  id: text.describe('The webhook-id of the message: run, event and endpoint'),
  endpoint: text,
  run_id: text,
  seq: z.int().min(1),
  type: text,
  event_at: text.describe('When the event happened'),
  tries: z.int().min(1),
  last: z.strictObject({
    at: text,
    status: z.int().exactOptional().describe('What the endpoint answered; absent = it did not'),
    reason: text,
  }),
  delivered_at: text.exactOptional().describe('When a replay was taken; absent = it still is dead'),
})
export type DeadWebhook = z.output<typeof DeadWebhookSchema>

/** Messages nobody took, kept for `retention_days`. */
export interface DeadWebhooks {
  /** Once: what is there stays. */
  buryWebhook(tenant: string, dead: DeadWebhook): Promise<void>
  /** After a replay: how it went. One that is not there stays so. */
  replayedWebhook(tenant: string, dead: DeadWebhook): Promise<void>
  /** By the time of its event and its id. */
  deadWebhook(tenant: string, of: Pick<DeadWebhook, 'id' | 'event_at'>): Promise<DeadWebhook | undefined>
  /** Latest event first, those a replay has delivered too; another text than a `next` of this tenant: Fault InvalidInput bad_cursor. */
  deadWebhooks(
    tenant: string,
    page: { readonly limit: number; readonly after?: string },
  ): Promise<{ readonly dead: readonly DeadWebhook[]; readonly next?: string }>
}
