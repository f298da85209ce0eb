import type { StartHolds } from '../../../shared/runs/start-hold.ts'
import { as, type Item } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'

/** SWITCH: the hold of a tenant's starts, if there is one. */
export function holdsOf(table: RunTable): StartHolds {
  return {
    async startHold(tenant) {
      const item = await table.get(switchKey(tenant))
      return item?.hold?.S === undefined ? undefined : JSON.parse(item.hold.S)
    },
    async holdStarts(tenant, hold) {
      await table.update(switchKey(tenant), ({ path, value }) => {
        const at = value(as.text(hold.at))
        return {
          update: `SET ${path('hold')} = ${value(as.json(hold))}, ${path('at')} = ${at}`,
          condition: `attribute_not_exists(${path('hold')}) OR ${path('at')} < ${at}`,
        }
      })
    },
    async releaseStarts(tenant) {
      const nonce = table.nonce()
      const released = await table.update(switchKey(tenant), ({ path, value }) => ({
        update: `SET ${path('released')} = ${value(as.text(nonce))} REMOVE ${path('hold')}, ${path('at')}`,
        condition: `attribute_exists(${path('hold')})`,
      }))
      if (released.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = released.sent > 1 ? await table.get(switchKey(tenant)) : undefined
      return now?.released?.S === nonce
    },
  }
}

function switchKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}`), sk: as.text('SWITCH') }
}
