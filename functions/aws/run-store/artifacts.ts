import type { ArtifactItem } from '../../../shared/runs/run-items.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { as, from } from './attribute-values.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

/** F#: the run's artifacts, one a name; a later one of the same name takes its place, an older attempt's does not. */
export function artifactsOf(table: RunTable): Pick<RunStore, 'putArtifact' | 'artifacts'> {
  return {
    async putArtifact(run, artifact) {
      const { name, block_id } = artifact
      const attempt = attemptIn(artifact)
      const item = {
        ...itemKey(run, `F#${name}`),
        block_id: as.text(block_id),
        attempt: as.number(attempt),
        body: as.json(artifact),
        ttl: keepItem(table),
      }
      await table.put(
        item,
        ({ path, value }) =>
          `attribute_not_exists(${path('attempt')}) OR ${path('attempt')} <= ${value(as.number(attempt))} OR ${path('block_id')} <> ${value(as.text(block_id))}`,
      )
    },
    async artifacts(run) {
      const items = await table.all(itemKey(run, 'F#'))
      return items.map((item) => JSON.parse(from.text(item, 'body')))
    },
  }
}

/** Attempts of a pass come after all of the pass before: 999 at most (shared/runs/ordinal.ts). */
function attemptIn({ epoch = 0, attempt }: ArtifactItem): number {
  return epoch * 1_000 + attempt
}
