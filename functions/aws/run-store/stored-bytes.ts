import type { StoredBytes } from '../../../shared/runs/stored-bytes.ts'
import { as, from } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'

/** So many items share what is written in one week, so that none gets hot. */
const SHARDS = 4

/** What a tenant stored, in a partition of its own: `<week>#<shard>`. */
export function storedBytesOf(table: RunTable): StoredBytes {
  return {
    async countStored(tenant, { week, bytes, ttl }) {
      const shard = table.nonce().charCodeAt(0) % SHARDS
      await table.update({ ...partition(tenant), sk: as.text(`${week}#${shard}`) }, ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(as.number(ttl))} ADD ${path('n')} ${value(as.number(bytes))}`,
      }))
    },
    async storedSince(tenant, week) {
      // The table forgets a week some time after its end: until then it is left out here.
      const counts = await table.all(partition(tenant))
      const kept = counts.filter((item) => from.text(item, 'sk') >= week)
      return kept.reduce((sum, item) => sum + from.number(item, 'n'), 0)
    },
  }
}

function partition(tenant: string) {
  return { pk: as.text(`T#${tenant}#STORED`) }
}
