import type { RunFold } from '../../../../shared/runs/run-fold.ts'

/** A stretch of time of one block: an attempt that works, or a wait for people. Times in ms since 1970. */
export interface TimeBar {
  readonly key: string
  readonly block_id: string
  readonly kind: 'work' | 'person'
  readonly state: string
  readonly from: number
  /** Undefined: it goes on. */
  readonly to: number | undefined
  readonly epoch: number
  readonly attempt: number
  readonly is_critical: boolean
}

/** What happened in one block: its bars, and the stretches in which items of it worked. */
export interface TimelineRow {
  readonly block_id: string
  readonly bars: readonly TimeBar[]
  readonly items: readonly { readonly from: number; readonly to: number | undefined; readonly state: string }[]
}

/** Rows in the order in which their blocks first did something; blocks that have not begun have none. */
export function timelineRows(fold: RunFold, critical: ReadonlySet<string>): readonly TimelineRow[] {
  const work = workBars(fold, critical)
  const bars = [...personBars(fold, critical, work), ...work].sort((a, b) => a.from - b.from)
  const items = Map.groupBy(
    fold.steps.filter(({ item }) => item !== undefined),
    ({ block_id }) => block_id,
  )
  return [...Map.groupBy(bars, ({ block_id }) => block_id)].map(([block_id, own]) => ({
    block_id,
    bars: own,
    items: (items.get(block_id) ?? []).map(({ started_at, ended_at, state }) => ({
      from: Date.parse(started_at),
      to: endOf(ended_at),
      state,
    })),
  }))
}

function workBars({ steps }: RunFold, critical: ReadonlySet<string>): readonly TimeBar[] {
  return steps.flatMap(({ index, block_id, item, state, epoch, attempt, started_at, ended_at }) => {
    if (item !== undefined) return []
    const [from, to] = [Date.parse(started_at), endOf(ended_at)]
    const key = `step ${index}`
    const is_critical = critical.has(key)
    return [{ key, block_id, kind: 'work', state, from, to, epoch, attempt, is_critical }]
  })
}

/**
 * A question ends when it is decided or expires, else with its block or the run. One in the middle of a critical attempt
 * is as critical as that.
 */
function personBars(
  { approvals, blocks, ended_at }: RunFold,
  critical: ReadonlySet<string>,
  work: readonly TimeBar[],
): readonly TimeBar[] {
  return Object.values(approvals).map(({ approval_id, block_id, status, requested_at, decided_at }) => {
    const { ended_at: blockEnd = ended_at, epoch = 0, attempt = 0 } = blocks[block_id] ?? {}
    const from = Date.parse(requested_at)
    const around = work.some((bar) => bar.is_critical && bar.block_id === block_id && isInside(bar, from))
    return {
      key: approval_id,
      block_id,
      kind: 'person',
      state: status === 'pending' ? 'asked' : status,
      from,
      to: endOf(decided_at ?? (status === 'pending' ? undefined : blockEnd)),
      epoch,
      attempt,
      is_critical: critical.has(approval_id) || around,
    }
  })
}

function isInside({ from, to = Number.POSITIVE_INFINITY }: TimeBar, at: number): boolean {
  return at >= from && at < to
}

function endOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at)
}
