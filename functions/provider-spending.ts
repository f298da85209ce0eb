import { Fault } from '../shared/errors.ts'
import { costMicros, type Estimate, estimateCall } from '../shared/plan/call-estimate.ts'
import { callsModel, modelPriceAt, type Price } from '../shared/providers/model-prices.ts'
import type { EmbedAnswer, Provider } from '../shared/providers/provider.ts'
import { type Amount, NOTHING } from '../shared/runs/budget.ts'
import { amountOfUsage } from '../shared/runs/usage-cost.ts'
import {
  capsOf,
  isUsedUp,
  ledgerAt,
  ledgerEnd,
  limitOf,
  periodEnd,
  type ReservedCall,
  type SpendingLedger,
  type SpendingOf,
  TOLD_FROM,
  UNITS,
  usedShare,
} from '../shared/spending/ledger.ts'
import type { SpendingCap } from '../shared/spending/settings.ts'
import { countsOthers } from '../shared/views/spending.ts'
import type { World } from '../shared/world.ts'
import { type Caller, chargedAnswer, mayHaveUsed, toMicros, toTokenCount } from './provider-call.ts'

/** Whose calls they are: the run, the name of its document, and the labels it was started with. */
interface Spender extends Caller {
  readonly dag: string
  readonly labels: SpendingOf['labels']
}

/**
 * The same provider, whose calls are counted by the caps of `spending` that concern them: the estimate before a call, what it
 * used afterwards. Without such a cap it is itself. A call that does not fit is Fault LimitExceeded spending_reached,
 * InvalidInput spending_price_unknown where a cap in dollars meets an unknown price; it is not made. Of a call whose host
 * died its estimate stays counted.
 */
export function spendingProvider(spender: Spender, name: string, provider: Provider | undefined): Provider | undefined {
  const { settings } = spender.world
  const { dag, labels } = spender
  const caps = capsOf(settings.spending, { tenant: spender.run.tenant, dag, labels })
  if (provider === undefined || caps.length === 0 || !callsModel(settings.providers, name)) return provider
  const counted = async <A>(call: CountedCall<A>): Promise<A> => {
    const amount = amountOfUsage(call.estimate)
    requirePrices(caps, name, call.estimate)
    const open = await reserveAll(spender, caps, amount)
    try {
      const answer = await call.ask()
      await settleAll(spender, open, call.used(answer))
      return answer
    } catch (error) {
      await settleAll(spender, open, mayHaveUsed(error, call) ? amount : NOTHING)
      throw error
    }
  }
  const { embed } = provider
  return {
    dispatch: (request) => {
      const price = modelPriceAt(settings, name, request.model)
      return counted({
        signal: request.signal,
        estimate: estimateCall(request, price),
        ask: () => provider.dispatch(request),
        used: (answer) => usedBy(chargedAnswer(answer, { capped: true, price })),
      })
    },
    ...(embed === undefined
      ? {}
      : {
          embed: (request) => {
            const price = modelPriceAt(settings, name, request.model)
            return counted({
              signal: request.signal,
              estimate: embeddingEstimate(request.texts, price),
              ask: () => embed(request),
              used: (answer) => usedByEmbedding(answer, price),
            })
          },
        }),
  }
}

interface CountedCall<A> {
  readonly signal: AbortSignal
  readonly estimate: Estimate
  ask(): Promise<A>
  used(answer: A): Amount
}

function usedBy(answer: { readonly tokens_in: number; readonly tokens_out: number; readonly usd?: number }): Amount {
  return { tokens: answer.tokens_in + answer.tokens_out, usd_micros: toMicros(answer.usd ?? 0) }
}

function usedByEmbedding({ tokens_in, usd }: EmbedAnswer, price: Price | undefined): Amount {
  const tokens = toTokenCount(tokens_in)
  const priced = costMicros({ tokens_in: tokens, tokens_out: 0 }, price) ?? 0
  return { tokens, usd_micros: usd === undefined ? priced : toMicros(usd) }
}

/** Four characters a token; nothing is written. */
function embeddingEstimate(texts: readonly string[], price: Price | undefined): Estimate {
  return estimateCall({ prompt: texts.join(''), params: { max_tokens: 1 } }, price)
}

function requirePrices(caps: readonly SpendingCap[], provider: string, { usd_micros }: Estimate): void {
  const cap = caps.find(({ usd }) => usd !== undefined)
  if (cap === undefined || usd_micros !== undefined) return
  const message = `Cannot ask provider "${provider}": the spending cap "${cap.name}" is in dollars, and the price table does not know what its model costs. Set the price (prices of sluice.yaml, docs/providers.md), or give the cap in tokens.`
  throw new Fault('InvalidInput', 'spending_price_unknown', message, { facts: { cap: cap.name } })
}

interface OpenCall {
  readonly cap: SpendingCap
  readonly of: ReturnType<typeof ledgerAt>
  readonly call: ReservedCall
}

/** Unique in a ledger, and short: on AWS those of all calls in flight lie in its item, and each write pays for them. */
export function newCallId({ random }: Pick<World['ids'], 'random'>): string {
  return Buffer.from(random(9)).toString('base64url')
}

/** In each cap one after the other; refused by one, the others count nothing. */
async function reserveAll(
  spender: Spender,
  caps: readonly SpendingCap[],
  amount: Amount,
): Promise<readonly OpenCall[]> {
  const { clock, ids, spending } = spender.world
  const now = clock.now()
  const id = newCallId(ids)
  const open: OpenCall[] = []
  for (const cap of caps) {
    const one = { cap, of: ledgerAt(cap, now), call: { id, amount } }
    const { ok, now: ledger } = await spending
      .reserve(one.of, one.call, limitOf(cap), ledgerEnd(cap.per, now))
      .catch(async (error: unknown) => {
        // It may have been counted although nobody could say so.
        await settleAll(spender, [...open, one], NOTHING)
        throw error
      })
    await tellNear(spender, one, ledger)
    if (!ok) {
      await settleAll(spender, open, NOTHING)
      throw reachedFault(spender.world, cap, ledger, amount)
    }
    open.push(one)
  }
  return open
}

