import type { JoinItem } from '../../../shared/runs/run-items.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

/**
 * J#: sets of the sources that are done, of the tokens that wait and of what they need, so that writes may come in any
 * order and again (docs/architecture.md, "Joins"). Of two needs the larger counts.
 */
export function joinsOf(table: RunTable): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  return {
    async waitJoin(run, join, { need, token }) {
      if (need <= 0) return 'done'
      const waiting = await table.update(joinKey(run, join), ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(keepItem(table))} ADD ${path('tokens')} ${value(as.member(token))}, ${path('need')} ${value(as.numberMember(need))}`,
        condition: `attribute_not_exists(${path('done')}) OR size(${path('done')}) < ${value(as.number(need))}`,
      }))
      return waiting.ok ? 'waiting' : 'done'
    },
    async signalJoin(run, join, source) {
      const signalled = await table.update(joinKey(run, join), ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(keepItem(table))} ADD ${path('done')} ${value(as.member(source))}`,
      }))
      return joinOf(signalled.item ?? {})
    },
  }
}

function joinKey(run: RunKey, join: string): Item {
  return itemKey(run, `J#${join}`)
}

function joinOf(item: Item): JoinItem {
  const needs = (item.need?.NS ?? []).map(Number)
  return {
    done: from.members(item, 'done'),
    tokens: from.members(item, 'tokens'),
    ...(needs.length === 0 ? {} : { need: Math.max(...needs) }),
  }
}
