import { Fault } from '../../shared/errors.ts'
import { plus } from '../../shared/runs/amounts.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Amount } from '../../shared/runs/run-budget.ts'
import type { Caps } from '../../shared/runs/run-caps.ts'
import type { BlockCall } from './block-call.ts'
import { capsOf } from './caps-of.ts'
import { blockUse, pastUse } from './past-use.ts'

interface Refusal {
  readonly fault: Fault
  readonly exceeded?: EventData<'budget:exceeded'>
  readonly wanted?: Amount
}

/** A cap in dollars cannot be kept where nobody knows what a call costs: it is not made. */
export function priceUnknown({ block, world }: BlockCall, provider: string): Refusal {
  const type = world.settings.providers[provider]?.type ?? 'unknown'
  const message = `Cannot ask provider "${provider}" (${type}) for block "${block.id}": a cap in dollars holds, and the price table does not know what its model costs. Use a model with a known price (docs/providers.md), or caps in tokens.`
  return { fault: new Fault('InvalidInput', 'budget_price_unknown', message) }
}

interface Wish {
  /** `ask provider "x"`. */
  readonly what: string
  readonly wanted: Amount
}

interface RunWish extends Wish {
  /** What of it is not reserved yet. */
  readonly short: Amount
}

interface BlockWish extends Wish {
  /** What this invocation used, and what its calls under way may use. */
  readonly mine: Amount
  readonly flying: Amount
}

/**
 * Says which cap of the run a call does not fit under, with what is spent of it and what calls under way have reserved;
 * undefined: by now there is room, and who asks again gets it.
 */
export async function runExceeded(call: BlockCall, wish: RunWish): Promise<Refusal | undefined> {
  const found = await ofRun(call, wish.short)
  return found && exceeded(call, wish, found)
}

/** Says the same of the block's own cap, which is known to be in the way. */
export async function blockExceeded(call: BlockCall, wish: BlockWish): Promise<Refusal> {
  return exceeded(call, wish, await ofBlock(call, wish))
}

function exceeded({ block }: BlockCall, { what, wanted }: Wish, found: Found): Refusal {
  const { whose, unit, cap, spent, committed } = found
  const words = unit === 'tokens' ? tokenWords : usdWords
  const reserved = Math.max(0, committed - spent)
  const fix =
    whose === 'run'
      ? `budget.${unit} of the document or max_run_${unit} of the safety policy`
      : `budget.${unit} of the block or max_block_${unit} of the safety policy`
  const message = `Cannot ${what} for block "${block.id}": it may use ${words(wanted[KEYS[unit]])}, and the ${whose} has ${words(cap)}: ${words(spent)} are spent, ${words(reserved)} reserved. Raise ${fix}, or lower max_tokens in model_params.`
  const of = whose === 'run' ? RUN_CAPS[unit] : BLOCK_CAPS[unit]
  const facts = { of, cap: Math.max(0, cap), wanted: wanted[KEYS[unit]] }
  return { fault: new Fault('LimitExceeded', 'budget_exceeded', message, { facts }), exceeded: facts, wanted }
}

type Unit = 'tokens' | 'usd'
const KEYS = { tokens: 'tokens', usd: 'usd_micros' } as const
const RUN_CAPS = { tokens: 'run_tokens', usd: 'run_usd_micros' } as const
const BLOCK_CAPS = { tokens: 'block_tokens', usd: 'block_usd_micros' } as const

interface Found {
  readonly whose: 'run' | 'block'
  readonly unit: Unit
  readonly cap: number
  readonly spent: number
  readonly committed: number
}

async function ofRun({ world, run }: BlockCall, short: Amount): Promise<Found | undefined> {
  const ledger = (await world.runs.head(run, []))?.budget
  if (ledger === undefined) return undefined
  const spent = { tokens: ledger.spent_tokens, usd_micros: ledger.spent_usd_micros }
  const committed = { tokens: ledger.committed_tokens, usd_micros: ledger.committed_usd_micros }
  const unit = tight(ledger, committed, short)
  return unit === undefined ? undefined : found('run', unit, ledger, spent, committed)
}

/** Of a foreach block calls of other items may have come in between: what they reserved is not told apart. */
async function ofBlock(call: BlockCall, { wanted, mine, flying }: BlockWish): Promise<Found> {
  const caps = capsOf(call)?.block ?? {}
  const spent = plus(call.item === undefined ? await pastUse(call) : await blockUse(call), mine)
  const committed = plus(spent, flying)
  const unit = tight(caps, committed, wanted) ?? (caps.cap_tokens === undefined ? 'usd' : 'tokens')
  return found('block', unit, caps, spent, committed)
}

/** The unit in which it does not fit. */
function tight({ cap_tokens, cap_usd_micros }: Caps, committed: Amount, wanted: Amount): Unit | undefined {
  if (cap_tokens !== undefined && committed.tokens + wanted.tokens > cap_tokens) return 'tokens'
  const isTight = cap_usd_micros !== undefined && committed.usd_micros + wanted.usd_micros > cap_usd_micros
  return isTight ? 'usd' : undefined
}

function found(whose: Found['whose'], unit: Unit, caps: Caps, spent: Amount, committed: Amount): Found {
  const cap = (unit === 'tokens' ? caps.cap_tokens : caps.cap_usd_micros) ?? 0
  return { whose, unit, cap, spent: spent[KEYS[unit]], committed: committed[KEYS[unit]] }
}

function tokenWords(tokens: number): string {
  return `${tokens.toLocaleString('en-US')} tokens`
}

function usdWords(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`
}
