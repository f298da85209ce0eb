import type { Log } from '../../shared/ports/host.ts'
import type { Outbox } from '../../shared/world.ts'

/** The outbox of this place, and how to wait until nothing it called is still under way. */
interface LocalOutbox extends Outbox {
  settled(): Promise<void>
}

/**
 * Owed effects are performed on the next microtask, by the same functions; the sweeper repeats what fails. A start is
 * awaited: AWS would keep an asynchronous call until it worked, here only the outbox entry remembers it.
 */
export function createOutbox(invoke: (name: string, payload: unknown) => Promise<unknown>, log: Log): LocalOutbox {
  const underWay = new Set<Promise<void>>()
  const later = (name: string, payload: unknown, failed: (error: string) => void) => {
    const call: Promise<void> = Promise.resolve()
      .then(() => invoke(name, payload))
      .then(
        () => {},
        (error: unknown) => failed(String(error)),
      )
      .finally(() => underWay.delete(call))
    underWay.add(call)
  }
  return {
    async nudge({ tenant, run_id }) {
      later('send-outbox', { tenant, run_id }, (error) => log.error('owed effects not performed', { run_id, error }))
    },
    async startRun({ tenant, run_id }) {
      await invoke('start-run', { tenant, run_id })
    },
    async slackWork(work) {
      later('slack-work', work, (error) => log.error('work for Slack not done', { error }))
    },
    async webhookWork(work) {
      later('send-webhooks', work, (error) => log.error('webhook not told', { endpoint: work.endpoint, error }))
    },
    async busWork(work) {
      later('send-bus-events', work, (error) => log.error('bus not told', { bus: work.endpoint, error }))
    },
    async graphWork(work) {
      later('index-graph', work, (error) => log.error('search index not brought up', { error }))
    },
    async fireTriggers(ended) {
      later('fire-triggers', ended === undefined ? {} : { ended }, (error) =>
        log.error('triggers not looked at', { error }),
      )
    },
    async keepOrErase({ tenant, run_id }) {
      later('keep-or-erase', { tenant, run_id }, (error) => log.error('mark not looked at', { run_id, error }))
    },
    async runBulk({ tenant, bulk_id }) {
      later('run-bulk', { tenant, bulk_id }, (error) => log.error('bulk not gone on with', { bulk_id, error }))
    },
    async writeAnchor(anchor) {
      await invoke('write-anchor', anchor)
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
