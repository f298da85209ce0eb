import { isActing } from '../agents/agent-items.ts'
import { type BounceModule, bounceModules } from '../dag/bounce-modules.ts'
import type { Block, Dag, GateUse } from '../dag/dag.ts'
import { findAgent, type Routing } from '../document/bind-agents.ts'
import { leafChecks, paramsOfCheck } from '../gates/check-composition.ts'
import { findGate } from '../gates/registry.ts'
import { REVIEW_SYSTEM } from '../prompts/block.ts'
import { callsModel, modelPriceAt } from '../providers/model-prices.ts'
import { costMicros, maxOutputTokens } from './call-estimate.ts'
import { type Expectations, expectedItems, expectedTurns } from './expectations.ts'

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
interface ModelCost {
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
    tokens: totalRange(calls.map(({ tokens }) => tokens)),
    usd: roundedRange(totalRange(calls.flatMap(({ usd }) => usd ?? []))),
    unpriced: [...new Set(calls.flatMap(({ usd, block }) => (usd === null ? [block] : [])))],
  }
}

function costed({ tokens_in, tokens_out, calls, ...call }: ModelCalls, routing: Routing): CallCost {
  const price = modelPriceAt(routing, call.provider, call.model)
  const isModel = callsModel(routing.providers, call.provider)
  const tokens = ranged((of) => (isModel ? of(calls) * (of(tokens_in) + of(tokens_out)) : 0))
  const micros = (of: Bound) => costMicros({ tokens_in: of(tokens_in), tokens_out: of(tokens_out) }, price) ?? 0
  const usd = price === undefined ? null : roundedRange(ranged((of) => (of(calls) * micros(of)) / 1_000_000))
  return { ...call, calls, tokens, usd }
}

type Bound = (range: Range) => number

function ranged(figure: (of: Bound) => number): Range {
  return {
    low: figure(({ low }) => low),
    expected: figure(({ expected }) => expected),
    high: figure(({ high }) => high),
  }
}

function totalRange(ranges: readonly Range[]): Range {
  return ranged((of) => ranges.reduce((sum, range) => sum + of(range), 0))
}

/** To the millionth of a dollar. */
function roundedRange(range: Range): Range {
  return ranged((of) => Math.round(of(range) * 1_000_000) / 1_000_000)
}

/** A figure when all goes as well as it can, as it usually does, and as badly as policies allow. */
interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

/** The calls one block makes of one model, and tokens of one of them. */
interface ModelCalls {
  readonly block: string
  readonly work: string
  readonly provider: string
  readonly model: string
  readonly calls: Range
  readonly tokens_in: Range
  readonly tokens_out: Range
}

/** What nobody can know before a run (docs/plan.md): tokens of a value in a prompt, and of an answer. */
const VALUE: Range = { low: 0, expected: 250, high: 4_000 }

const ANSWER = { low: 100, expected: 500 }

const VERDICT = { low: 30, expected: 60 }

/** Every call of a provider that runs of a document may make: answers, and models that judge as gates. */
function modelCalls(dag: Dag, expectations: Expectations, routing: Routing): readonly ModelCalls[] {
  const modules = bounceModules(dag.blocks)
  return dag.blocks.flatMap((block) => {
    const items = expectedItems(block, expectations)
    const once = { tries: passesOf(block, modules) * block.retry.max_attempts, items: 1 }
    const each = { ...once, items: block.foreach === undefined ? 1 : items }
    return [
      ...answersOf(block, each, routing),
      ...chainOf(block, once.tries, routing),
      ...judgesOf(block, block.foreach?.item_gates ?? [], each),
      ...judgesOf(block, [...block.pre_gates, ...block.post_gates], once),
    ]
  })
}

/** How often a block may begin: once, and again with each bounce that resets it. */
function passesOf({ id }: Block, modules: readonly BounceModule[]): number {
  const rules = modules.flatMap((module) => module.rules).filter(({ hull }) => hull.includes(id))
  return rules.reduce((passes, { bounce }) => passes + bounce.max_bounces, 1)
}

interface Times {
  /** Of every pass together. */
  readonly tries: number
  readonly items: number
}

/** Those of the agent; and, where all goes badly, each of them is asked of its fallback too. */
function answersOf(block: Block, { tries, items }: Times, routing: Routing): readonly ModelCalls[] {
  if (block.mode !== 'ai') return []
  const { agent } = block
  const own = (agent.system ?? '').length + (agent.prompt ?? block.name).replace(/\{\{[^{}]*\}\}/g, '').length
  const tokens_in = prompted(own, Object.keys(block.inputs).length)
  const repairs = block.strict_output ? block.contract_repair_attempts : 0
  const [turns, most] = isActing(block) ? [expectedTurns(block), block.agent.acting.max_turns] : [1, 1 + repairs]
  const high = items * tries * most
  return [agent, ...(agent.fallback ?? [])].map((one, place) => {
    const found = findAgent(one, routing)
    const { provider, model } = found.ok ? found : one
    const usual = place === 0 ? items * turns : 0
    return {
      block: block.id,
      work: place === 0 ? 'answer' : 'fallback',
      provider,
      model,
      calls: { low: place === 0 ? items : 0, expected: usual, high },
      tokens_in,
      tokens_out: upTo(ANSWER, maxOutputTokens(one.model_params)),
    }
  })
}

/** Of a chain only its budget is known: it bounds all its calls together, and a try has a chain of its own. */
function chainOf(block: Block, tries: number, { research }: Routing): readonly ModelCalls[] {
  if (block.mode !== 'research') return []
  const { provider, model } = research ?? OFFLINE
  const answers = Math.floor(block.research.budget_tokens * ANSWER_SHARE)
  const most = { low: 0, expected: answers, high: answers }
  const rest = block.research.budget_tokens - answers
  return [
    {
      block: block.id,
      work: 'research',
      provider,
      model,
      calls: { low: 1, expected: 1, high: tries },
      tokens_in: { low: 0, expected: rest, high: rest },
      tokens_out: most,
    },
  ]
}

const OFFLINE = { provider: 'extractive', model: 'extractive' }

/** Prompts hold evidence, answers a page. */
const ANSWER_SHARE = 0.25

function judgesOf(block: Block, gates: readonly GateUse[], { tries, items }: Times): readonly ModelCalls[] {
  return gates.flatMap(({ name, check }) =>
    leafChecks(check).flatMap((leaf): readonly ModelCalls[] => {
      const params = paramsOfCheck(leaf)
      const asked = findGate(leaf.type)?.asks?.(params)
      if (asked === undefined) return []
      const { samples, criteria } = params
      // A malformed answer is asked for once more.
      const most = 2 * (typeof samples === 'number' ? samples : 1)
      const own = REVIEW_SYSTEM.length + (typeof criteria === 'string' ? criteria.length : 0)
      return [
        {
          block: block.id,
          work: `judge ${name}`,
          ...asked,
          calls: { low: items, expected: items, high: items * tries * most },
          tokens_in: prompted(own, 1),
          tokens_out: upTo(VERDICT, maxOutputTokens({})),
        },
      ]
    }),
  )
}

function prompted(characters: number, values: number): Range {
  const own = Math.ceil(characters / 4)
  const { low, expected, high } = VALUE
  return { low: own + values * low, expected: own + values * expected, high: own + values * high }
}

function upTo({ low, expected }: Omit<Range, 'high'>, most: number): Range {
  return { low: Math.min(low, most), expected: Math.min(expected, most), high: most }
}