/** What cannot be written stays counted as it was estimated: it is on the careful side, and no reason to lose an answer. */
async function settleAll(spender: Spender, open: readonly OpenCall[], used: Amount): Promise<void> {
  const { spending, log } = spender.world
  for (const one of open) {
    const { of, call } = one
    const ledger = await spending.settle(of, call, used).catch((error: unknown) => {
      log.error('what a call used could not be counted; its estimate stays', { ...of, error: String(error) })
    })
    // It may have used more than its estimate, and where that is all there was, nobody makes another call.
    if (ledger !== undefined) await tellNear(spender, one, ledger)
  }
}

/** Where four fifths are used and nobody told it yet. That it cannot be told keeps no call from being made: the next one tells it. */
async function tellNear(spender: Spender, open: OpenCall, ledger: SpendingLedger): Promise<void> {
  if (ledger.told || usedShare(ledger, limitOf(open.cap)) < TOLD_FROM) return
  await tellOf(spender, open, ledger).catch((error: unknown) => {
    spender.world.log.error('that a spending cap is nearly used up could not be told', {
      ...open.of,
      error: String(error),
    })
  })
}

/** First the event, then the note: who dies in between is followed by somebody who tells it again. */
async function tellOf({ world, run }: Spender, { cap, of }: OpenCall, ledger: SpendingLedger): Promise<void> {
  const lane = (await world.runs.head(run, ['spending']))?.lanes.spending ?? 0
  const shown = countsOthers(world.settings, cap) ? {} : shownLedger(cap, ledger)
  const told = await world.runs.append({
    run,
    lane: 'spending',
    ordinal: lane + 1,
    guard: { is: lane === 0 ? null : lane },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'spending:near', data: { cap: cap.name, period: of.period, ...shown } }],
  })
  if (told.ok) await world.spending.noteTold(of)
}

/** Amounts as events and facts have them: money in millionths of a dollar. */
function shownLedger(cap: SpendingCap, { committed, raised }: SpendingLedger) {
  const limit = limitOf(cap)
  const shown = UNITS.flatMap((unit) => {
    const most = limit[`cap_${unit}`]
    return most === undefined ? [] : [[unit, committed[unit]] as const, [`cap_${unit}`, most + raised[unit]] as const]
  })
  return Object.fromEntries(shown) as Partial<Record<'tokens' | 'usd_micros' | 'cap_tokens' | 'cap_usd_micros', number>>
}

/** Fault LimitExceeded spending_reached where a cap that counts such runs is used up: nothing is started then. */
export async function requireSpendingLeft(
  { spending, settings, clock }: Pick<World, 'spending' | 'settings' | 'clock'>,
  of: SpendingOf,
): Promise<void> {
  const now = clock.now()
  for (const cap of capsOf(settings.spending, of)) {
    const ledger = await spending.read(ledgerAt(cap, now))
    if (isUsedUp(ledger, limitOf(cap))) throw reachedFault({ settings, clock }, cap, ledger)
  }
}

function reachedFault(
  { settings, clock }: Pick<World, 'settings' | 'clock'>,
  cap: SpendingCap,
  ledger: SpendingLedger,
  wanted?: Amount,
): Fault {
  const now = clock.now()
  const opens = periodEnd(cap.per, now)
  const opens_at = new Date(opens).toISOString()
  const words = reachedWords(cap, ledger, { wanted, hides: countsOthers(settings, cap) })
  return new Fault('LimitExceeded', 'spending_reached', `${words.what} It opens again at ${opens_at}; ${words.more}`, {
    facts: { cap: cap.name, opens_at, retry_after_ms: Math.max(1_000, opens - now) },
  })
}

/** `hides`: what others used, and so what is left, is nobody's to see. */
function reachedWords(
  cap: SpendingCap,
  { committed, raised }: SpendingLedger,
  { wanted, hides }: { readonly wanted: Amount | undefined; readonly hides: boolean },
): { readonly what: string; readonly more: string } {
  const limit = limitOf(cap)
  const full = UNITS.find((one) => {
    const most = limit[`cap_${one}`]
    return most !== undefined && committed[one] + (wanted?.[one] ?? 1) > most + raised[one]
  })
  const unit = full ?? (cap.usd === undefined ? 'tokens' : 'usd_micros')
  const words = inWords(unit)
  const doing = wanted === undefined ? 'Cannot start' : `Cannot ask a model: the call may use ${words(wanted[unit])}`
  const name = `spending cap "${cap.name}"`
  if (hides) {
    const what = wanted === undefined ? `: the ${name} is used up.` : `, more than is left of the ${name}.`
    return { what: `${doing}${what}`, more: "it counts all tenants together, and is its operator's to change." }
  }
  const most = (limit[`cap_${unit}`] ?? 0) + raised[unit]
  const used = `${words(committed[unit])} of the ${words(most)} a ${cap.per} that the ${name} allows are used or reserved`
  return { what: `${doing}: ${used}.`, more: `\`sluice spending raise ${cap.name}\` allows more until then.` }
}

/** A call that was not made for a cap of `spending`. */
export function isSpendingRefusal({ code }: Fault): boolean {
  return code === 'spending_reached' || code === 'spending_price_unknown'
}

function inWords(unit: (typeof UNITS)[number]): (amount: number) => string {
  return unit === 'tokens'
    ? (amount) => `${amount.toLocaleString('en-US')} tokens`
    : (amount) => `$${(amount / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`
}
