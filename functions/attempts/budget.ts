import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { type Amount, NOTHING, plus } from '../../shared/runs/budget.ts'
import { blockCaps, type Caps, runCaps, smallestCaps } from '../../shared/runs/caps.ts'
import type { EventData, NewEvent, RunEvent } from '../../shared/runs/event.ts'
import { hasOpenQuestion, laneKey, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { eventPosition } from '../../shared/runs/run-fold.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import { spentByEvents } from '../../shared/runs/usage-cost.ts'
import { readOwnProjection } from '../record/projections.ts'
import { chargeFor } from '../record/record-events.ts'
import { allEvents } from '../record/run-log.ts'
import { type BlockCall, eventBase } from './block-call.ts'
import { closeMeter, takeUnreportedUse } from './meter.ts'

/** What holds for the calls of a block. */
export interface CallCaps {
  readonly run: Caps
  readonly block: Caps
  /** One of them is in dollars: prices must be known. */
  readonly in_usd: boolean
}

/** undefined: neither run nor block has a cap, and nothing is reserved. */
export function callCaps({ head, world, dag, block: { index } }: BlockCall): CallCaps | undefined {
  const { cap_tokens, cap_usd_micros } = head.budget
  const block = blockCaps(world.settings.safety, dag.blocks[index]?.budget)
  const in_usd = cap_usd_micros !== undefined || block.cap_usd_micros !== undefined
  if (!in_usd && cap_tokens === undefined && block.cap_tokens === undefined) return undefined
  const run = {
    ...(cap_tokens === undefined ? {} : { cap_tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros }),
  }
  return { run, block, in_usd }
}

/**
 * What is left of a block's caps after all it used before this invocation, in this epoch and earlier ones. Of an item:
 * what is left to all items of this epoch together, which count what they use in HEAD.
 */
export async function remainingBlockCaps(call: BlockCall, caps: Caps): Promise<Caps> {
  const { meter } = call
  meter.past ??= pastUse(call)
  const { tokens, usd_micros } = await meter.past
  const { cap_tokens, cap_usd_micros } = caps
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: cap_tokens - tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: cap_usd_micros - usd_micros }),
  }
}

/** The events know: they are read only where there can be something. */
async function pastUse(call: BlockCall): Promise<Amount> {
  if (isFirst(call)) return NOTHING
  const { item, epoch } = call
  return blockUse(call, (event) => item === undefined || event.item === undefined || eventPosition(event).epoch < epoch)
}

/** What the events of a block tell of, or those of them that are meant. */
async function blockUse(
  { world, run, block }: BlockCall,
  isMeant: (event: RunEvent) => boolean = () => true,
): Promise<Amount> {
  const events = await allEvents(world, run)
  return spentByEvents(events.filter((event) => event.block_id === block.id && isMeant(event)))
}

/** Before the first event of its lane nothing was used, but by judges before a person was asked. */
function isFirst({ raw_lane, item, dag, block, epoch, head }: BlockCall): boolean {
  const whole = dag.blocks[block.index]
  if (item === undefined) return raw_lane === null && whole?.approval === undefined
  const { attempt } = readOrdinal(head.lanes[String(block.index)] ?? 0)
  return epoch === 0 && attempt <= 1 && whole?.pre_gates.length === 0 && whole.approval === undefined
}

interface Refusal {
  readonly fault: Fault
  readonly exceeded?: EventData<'budget:exceeded'>
  readonly wanted?: Amount
}

