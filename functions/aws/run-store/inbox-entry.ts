import type { RunKey } from '../../../shared/runs/run-store.ts'
import { RUN_INDEXES } from '../../../shared/runs/table.ts'
import { as, from, type Item } from './attribute-values.ts'

/** A place in the inbox: what is open is there by when it was asked, what is closed by when that was. */
interface InboxPlace {
  readonly closed: boolean
  readonly at: string
}

const { hash, range } = RUN_INDEXES.approvals

/** The partition of a tenant's open or closed questions in index 3. */
export function inboxPartition(tenant: string, closed: boolean): string {
  return `${closed ? 'C' : 'T'}#${tenant}`
}

/** The attributes that put an A# item into index 3. */
export function inboxEntry({ tenant, run_id }: RunKey, id: string, { closed, at }: InboxPlace): Item {
  return {
    [hash]: as.text(inboxPartition(tenant, closed)),
    [range]: as.text(`${at}#${run_id}#${id}`),
  }
}

/** The inverse: time, run and approval of an entry. */
export function readInboxEntry(item: Item): { readonly at: string; readonly run_id: string; readonly id: string } {
  const [at = '', run_id = '', id = ''] = from.text(item, range).split('#')
  return { at, run_id, id }
}
