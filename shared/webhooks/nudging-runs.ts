import { earlier, OUTBOX_GRACE_MS } from '../runs/check-at.ts'
import type { RunKey, RunStore } from '../runs/run-store.ts'
import { wants } from './endpoint-entry.ts'
import type { WebhookEndpoint } from './webhook-settings.ts'

/**
 * The run store of a place with webhooks: an append of an event that an endpoint wants asks for the run to be looked at
 * within a minute, in its own update, and nudges. What is owed stands in HEAD without that: it only makes it prompt.
 */
export function nudgingRuns(
  runs: RunStore,
  endpoints: readonly WebhookEndpoint[],
  nudge: (run: RunKey) => Promise<void>,
): RunStore {
  if (endpoints.length === 0) return runs
  return {
    ...runs,
    async append(append) {
      const own = endpoints.filter(({ tenant }) => tenant === append.run.tenant)
      const isWanted = append.events.some(({ type }) => own.some((endpoint) => wants(endpoint, type)))
      if (!isWanted) return runs.append(append)
      const soon = new Date(Date.parse(append.at) + OUTBOX_GRACE_MS).toISOString()
      const done = await runs.append({ ...append, check_at: earlier(append.check_at, soon) })
      // Who owes something else besides nudges by itself.
      if (done.ok && (append.outbox ?? []).length === 0) await nudge(append.run)
      return done
    },
  }
}
