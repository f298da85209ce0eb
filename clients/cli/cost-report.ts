import type { RunEvent } from '../../shared/runs/event.ts'
import { costOf } from '../../shared/runs/event-cost.ts'
import { eventPlace } from '../../shared/runs/event-place.ts'

/** What calls of one attempt used, of one kind of work and one model. */
export interface CostRow {
  readonly block_id: string
  readonly item?: number
  readonly epoch: number
  readonly attempt: number
  /** `answer`, `judge NAME`, or why nobody knows more: a call that was given up, an attempt that was lost or stopped. */
  readonly work: string
  /** `provider/model`, where the event tells. */
  readonly by: string
  readonly tokens_in: number
  readonly tokens_out: number
  /** null = the price is unknown. */
  readonly usd: number | null
}

export interface CostReport {
  readonly rows: readonly CostRow[]
  readonly totals: {
    readonly tokens_in: number
    readonly tokens_out: number
    /** Of the rows whose price is known. */
    readonly usd: number
    readonly unpriced_rows: number
  }
}

/** What a run cost, row by row in the order it was recorded: the same events and sums as GET run and the budget. */
export function costReport(events: readonly RunEvent[]): CostReport {
  const rows = events.flatMap((event) => rowOf(event) ?? [])
  const sum = (of: (row: CostRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  return {
    rows,
    totals: {
      tokens_in: sum(({ tokens_in }) => tokens_in),
      tokens_out: sum(({ tokens_out }) => tokens_out),
      // Summed in millionths: dollars as they are would gather rounding.
      usd: sum(({ usd }) => Math.round((usd ?? 0) * 1_000_000)) / 1_000_000,
      unpriced_rows: rows.filter(({ usd }) => usd === null).length,
    },
  }
}

/** undefined: no call, or one nobody charges for that used nothing. */
function rowOf(event: RunEvent): CostRow | undefined {
  const cost = costOf(event)
  if (cost === undefined || (cost.tokens_in + cost.tokens_out === 0 && (cost.usd_micros ?? 0) === 0)) return undefined
  const { tokens_in, tokens_out, usd_micros } = cost
  const usd = usd_micros === undefined ? null : usd_micros / 1_000_000
  return { block_id: event.block_id ?? '', ...eventPlace(event), ...workOf(event), tokens_in, tokens_out, usd }
}

function workOf({ type, data }: RunEvent): Pick<CostRow, 'work' | 'by'> {
  if (type === 'block:output') return { work: 'answer', by: `${data.provider}/${data.model}` }
  if (type === 'block:gate') return { work: `judge ${data.gate}`, by: judgeIn(data.facts) }
  if (type === 'approval:requested') return { work: 'judges before the question', by: '' }
  if (type === 'block:asked') return { work: 'before the question', by: '' }
  if (type.startsWith('research:')) return { work: type.slice('research:'.length), by: '' }
  return { work: type === 'block:completed' ? 'judges' : 'given up', by: '' }
}

/** A model's gate names who judged in its facts. */
function judgeIn(facts: unknown): string {
  const judge = typeof facts === 'object' && facts !== null && 'judge' in facts ? facts.judge : ''
  return typeof judge === 'string' ? judge : ''
}
