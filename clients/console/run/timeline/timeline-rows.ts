import type { RunFold } from '../../../../shared/runs/run-fold.ts'
import {
  agentItemWords,
  isRefused as isRefusedCall,
  questionItem,
  readAgentItem,
} from '../../../../shared/runs/turns-and-calls.ts'

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
  /** Of an agent's turn or call. */
  readonly name?: string
}

/** What happened in one block: its bars, and the stretches in which items of it worked. */
export interface TimelineRow {
  readonly block_id: string
  /** Of an agent: its turns, or one of its tools. */
  readonly part?: string
  readonly bars: readonly TimeBar[]
  readonly items: readonly { readonly from: number; readonly to: number | undefined; readonly state: string }[]
}

/** Rows in the order in which their blocks first did something; blocks that have not begun have none. */
export function timelineRows(fold: RunFold, critical: ReadonlySet<string>): readonly TimelineRow[] {
  const work = workBars(fold, critical)
  const people = personBars(fold, critical, work)
  const bars = [...people.filter(({ name }) => name === undefined), ...work].sort((a, b) => a.from - b.from)
  const items = Map.groupBy(
    fold.steps.filter(({ item, block_id }) => item !== undefined && !acts(fold, block_id)),
    ({ block_id }) => block_id,
  )
  return [...Map.groupBy(bars, ({ block_id }) => block_id)].flatMap(([block_id, own]) => [
    {
      block_id,
      bars: own,
      items: (items.get(block_id) ?? []).map(({ started_at, ended_at, state }) => ({
        from: Date.parse(started_at),
        to: endOf(ended_at),
        state,
      })),
    },
    ...agentRows(fold, block_id, people),
  ])
}

function acts({ blocks }: RunFold, block_id: string): boolean {
  return blocks[block_id]?.first_turn !== undefined
}

/** Of an agent a row of its turns, and one of each tool: every call is a bar, and so is every wait before one. */
function agentRows(fold: RunFold, block_id: string, people: readonly TimeBar[]): readonly TimelineRow[] {
  if (!acts(fold, block_id)) return []
  const tools = fold.blocks[block_id]?.items ?? {}
  const bars = fold.steps.flatMap(({ index, block_id: of, item, state, epoch, attempt, started_at, ended_at }) => {
    if (of !== block_id || item === undefined) return []
    const tool = tools[item]?.tool
    const isRefused = state === 'failed' && tools[item] !== undefined && isRefusedCall(tools[item])
    const [from, to, name] = [Date.parse(started_at), endOf(ended_at), agentItemWords(item, tool)]
    const place = { key: `step ${index}`, block_id, epoch, attempt, is_critical: false, name }
    const kind = 'work' as const
    return [{ part: partOf(item, tool), bar: { ...place, kind, state: isRefused ? 'refused' : state, from, to } }]
  })
  const asked = people.flatMap((bar) => {
    const item = bar.block_id === block_id ? questionItem(bar.key) : undefined
    return item === undefined ? [] : [{ part: partOf(item, tools[item]?.tool), bar }]
  })
  const parts = Map.groupBy([...bars, ...asked], ({ part }) => part)
  return [...parts].map(([part, own]) => ({
    block_id,
    part,
    bars: own.map(({ bar }) => bar).toSorted((a, b) => a.from - b.from),
    items: [],
  }))
}

function partOf(item: number, tool: string | undefined): string {
  return readAgentItem(item).call === undefined ? 'turns' : (tool ?? 'calls')
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
    const item = questionItem(approval_id)
    const around =
      item === undefined && work.some((bar) => bar.is_critical && bar.block_id === block_id && isInside(bar, from))
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
      ...(item === undefined ? {} : { name: agentItemWords(item, blocks[block_id]?.items?.[item]?.tool) }),
    }
  })
}

function isInside({ from, to = Number.POSITIVE_INFINITY }: TimeBar, at: number): boolean {
  return at >= from && at < to
}

function endOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at)
}
