import type { RunStore } from '../../../shared/runs/run-store.ts'
import { as, from } from './attribute-values.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'

/** CTX: the run's shared context, compare-and-set on its version. */
export function contextOf(table: RunTable): Pick<RunStore, 'context' | 'putContext'> {
  return {
    async context(run) {
      const item = await table.get(itemKey(run, 'CTX'), { only: [['version'], ['values']] })
      if (item === undefined) return undefined
      return { version: from.number(item, 'version'), values: JSON.parse(from.text(item, 'values')) }
    },
    async putContext(run, { version, values }, if_version) {
      const nonce = table.nonce()
      const key = itemKey(run, 'CTX')
      const written = await table.update(key, ({ path, value }) => ({
        update: `SET ${path('version')} = ${value(as.number(version))}, ${path('values')} = ${value(as.json(values))}, ${path('w')} = ${value(as.text(nonce))}`,
        condition: `${path('version')} = ${value(as.number(if_version))}`,
      }))
      if (written.ok) return true
      // Sent twice: the version may have been moved by the first sending, whose answer was lost.
      const now = written.sent > 1 ? await table.get(key, { only: [['w']] }) : undefined
      return now?.w?.S === nonce
    },
  }
}
