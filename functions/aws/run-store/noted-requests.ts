import type { NotedRequests, RequestIdentity } from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, DAY_SEC, type Item } from './item-encoding.ts'
import { ifAbsent, type RunTable } from './table.ts'

/** I#: one item a request. `w` names who wrote it: one that the SDK sends again is still the first. */
export function notedRequestsOn(table: RunTable): NotedRequests {
  return {
    async noteRequest(request) {
      const nonce = table.nonce()
      const ttl = as.number(Math.floor(table.now() / 1_000) + DAY_SEC)
      const noted = await table.put({ ...requestKey(request), w: as.text(nonce), ttl }, ifAbsent)
      if (noted.ok) return 'first'
      const known = noted.item ?? (await table.get(requestKey(request)))
      if (known?.w?.S === nonce) return 'first'
      return known?.done === undefined ? 'open' : 'done'
    },
    async endRequest(request) {
      await table.update(requestKey(request), ({ path, value }) => ({
        update: `SET ${path('done')} = ${value(as.number(1))}`,
        condition: `attribute_exists(${path('w')})`,
      }))
    },
  }
}

function requestKey({ tenant, route, key }: RequestIdentity): Item {
  return { pk: as.text(`T#${tenant}#I#${route}#${sha256(key)}`), sk: as.text('REQUEST') }
}
