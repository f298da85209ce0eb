import type { ShownSpendingCap } from '../api/spending-routes.ts'
import type { Amount } from '../runs/budget.ts'
import type { Settings } from '../settings/settings.ts'
import { isUsedUp, ledgerAt, limitOf, periodEnd, type SpendingLedger } from '../spending/ledger.ts'
import type { SpendingCap } from '../spending/settings.ts'

/** What others used is nobody's to see: of a cap over several tenants only whether it is reached. */
export function countsOthers({ tenants }: Pick<Settings, 'tenants'>, { tenant }: SpendingCap): boolean {
  return tenant === undefined && tenants.length > 1
}

/** A cap and its count, as callers see them. */
export function shownCap(
  settings: Pick<Settings, 'tenants'>,
  cap: SpendingCap,
  ledger: SpendingLedger,
  now: number,
): ShownSpendingCap {
  const { name, per, tenant, dag, labels, usd, tokens } = cap
  const limit = limitOf(cap)
  const dollars = (micros: number) => micros / 1_000_000
  const hides = countsOthers(settings, cap)
  return {
    name,
    per,
    period: ledgerAt(cap, now).period,
    opens_at: new Date(periodEnd(per, now)).toISOString(),
    ...(tenant === undefined ? {} : { tenant }),
    ...(dag === undefined ? {} : { dag }),
    ...(labels === undefined ? {} : { labels }),
    reached: isUsedUp(ledger, limit),
    ...(usd === undefined || hides ? {} : { usd: amountsOf(ledger, 'usd_micros', limit.cap_usd_micros ?? 0, dollars) }),
    ...(tokens === undefined || hides ? {} : { tokens: amountsOf(ledger, 'tokens', tokens, Number) }),
    raises: hides
      ? []
      : ledger.raises.map(({ by, at, reason, ...more }) => ({
          by,
          at,
          reason,
          ...(more.usd_micros === 0 ? {} : { usd: dollars(more.usd_micros) }),
          ...(more.tokens === 0 ? {} : { tokens: more.tokens }),
        })),
  }
}

function amountsOf(
  { committed, spent, raised }: SpendingLedger,
  unit: keyof Amount,
  cap: number,
  shown: (amount: number) => number,
) {
  return {
    cap: shown(cap),
    raised: shown(raised[unit]),
    spent: shown(spent[unit]),
    committed: shown(committed[unit]),
    left: shown(cap + raised[unit] - committed[unit]),
  }
}

/** `$3.20 of $50.00, 1,200 of 20,000 tokens`; undefined where amounts are not shown. */
export function spendingWords({ usd, tokens }: Pick<ShownSpendingCap, 'usd' | 'tokens'>): string | undefined {
  const used = [
    ...(usd === undefined ? [] : [`$${usd.committed.toFixed(2)} of $${(usd.cap + usd.raised).toFixed(2)}`]),
    ...(tokens === undefined ? [] : [`${counted(tokens.committed)} of ${counted(tokens.cap + tokens.raised)} tokens`]),
  ]
  return used.length === 0 ? undefined : used.join(', ')
}

function counted(tokens: number): string {
  return tokens.toLocaleString('en-US')
}
