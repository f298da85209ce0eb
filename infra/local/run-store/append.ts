import type { DatabaseSync } from 'node:sqlite'
import type { Append, Appended, LaneGuard } from '../../../shared/runs/append.ts'
import type { HeadApproval } from '../../../shared/runs/head.ts'
import { isAsItWas } from '../../../shared/runs/is-as-it-was.ts'
import { requireForward } from '../../../shared/runs/require-forward.ts'
import { type Amount, fitsBudget, type RunBudget } from '../../../shared/runs/run-budget.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { commitTogether } from '../transaction.ts'
import { chainSeal } from './chain-seal.ts'
import { eventBodies } from './event-bodies.ts'
import { type HeadWriter, headWriter } from './head-writer.ts'
import { ledgerReader } from './ledger.ts'
import { query, runNumbers } from './query.ts'
import { shareReader } from './share.ts'

/**
 * The one write that moves a run: events, lane, running set, approval, state and outbox in one transaction, or a
 * refusal and nothing (docs/architecture.md, "What an append writes"). Its cost does not depend on the size of the DAG.
 */
export function appendTo(db: DatabaseSync): Pick<RunStore, 'append'> {
  const reader = headReader(db)
  const writer = headWriter(db)
  const seal = chainSeal(db)
  return {
    append: async (append) => {
      requireForward(append)
      const bodies = eventBodies(append.events)
      return commitTogether(db, () => appendNow({ reader, writer, seal }, append, bodies))
    },
  }
}

interface Parts {
  readonly reader: HeadReader
  readonly writer: HeadWriter
  readonly seal: ReturnType<typeof chainSeal>
}

function appendNow({ reader, writer, seal }: Parts, append: Append, bodies: readonly string[]): Appended {
  const head = reader.head(append)
  if (head === undefined) return { ok: false, because: 'unknown_run' }
  if (head.state !== 'running') return { ok: false, because: 'terminal' }
  const may = admits(append.guard, head.ordinal) && isOpen(reader, head.run, append) && stands(reader, head.run, append)
  if (!may) return { ok: false, because: 'already' }
  const { approval, start } = append
  if (approval !== undefined && !isAsItWas(reader.approval(head.run, approval.id), approval.was)) {
    return { ok: false, because: 'approval' }
  }
  if (start !== undefined && start.limit > 0 && head.running_count >= start.limit) return { ok: false, because: 'full' }
  if (append.reserve !== undefined && !fitsBudget(reader.budget(head.run), append.reserve)) {
    return { ok: false, because: 'budget' }
  }
  if (!fitsShare(reader, head.run, append)) return { ok: false, because: 'share' }
  writer.write(head.run, head.seq, append, bodies)
  const seq = head.seq + bodies.length
  seal(head.run, append.run, { before: head.seq, seq, ended: (append.state ?? 'running') !== 'running' })
  return { ok: true, seq }
}

function stands(reader: HeadReader, run: number, append: Append): boolean {
  return (append.while ?? []).every(({ lane, is }) => (reader.lane(run, lane) ?? null) === is)
}

function isOpen(reader: HeadReader, run: number, { item_of }: Append): boolean {
  return item_of === undefined || (reader.openBlock(run, item_of.block) ?? Number.POSITIVE_INFINITY) < item_of.below
}

function fitsShare(reader: HeadReader, run: number, { reserve, share }: Append): boolean {
  if (reserve === undefined || share === undefined) return true
  const { tokens, usd_micros } = reader.share(run, share.block)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = share
  return tokens + reserve.tokens <= cap_tokens && usd_micros + reserve.usd_micros <= cap_usd_micros
}

function admits(guard: LaneGuard, ordinal: number | null): boolean {
  if ('is' in guard) return ordinal === guard.is
  return ordinal === null || ordinal < guard.below
}

interface HeadRow {
  readonly run: number
  readonly state: string
  readonly seq: number
  readonly running_count: number
  readonly ordinal: number | null
}

interface HeadReader {
  head(append: Append): HeadRow | undefined
  /** Where a lane is; undefined before its first step. */
  lane(run: number, lane: string): number | undefined
  /** Where the lane of a foreach block is whose items are open; undefined when they are not. */
  openBlock(run: number, block: number): number | undefined
  budget(run: number): RunBudget
  /** What the items of a foreach block have committed together. */
  share(run: number, block: number): Amount
  /** As HEAD has it; undefined when it was not asked yet. */
  approval(run: number, id: string): HeadApproval | undefined
}

function headReader(db: DatabaseSync): HeadReader {
  const numberOf = runNumbers(db)
  const head = query<HeadRow>(
    db,
    `SELECT r.run, r.state, r.seq, r.running_count, l.ordinal
     FROM runs r LEFT JOIN lanes l ON l.run = r.run AND l.lane = ? WHERE r.run = ?`,
  )
  const approval = query<{ readonly head: string }>(
    db,
    'SELECT head FROM approvals WHERE run = ? AND id = ? AND status IS NOT NULL',
  )
  const openBlock = query<{ readonly ordinal: number }>(
    db,
    `SELECT l.ordinal FROM head_maps m JOIN lanes l ON l.run = m.run AND l.lane = m.key
     WHERE m.run = ? AND m.map = 'items' AND m.key = ? AND l.ordinal IS NOT NULL`,
  )
  const lane = query<{ readonly ordinal: number | null }>(db, 'SELECT ordinal FROM lanes WHERE run = ? AND lane = ?')
  return {
    lane: (run, key) => lane.one(run, key)?.ordinal ?? undefined,
    openBlock: (run, block) => openBlock.one(run, String(block))?.ordinal,
    head: ({ lane, run }) => {
      const number = numberOf(run)
      return number === undefined ? undefined : head.one(lane, number)
    },
    budget: ledgerReader(db),
    share: shareReader(db),
    approval: (run, id) => {
      const row = approval.one(run, id)
      return row === undefined ? undefined : JSON.parse(row.head)
    },
  }
}
