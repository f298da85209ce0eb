import type { QueuedRun, RunQueue } from '../../../shared/runs/run-store.ts'
import { headKey } from './head.ts'
import { as, from, type Item } from './item-encoding.ts'
import type { RunTable } from './table.ts'

/**
 * One item a run that waits, by rank, in a partition of their own: the only items anybody may delete (infra/aws). And
 * the update of HEAD that lets a run go.
 */
export function runQueueOn(table: RunTable): RunQueue {
  return {
    async enqueue(queued) {
      await table.put({ ...queuedRunKey(queued), at: as.text(queued.at), run_id: as.text(queued.run_id) })
    },
    async queued(tenant, limit) {
      const items = await table.all(queueKey(tenant, ''), limit)
      return items.map((item) => ({ tenant, run_id: from.text(item, 'run_id'), at: from.text(item, 'at') }))
    },
    dequeue: (queued) => table.remove(queuedRunKey(queued)),
    async releaseQueued(run, { at, deadline_at, check_at }) {
      const nonce = table.nonce()
      const released = await table.update(headKey(run), ({ path, value }) => {
        const start = as.json({ id: 'start', at, kind: 'start_run' })
        const set = [
          `${path('outbox', 'start')} = ${value(start)}`,
          `${path('deadline_at')} = ${value(as.text(deadline_at))}`,
          `${path('check_at')} = ${value(as.text(check_at))}`,
          `${path('released')} = ${value(as.text(nonce))}`,
        ]
        return {
          update: `SET ${set.join(', ')} REMOVE ${path('queued')}`,
          condition: `attribute_exists(${path('queued')}) AND ${path('state')} = ${value(as.text('running'))}`,
        }
      })
      if (released.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = released.sent > 1 ? await table.get(headKey(run), { only: [['released']] }) : undefined
      return now?.released?.S === nonce
    },
  }
}

function queuedRunKey({ tenant, at, run_id }: QueuedRun): Item {
  return queueKey(tenant, `${at}#${run_id}`)
}

function queueKey(tenant: string, sk: string): Item {
  return { pk: as.text(`T#${tenant}#QUEUE`), sk: as.text(sk) }
}
