import type { RunKey } from '../../../shared/runs/run-store.ts'
import { RUN_TABLE } from '../../../shared/runs/table.ts'
import { as, from } from './attribute-values.ts'
import { findAppend } from './event-texts.ts'
import type { StoredHead } from './head-item.ts'
import { itemKey, pageSk } from './item-keys.ts'
import type { RunTable } from './run-table.ts'

interface Sought {
  readonly nonce: string
  /** Something was sent more than once: only then can it have been spilled before its writer knew of it. */
  readonly resent: boolean
}

/**
 * The seq before an append that was applied though its answer was lost; undefined when it was not. Looks into the tail
 * and, after a repeat by the SDK, into the newest pages: a writer is told within seconds, so it is not far back.
 */
export async function ownSeq(
  table: RunTable,
  run: RunKey,
  { base, tail }: StoredHead,
  { nonce, resent }: Sought,
): Promise<number | undefined> {
  const at = findAppend(tail, nonce)
  if (at >= 0) return base + at
  if (!resent || base === 0) return undefined
  const { pk = as.text(''), sk = as.text('') } = itemKey(run, pageSk(base))
  const pages = await table.query({
    where: ({ path, value }) => ({
      condition: `${path(RUN_TABLE.hash)} = ${value(pk)} AND ${path(RUN_TABLE.range)} BETWEEN ${value(as.text(pageSk(0)))} AND ${value(sk)}`,
    }),
    backwards: true,
    limit: PAGES_BACK,
  })
  for (const page of pages.items) {
    const found = findAppend(from.list(page, 'events'), nonce)
    if (found >= 0) return from.number(page, 'base') + found
  }
  return undefined
}

const PAGES_BACK = 8
