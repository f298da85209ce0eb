import type { Cursors } from '../../../shared/runs/cursors.ts'
import type { DeadWebhook, DeadWebhooks } from '../../../shared/runs/dead-webhook.ts'
import { RUN_TABLE } from '../../../shared/runs/dynamodb-table.ts'
import { as, from, type Item } from './item-encoding.ts'
import { ifAbsent, type RunTable } from './table.ts'

/** DEAD#, in a partition of the tenant, by the time of the event: one item a message nobody took. */
export function deadWebhooksOn(table: RunTable, cursorsOf: (tenant: string) => Promise<Cursors>): DeadWebhooks {
  return {
    async buryWebhook(tenant, dead) {
      const item = { ...deadKey(tenant, dead), dead: as.json(dead), ttl: keep(table) }
      await table.put(item, ifAbsent)
    },
    async replayedWebhook(tenant, dead) {
      await table.update(deadKey(tenant, dead), ({ path, value }) => ({
        update: `SET ${path('dead')} = ${value(as.json(dead))}`,
        condition: `attribute_exists(${path('dead')})`,
      }))
    },
    async deadWebhook(tenant, of) {
      const item = await table.get(deadKey(tenant, of))
      return item === undefined ? undefined : read(item)
    },
    async deadWebhooks(tenant, { limit, after }) {
      const cursors = await cursorsOf(tenant)
      const [event_at = '', id = ''] = after === undefined ? [] : cursors.open(tenant, after, 'dead')
      const { items, last } = await table.query({
        where: ({ path, value }) => ({ condition: `${path(RUN_TABLE.hash)} = ${value(partition(tenant))}` }),
        backwards: true,
        limit,
        ...(after === undefined ? {} : { after: deadKey(tenant, { event_at, id }) }),
      })
      const dead = items.map(read)
      const end = dead.at(-1)
      if (last === undefined || end === undefined) return { dead }
      return { dead, next: cursors.seal(tenant, [end.event_at, end.id], 'dead') }
    },
  }
}

const DAY_SEC = 86_400

/** It is of no use when its event is gone. */
function keep({ now, retention_days }: RunTable) {
  return as.number(Math.floor(now() / 1_000) + Math.max(1, retention_days) * DAY_SEC)
}

function read(item: Item): DeadWebhook {
  return JSON.parse(from.text(item, 'dead'))
}

function partition(tenant: string) {
  return as.text(`T#${tenant}#WEBHOOKS`)
}

function deadKey(tenant: string, { event_at, id }: Pick<DeadWebhook, 'event_at' | 'id'>): Item {
  return { pk: partition(tenant), sk: as.text(`DEAD#${event_at}#${id}`) }
}
