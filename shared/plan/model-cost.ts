import type { Dag } from '../dag/dag.ts'
import { callsModel, priceAt } from '../price-at.ts'
import { costMicros } from '../runs/estimate-call.ts'
import type { Routing } from '../settings.ts'
import type { Expectations } from './expectations.ts'
import { type ModelCalls, modelCalls, type Range } from './model-calls.ts'

interface CallCost {
  readonly block: string
  readonly work: string
  readonly provider: string
  readonly model: string
  readonly calls: Range
  readonly tokens: Range
  /** null = the price is unknown. */
  readonly usd: Range | null
}

/** What models cost one run. */
export interface ModelCost {
  readonly calls: readonly CallCost[]
  readonly tokens: Range
  /** Of the calls whose price is known. */
  readonly usd: Range
  /** Blocks with a call whose price is not. */
  readonly unpriced: readonly string[]
}

/** Of every block, or of those `isMeant`. */
export function modelCost(
  dag: Dag,
  expectations: Expectations,
  routing: Routing,
  isMeant: (block: string) => boolean = () => true,
): ModelCost {
  const meant = modelCalls(dag, expectations, routing).filter(({ block }) => isMeant(block))
  const calls = meant.map((call) => costed(call, routing))
  return {
    calls,
    tokens: total(calls.map(({ tokens }) => tokens)),
    usd: rounded(total(calls.flatMap(({ usd }) => usd ?? []))),
    unpriced: [...new Set(calls.flatMap(({ usd, block }) => (usd === null ? [block] : [])))],
  }
}

function costed({ tokens_in, tokens_out, calls, ...call }: ModelCalls, routing: Routing): CallCost {
  const price = priceAt(routing, call.provider, call.model)
  const isModel = callsModel(routing.providers, call.provider)
  const tokens = ranged((of) => (isModel ? of(calls) * (of(tokens_in) + of(tokens_out)) : 0))
  const micros = (of: Pick) => costMicros({ tokens_in: of(tokens_in), tokens_out: of(tokens_out) }, price) ?? 0
  const usd = price === undefined ? null : rounded(ranged((of) => (of(calls) * micros(of)) / 1_000_000))
  return { ...call, calls, tokens, usd }
}

type Pick = (range: Range) => number

function ranged(figure: (of: Pick) => number): Range {
  return {
    low: figure(({ low }) => low),
    expected: figure(({ expected }) => expected),
    high: figure(({ high }) => high),
  }
}

function total(ranges: readonly Range[]): Range {
  return ranged((of) => ranges.reduce((sum, range) => sum + of(range), 0))
}

/** To the millionth of a dollar. */
function rounded(range: Range): Range {
  return ranged((of) => Math.round(of(range) * 1_000_000) / 1_000_000)
}
