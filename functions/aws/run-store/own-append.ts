import type { Append } from '../../../shared/runs/append.ts'
import { RUN_TABLE } from '../../../shared/runs/table.ts'
import { as, from, type Item } from './attribute-values.ts'
import { findStep } from './event-texts.ts'
import type { StoredHead } from './head-item.ts'
import { itemKey, pageSk } from './item-keys.ts'
import type { RunTable } from './run-table.ts'

interface Sought {
  readonly append: Append
  readonly nonce: string
  /** Something was sent more than once: only then can it have been spilled before its writer knew of it. */
  readonly resent: boolean
}

/**
 * The seq before an append that was applied though its answer was lost; undefined when it was not applied, or by somebody
 * else. Looks into the tail and, after a repeat by the SDK, back through the newest pages: a writer learns of its repeat
 * within seconds, so the step is not far.
 */
export async function ownSeq(
  table: RunTable,
  { head, base, tail }: StoredHead,
  { append, nonce, resent }: Sought,
): Promise<number | undefined> {
  const { lane, ordinal } = append
  // The lane is not there yet: nobody took the step.
  if ((head.lanes[lane] ?? -1) < ordinal) return undefined
  const inTail = findStep(tail, append)
  if (inTail !== undefined) return inTail.nonce === nonce ? base + inTail.index : undefined
  if (!resent) return undefined
  const inPage = await findInPages(table, append, base)
  return inPage?.nonce === nonce ? inPage.before : undefined
}

const PAGES_A_QUERY = 16
const QUERIES = 4

async function findInPages(table: RunTable, append: Append, base: number) {
  let last = base
  for (let queries = 0; queries < QUERIES && last > 0; queries += 1) {
    const pages = await pagesUpTo(table, append, last)
    for (const page of pages) {
      const found = findStep(from.list(page, 'events'), append)
      if (found !== undefined) return { before: from.number(page, 'base') + found.index, nonce: found.nonce }
    }
    last = Math.min(last - 1, ...pages.map((page) => from.number(page, 'base')))
  }
  return undefined
}

/** Newest first. */
async function pagesUpTo(table: RunTable, { run }: Append, last: number): Promise<readonly Item[]> {
  const { pk = as.text(''), sk = as.text('') } = itemKey(run, pageSk(last))
  const { items } = await table.query({
    where: ({ path, value }) => ({
      condition: `${path(RUN_TABLE.hash)} = ${value(pk)} AND ${path(RUN_TABLE.range)} BETWEEN ${value(as.text(pageSk(0)))} AND ${value(sk)}`,
    }),
    backwards: true,
    limit: PAGES_A_QUERY,
  })
  return items
}
