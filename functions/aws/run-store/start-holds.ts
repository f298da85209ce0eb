import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { StartHolds } from '../../../shared/runs/run-store.ts'
import { as, type Item } from './item-encoding.ts'
import { itemBusyFault, type RunTable } from './table.ts'

/** SWITCH: the hold of a tenant's starts, if there is one. */
export function startHoldsOn(table: RunTable): StartHolds {
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
      for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
        const seen = await table.get(switchKey(tenant))
        // An earlier try did it, and its answer was lost.
        if (seen?.released?.S === nonce) return true
        if (seen?.hold === undefined) return false
        if (await release(table, tenant, seen.hold, nonce)) return true
      }
      throw itemBusyFault('release the starts', RELEASE_TRIES)
    },
  }
}

const RELEASE_TRIES = 20

/** Only the hold that was seen: one that somebody sets while this is sent again stays. */
async function release(table: RunTable, tenant: string, hold: AttributeValue, nonce: string): Promise<boolean> {
  const released = await table.update(switchKey(tenant), ({ path, value }) => ({
    update: `SET ${path('released')} = ${value(as.text(nonce))} REMOVE ${path('hold')}, ${path('at')}`,
    condition: `${path('hold')} = ${value(hold)}`,
  }))
  return released.ok
}

function switchKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}`), sk: as.text('SWITCH') }
}
