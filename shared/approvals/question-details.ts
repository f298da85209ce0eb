import type { Block, Dag } from '../dag/dag.ts'
import { withBlocksAfter } from '../dag/order.ts'
import type { ApprovalItem } from '../runs/run-store-items.ts'

/** What a question says besides its words and values. */
export interface QuestionDetails extends Pick<ApprovalItem, 'gates' | 'edit' | 'on_reject' | 'changes'> {
  readonly on_timeout?: ApprovalItem['on_timeout']
  /** Caps the run has after a yes. */
  readonly raise?: { readonly tokens?: number; readonly usd?: number }
}

/** Of what is stored of it; absent members were not asked for, or not known when it was stored. */
export function questionDetails({ gates, raise, edit, on_timeout, on_reject, changes }: ApprovalItem): QuestionDetails {
  return {
    on_timeout,
    ...(gates === undefined ? {} : { gates }),
    ...(raise === undefined ? {} : { raise: inDollars(raise) }),
    ...(edit === undefined ? {} : { edit }),
    ...(on_reject === undefined ? {} : { on_reject }),
    ...(changes === undefined ? {} : { changes }),
  }
}

function inDollars({ tokens, usd_micros }: NonNullable<ApprovalItem['raise']>): NonNullable<QuestionDetails['raise']> {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd_micros === undefined ? {} : { usd: usd_micros / 1_000_000 }),
  }
}

/** What the rules of the inbox look at of a question. */
export type Question = Pick<ApprovalItem, 'block_id' | 'about' | 'gates' | 'raise' | 'on_timeout' | 'edit'>

/**
 * What a yes lets begin, in document order: the block itself, but not where its finished work is asked about, and what
 * comes after it, as far as `hasEnded` does not say that it is over.
 */
export function blocksToCome(
  dag: Pick<Dag, 'blocks'>,
  { block_id, about }: Pick<Question, 'block_id' | 'about'>,
  hasEnded: (id: string) => boolean,
): readonly Block[] {
  const after = new Set(withBlocksAfter(dag, block_id))
  return dag.blocks.filter(({ id }) => {
    if (id === block_id) return about !== 'post_gates'
    return after.has(id) && !hasEnded(id)
  })
}

/** One larger than this is named, not shown: as in GET run. */
const MAX_SHOWN_BYTES = 65_536

/** Of each question the ports whose values are shown, first come first served, while all of them fit into `room` bytes. */
export function portsThatFit(
  items: readonly Pick<ApprovalItem, 'shown'>[],
  room: number,
): readonly ReadonlySet<string>[] {
  let left = room
  return items.map(({ shown }) => {
    const ports = Object.entries(shown).flatMap(([port, { bytes }]) => {
      if (bytes > Math.min(MAX_SHOWN_BYTES, left)) return []
      left -= bytes
      return [port]
    })
    return new Set(ports)
  })
}