/** A cap in dollars cannot be kept where nobody knows what a call costs: it is not made. */
export function unknownPriceRefusal({ block, world }: BlockCall, provider: string): Refusal {
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
export async function runCapRefusal(call: BlockCall, wish: RunWish): Promise<Refusal | undefined> {
  const found = await runShortage(call, wish.short)
  return found && exceeded(call, wish, found)
}

/** Says the same of the block's own cap, which is known to be in the way. */
export async function blockCapRefusal(call: BlockCall, wish: BlockWish): Promise<Refusal> {
  return exceeded(call, wish, await blockShortage(call, wish))
}

function exceeded({ block }: BlockCall, { what, wanted }: Wish, found: Shortage): Refusal {
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

interface Shortage {
  readonly whose: 'run' | 'block'
  readonly unit: Unit
  readonly cap: number
  readonly spent: number
  readonly committed: number
}

async function runShortage({ world, run }: BlockCall, short: Amount): Promise<Shortage | undefined> {
  const ledger = (await world.runs.head(run, []))?.budget
  if (ledger === undefined) return undefined
  const spent = { tokens: ledger.spent_tokens, usd_micros: ledger.spent_usd_micros }
  const committed = { tokens: ledger.committed_tokens, usd_micros: ledger.committed_usd_micros }
  const unit = shortUnit(ledger, committed, short)
  return unit === undefined ? undefined : shortage('run', unit, ledger, spent, committed)
}

/** Of a foreach block calls of other items may have come in between: what they reserved is not told apart. */
async function blockShortage(call: BlockCall, { wanted, mine, flying }: BlockWish): Promise<Shortage> {
  const caps = callCaps(call)?.block ?? {}
  const spent = plus(call.item === undefined ? await pastUse(call) : await blockUse(call), mine)
  const committed = plus(spent, flying)
  const unit = shortUnit(caps, committed, wanted) ?? (caps.cap_tokens === undefined ? 'usd' : 'tokens')
  return shortage('block', unit, caps, spent, committed)
}

/** The unit in which it does not fit. */
function shortUnit({ cap_tokens, cap_usd_micros }: Caps, committed: Amount, wanted: Amount): Unit | undefined {
  if (cap_tokens !== undefined && committed.tokens + wanted.tokens > cap_tokens) return 'tokens'
  const isTight = cap_usd_micros !== undefined && committed.usd_micros + wanted.usd_micros > cap_usd_micros
  return isTight ? 'usd' : undefined
}

function shortage(whose: Shortage['whose'], unit: Unit, caps: Caps, spent: Amount, committed: Amount): Shortage {
  const cap = (unit === 'tokens' ? caps.cap_tokens : caps.cap_usd_micros) ?? 0
  return { whose, unit, cap, spent: spent[KEYS[unit]], committed: committed[KEYS[unit]] }
}

function tokenWords(tokens: number): string {
  return `${tokens.toLocaleString('en-US')} tokens`
}

function usdWords(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`
}

/** The end of an attempt with what its calls used, and what that frees. */
interface EventsWithUse {
  /** The call that was not made, if a cap was in the way; then the event, with what no other event tells of. */
  readonly events: readonly NewEvent[]
  readonly reserved: Amount
  readonly share: Pick<Append, 'share'>
}

/** Closes the meter: calls that come back later count nowhere. */
export function eventsWithUse(call: BlockCall, attempt: number, event: NewEvent): EventsWithUse {
  const { meter } = call
  const reserved = closeMeter(meter)
  const spent = takeUnreportedUse(meter)
  // Only events that may say what was used come here.
  const told = spent === undefined ? event : ({ ...event, data: { ...event.data, spent } } as NewEvent)
  const { exceeded } = meter
  const refused: NewEvent[] =
    exceeded === undefined ? [] : [{ type: 'budget:exceeded', ...eventBase(call), attempt, data: exceeded }]
  return { events: [...refused, told], reserved, share: itemsUsage(call) }
}

/** The same as members of one append. */
export function appendWithUse(
  call: BlockCall,
  attempt: number,
  event: NewEvent,
): Pick<Append, 'events' | 'settle' | 'share'> {
  const { events, reserved, share } = eventsWithUse(call, attempt, event)
  return { events, ...chargeFor(reserved, spentByEvents(events)), ...share }
}

/** The items of a block with a cap of its own count what they use together. */
export function itemsUsage(call: BlockCall): Pick<Append, 'share'> {
  if (call.item === undefined) return {}
  const { cap_tokens, cap_usd_micros } = callCaps(call)?.block ?? {}
  return cap_tokens === undefined && cap_usd_micros === undefined ? {} : { share: { block: call.block.index } }
}

/**
 * What a child run may use in the units this run or block has caps in: all that is left of them, or the child's own
 * caps where those are smaller. Reserved with the claim; a claimed attempt says what it reserved. Child runs that an agent
 * calls at once share what is left, each as much as the others.
 */
export async function childCaps(call: BlockCall, child: Pick<Dag, 'budget'>): Promise<Caps> {
  const caps = callCaps(call)
  if (caps === undefined) return {}
  const { committed_tokens, committed_usd_micros } = call.head.budget
  const run = lessened(caps.run, { tokens: committed_tokens, usd_micros: committed_usd_micros })
  const claimed = await claimedReserve(call)
  const all = smallestCaps(run, await remainingBlockCaps(call, caps.block))
  if (claimed !== undefined) return ofUnits(all, claimed)
  const left = dividedBy(unopenedBeside(call), all)
  const own = ofUnits(left, smallestCaps(left, runCaps(call.world.settings.safety, child.budget)))
  if (Object.values(own).some((cap) => cap < 1)) await refuseChild(call, caps.block)
  return own
}

/** Child runs of the same turn that have reserved nothing yet, this one among them; after a bounce HEAD names those of before too. */
function unopenedBeside({ acting, block, head, epoch }: BlockCall): number {
  const unopened = acting?.call?.children.filter((item) => {
    return epoch > 0 || head.children[laneKey({ block: block.index, item })] === undefined
  })
  return Math.max(1, unopened?.length ?? 1)
}

function dividedBy(n: number, { cap_tokens, cap_usd_micros }: Caps): Caps {
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: Math.floor(cap_tokens / n) }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: Math.floor(cap_usd_micros / n) }),
  }
}

/** What a child's caps reserve of its parent's. */
export function childReserve({ cap_tokens = 0, cap_usd_micros = 0 }: Caps): Amount {
  return { tokens: cap_tokens, usd_micros: cap_usd_micros }
}

async function claimedReserve(call: BlockCall): Promise<Caps | undefined> {
  const { lane } = call
  if (lane === undefined || hasOpenQuestion(lane) || readOrdinal(lane).phase === PHASE.retrying) return undefined
  const { tokens, usd_micros } = (await readOwnProjection(call, lane))?.reserved ?? NOTHING
  return { cap_tokens: tokens, cap_usd_micros: usd_micros }
}

/** In the units of `these` only. */
function ofUnits(these: Caps, { cap_tokens, cap_usd_micros }: Caps): Caps {
  return {
    ...(these.cap_tokens === undefined || cap_tokens === undefined ? {} : { cap_tokens }),
    ...(these.cap_usd_micros === undefined || cap_usd_micros === undefined ? {} : { cap_usd_micros }),
  }
}

function lessened({ cap_tokens, cap_usd_micros }: Caps, { tokens, usd_micros }: Amount): Caps {
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens: cap_tokens - tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros: cap_usd_micros - usd_micros }),
  }
}

/** Nothing is left for it; but others may have given back what they had reserved since HEAD was read. */
async function refuseChild(call: BlockCall, own: Caps): Promise<never> {
  const wish = { what: 'open a child run', wanted: LEAST, short: LEAST, mine: NOTHING, flying: NOTHING }
  const isCapped = own.cap_tokens !== undefined || own.cap_usd_micros !== undefined
  const refusal = (await runCapRefusal(call, wish)) ?? (isCapped ? await blockCapRefusal(call, wish) : undefined)
  if (refusal === undefined) {
    const message = `Cannot open a child run for block "${call.block.id}": what is left of the budget changed meanwhile. It is tried again.`
    throw new Fault('Unavailable', 'store_busy', message)
  }
  call.meter.exceeded = refusal.exceeded
  call.meter.wanted = refusal.wanted
  throw refusal.fault
}

const LEAST = { tokens: 1, usd_micros: 1 }
