import { LIMITS } from '../../../shared/dag/limits.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import type { RunTable } from './run-table.ts'

/** C#: earlier results by definition and inputs, of any run of the tenant; the newest stays. */
export function cachedOf(table: RunTable): Pick<RunStore, 'cached' | 'putCached'> {
  return {
    async cached(tenant, block_hash, inputs_hash) {
      const item = await table.get(cacheKey(tenant, block_hash, inputs_hash))
      return item === undefined ? undefined : JSON.parse(from.text(item, 'body'))
    },
    async putCached(tenant, block_hash, inputs_hash, result) {
      const item = {
        ...cacheKey(tenant, block_hash, inputs_hash),
        at: as.text(result.at),
        body: as.json(result),
        // Nobody may ask for an older one.
        ttl: as.number(Math.floor(table.now() / 1_000) + LIMITS.cache_age_sec),
      }
      const at = as.text(result.at)
      await table.put(item, ({ path, value }) => `attribute_not_exists(${path('at')}) OR ${path('at')} < ${value(at)}`)
    },
  }
}

function cacheKey(tenant: string, block_hash: string, inputs_hash: string): Item {
  return { pk: as.text(`T#${tenant}#C#${block_hash}`), sk: as.text(inputs_hash) }
}
