import type { Amount } from '../runs/budget.ts'
import type { Caps } from '../runs/caps.ts'
import type { Labels } from '../runs/labels.ts'
import type { SpendingCap, SpendingPeriod } from './settings.ts'

/** The count of one cap over one day or month: `daily` of `2026-11-27`. */
export interface LedgerName {
  readonly cap: string
  /** `2026-11-27` or `2026-11`. */
  readonly period: string
}

/** Somebody let a cap allow more until its period ends. */
export interface SpendingRaise extends Amount {
  /** Unique in the ledger: the same one is added once. */
  readonly id: string
  readonly by: string
  readonly at: string
  readonly reason: string
}

export interface SpendingLedger {
  /** What was spent, and what calls in flight have reserved; of a call nobody heard of again its estimate stays. */
  readonly committed: Amount
  readonly spent: Amount
  /** What people added to the cap. */
  readonly raised: Amount
  readonly raises: readonly SpendingRaise[]
  /** People were told that four fifths are used. */
  readonly told: boolean
}

export const EMPTY_LEDGER: SpendingLedger = {
  committed: { tokens: 0, usd_micros: 0 },
  spent: { tokens: 0, usd_micros: 0 },
  raised: { tokens: 0, usd_micros: 0 },
  raises: [],
  told: false,
}

/** One call of a model, in one ledger. `id` is unique: who repeats a write changes nothing. */
export interface ReservedCall {
  readonly id: string
  readonly amount: Amount
}

/** `now`: the ledger after it, or, refused, as it was. */
export type Reserved = { readonly ok: boolean; readonly now: SpendingLedger }

/**
 * Counts of what calls of models used, over all runs (docs/adr/0084). Each write is one conditional update and safe to
 * repeat. Suite: test/conformance/spending-suite.ts.
 */
export interface SpendingLedgers {
  /** Counts the call if committed + it <= cap + raised in every unit that has a cap. `ttl`: seconds, see `ledgerEnd`. */
  reserve(of: LedgerName, call: ReservedCall, cap: Caps, ttl: number): Promise<Reserved>
  /** What a reserved call came to use, and the ledger after it; later or again nothing happens, and it is undefined. */
  settle(of: LedgerName, call: ReservedCall, used: Amount): Promise<SpendingLedger | undefined>
  read(of: LedgerName): Promise<SpendingLedger>
  /** Adds to what the cap allows. */
  raise(of: LedgerName, raise: SpendingRaise, ttl: number): Promise<SpendingLedger>
  /** Notes that people were told. */
  noteTold(of: LedgerName): Promise<void>
}

/** Whose call it is, as caps choose. */
export interface SpendingOf {
  readonly tenant: string
  readonly dag: string
  /** Those it was started with: who labels a run later on moves none of its calls. */
  readonly labels: Labels
}

/** The caps that count such a call. */
export function capsOf(caps: readonly SpendingCap[], of: SpendingOf): readonly SpendingCap[] {
  return caps.filter(
    ({ tenant = of.tenant, dag = of.dag, labels = {} }) =>
      tenant === of.tenant &&
      dag === of.dag &&
      Object.entries(labels).every(([key, value]) => Object.hasOwn(of.labels, key) && of.labels[key] === value),
  )
}

/** The cap as a ledger compares it. */
export function limitOf({ usd, tokens }: Pick<SpendingCap, 'usd' | 'tokens'>): Caps {
  return {
    ...(tokens === undefined ? {} : { cap_tokens: tokens }),
    ...(usd === undefined ? {} : { cap_usd_micros: Math.max(1, Math.round(usd * 1_000_000)) }),
  }
}

/** The ledger of a cap at a moment (ms since 1970); days and months are those of UTC. */
export function ledgerAt({ name, per }: Pick<SpendingCap, 'name' | 'per'>, now: number): LedgerName {
  return { cap: name, period: new Date(now).toISOString().slice(0, per === 'day' ? 10 : 7) }
}

/** When the next day or month begins and a cap counts from nothing again (ms since 1970). */
export function periodEnd(per: SpendingPeriod, now: number): number {
  const at = new Date(now)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return per === 'day' ? Date.UTC(year, month, at.getUTCDate() + 1) : Date.UTC(year, month + 1, 1)
}

const KEPT_MS = 62 * 86_400_000

/** When a ledger may be forgotten: two months after its period, in seconds since 1970. */
export function ledgerEnd(per: SpendingPeriod, now: number): number {
  return Math.floor((periodEnd(per, now) + KEPT_MS) / 1_000)
}

/** Whether a call of this amount fits; of nothing: whether anything is left. */
export function fitsLedger({ committed, raised }: SpendingLedger, cap: Caps, wanted: Amount): boolean {
  return UNITS.every((unit) => {
    const most = cap[`cap_${unit}`]
    return most === undefined || committed[unit] + wanted[unit] <= most + raised[unit]
  })
}

/** Nothing is left in a unit: no call that uses anything fits. */
export function isUsedUp({ committed, raised }: SpendingLedger, cap: Caps): boolean {
  return UNITS.some((unit) => {
    const most = cap[`cap_${unit}`]
    return most !== undefined && committed[unit] >= most + raised[unit]
  })
}

/** The part of the cap that is committed, in the unit where it is most; 1 = all. */
export function usedShare({ committed, raised }: SpendingLedger, cap: Caps): number {
  const shares = UNITS.map((unit) => {
    const most = cap[`cap_${unit}`]
    return most === undefined ? 0 : committed[unit] / (most + raised[unit])
  })
  return Math.max(...shares)
}

/** Of a cap, from which on people are told. */
export const TOLD_FROM = 0.8

export const UNITS = ['tokens', 'usd_micros'] as const satisfies readonly (keyof Amount)[]
