import type { Block, Dag } from '../dag/dag.ts'
import type { Routing } from '../document/bind-agents.ts'
import { modelCost } from '../plan/model-cost.ts'
import type { RunBudget } from '../runs/budget.ts'

interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

/** What a run has cost when somebody is asked, and what a yes may cost besides. */
export interface ApprovalCost {
  readonly spent: {
    readonly tokens: number
    /** null = calls were made, and no price of them is known. */
    readonly usd: number | null
    /** Blocks whose calls were not counted, as their price is unknown. */
    readonly unpriced: readonly string[]
  }
  /** Of models, in the blocks to come, as `sluice plan` estimates it. */
  readonly to_come: {
    readonly tokens: Range
    /** Of the calls whose price is known; null = there are calls, and none of their prices is. */
    readonly usd: Range | null
    readonly unpriced: readonly string[]
    /** Blocks whose child runs are not in the estimate. */
    readonly children: readonly string[]
  }
}

interface CostFacts {
  readonly dag: Dag
  readonly coming: readonly Block[]
  /** Blocks that have begun. */
  readonly begun: ReadonlySet<string>
  readonly budget: Pick<RunBudget, 'spent_tokens' | 'spent_usd_micros' | 'unpriced_tokens'>
  readonly routing: Routing
}

export function approvalCost({ dag, coming, begun, budget, routing }: CostFacts): ApprovalCost {
  const next = new Set(coming.map(({ id }) => id))
  const past = modelCost(dag, NOTHING_TOLD, routing, (id) => begun.has(id))
  const future = modelCost(dag, NOTHING_TOLD, routing, (id) => next.has(id))
  const { spent_tokens: tokens, spent_usd_micros, unpriced_tokens } = budget
  // What is told of a call goes before what the document says of its model: a provider may price its answer itself.
  const unpriced = unpriced_tokens === 0 ? [] : past.unpriced
  const noPrice = tokens > 0 && spent_usd_micros === 0 && unpriced.length > 0
  const priced = future.calls.some(({ usd }) => usd !== null)
  return {
    spent: { tokens, usd: noPrice ? null : spent_usd_micros / 1_000_000, unpriced },
    to_come: {
      tokens: future.tokens,
      usd: future.unpriced.length > 0 && !priced ? null : future.usd,
      unpriced: future.unpriced,
      children: coming.flatMap(({ mode, id }) => (mode === 'dag' ? [id] : [])),
    },
  }
}

/** Of a list that comes from the run one item is counted, as everywhere in plans. */
const NOTHING_TOLD = { durations: {}, default_duration: 0, items: {}, max_parallel: 0 }
