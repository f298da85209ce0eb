import type { ApprovalItem } from '../../../shared/runs/run-items.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { as, from, type Item } from './attribute-values.ts'
import { inboxEntry } from './inbox-entry.ts'
import { itemKey } from './item-keys.ts'
import type { RunTable } from './run-table.ts'
import { keepItem } from './time-to-live.ts'

type Methods = 'putApproval' | 'approval' | 'approvals' | 'approvalTokens' | 'noteMessage'

/** A#: what a person was shown, with its task tokens, which only `approvalTokens` reads. */
export function approvalsOf(table: RunTable): Pick<RunStore, Methods> {
  return {
    async putApproval(run, item, token) {
      const asked = inboxEntry(run, item.id, { closed: false, at: item.requested_at })
      const always = { item, token, set: { ttl: keepItem(table) } }
      const open = await write(table, run, { ...always, set: { ...always.set, ...asked } }, true)
      // Decided already: a repeat of the question must not bring it back into the inbox.
      if (!open) await write(table, run, always, false)
    },
    async approval(run, id) {
      const item = await table.get(approvalKey(run, id), { only: [['item'], ['slack']] })
      return item?.item === undefined ? undefined : itemOf(item)
    },
    async approvals(run) {
      const items = await table.all(itemKey(run, 'A#'))
      return items.map(itemOf)
    },
    async noteMessage(run, id, message) {
      await table.update(approvalKey(run, id), ({ path, value }) => ({
        update: `SET ${path('slack')} = ${value(as.json(message))}`,
        condition: `attribute_exists(${path('item')}) AND attribute_not_exists(${path('slack')})`,
      }))
    },
    async approvalTokens(run, id) {
      const item = await table.get(approvalKey(run, id), { only: [['tokens']] })
      return item === undefined ? [] : from.members(item, 'tokens')
    },
  }
}

/** The message lies beside the item: a question that is written again does not lose it. */
function itemOf(stored: Item): ApprovalItem {
  const item: ApprovalItem = JSON.parse(from.text(stored, 'item'))
  return stored.slack === undefined ? item : { ...item, slack: JSON.parse(from.text(stored, 'slack')) }
}

/** Moves a question to what is closed of the inbox (index 3), for good; the time of its first closing stays. */
export async function closeInbox(table: RunTable, run: RunKey, id: string, at: string): Promise<void> {
  const moved = Object.entries(inboxEntry(run, id, { closed: true, at }))
  await table.update(approvalKey(run, id), ({ path, value }) => {
    const set = [['closed', as.number(1)] as const, ...moved].map(([name, to]) => `${path(name)} = ${value(to)}`)
    return {
      update: `SET ${set.join(', ')}`,
      condition: `attribute_exists(${path('item')}) AND attribute_not_exists(${path('closed')})`,
    }
  })
}

export function approvalKey(run: RunKey, id: string): Item {
  return itemKey(run, `A#${id}`)
}

async function write(
  table: RunTable,
  run: RunKey,
  { item, set, token }: { readonly item: ApprovalItem; readonly set: Item; readonly token: string },
  if_open: boolean,
): Promise<boolean> {
  const written = await table.update(approvalKey(run, item.id), ({ path, value }) => {
    const assignments = Object.entries(set).map(([name, to]) => `${path(name)} = ${value(to)}`)
    // What was asked first is what everybody is asked, and what HEAD binds a decision to.
    const asked = `${path('item')} = if_not_exists(${path('item')}, ${value(as.json(item))})`
    return {
      update: `SET ${[asked, ...assignments].join(', ')} ADD ${path('tokens')} ${value(as.member(token))}`,
      ...(if_open ? { condition: `attribute_not_exists(${path('closed')})` } : {}),
    }
  })
  return written.ok
}
