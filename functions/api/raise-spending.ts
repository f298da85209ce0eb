import { SPENDING_ROUTES } from '../../shared/api/spending-routes.ts'
import { principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { ledgerAt, ledgerEnd, type SpendingRaise } from '../../shared/spending/ledger.ts'
import type { SpendingCap } from '../../shared/spending/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { suggest } from '../../shared/text/wording.ts'
import { countsOthers, shownCap } from '../../shared/views/spending.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'

/** Only units the cap has: what it does not count cannot be raised. */
export const handler = changeHandler({
  name: 'raise-spending',
  schema: SPENDING_ROUTES['raise-spending'],
  async run({ principal, body, headers }, { settings, clock, ids, spending, log }) {
    const cap = findCap(settings, principal.tenant, body.cap)
    const { usd, tokens, reason } = body
    if ((usd !== undefined && cap.usd === undefined) || (tokens !== undefined && cap.tokens === undefined))
      throw noSuchUnit(cap)
    const now = clock.now()
    const by = principalName(principal)
    const key = headers['idempotency-key']
    const raise = {
      id: key === undefined ? Buffer.from(ids.random(12)).toString('base64url') : sha256(`${by} ${key}`),
      by,
      at: new Date(now).toISOString(),
      reason,
      tokens: tokens ?? 0,
      usd_micros: Math.round((usd ?? 0) * 1_000_000),
    }
    const ledger = await spending.raise(ledgerAt(cap, now), raise, ledgerEnd(cap.per, now))
    const kept = ledger.raises.find(({ id }) => id === raise.id)
    if (kept !== undefined && !isSameRaise(kept, raise)) throw keyReused(cap)
    log.info('spending cap raised', { cap: cap.name, by, usd, tokens, reason })
    return { json: { cap: shownCap(settings, cap, ledger, now) } }
  },
})

function findCap(settings: World['settings'], tenant: string, name: string): SpendingCap {
  const mine = settings.spending.filter((cap) => (cap.tenant ?? tenant) === tenant)
  const cap = mine.find((one) => one.name === name)
  if (cap === undefined) {
    const names = mine.map((one) => one.name)
    const near = suggest(name, names)
    const known = names.length === 0 ? 'sluice.yaml has none under `spending`' : `there are ${names.join(', ')}`
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`
    throw new Fault('NotFound', 'unknown_spending_cap', `Cannot raise spending cap "${name}": ${known}.${hint}`)
  }
  if (!countsOthers(settings, cap)) return cap
  const message = `Cannot raise spending cap "${name}": it counts all tenants together, so it is its operator's to change, in sluice.yaml. Give your tenant a cap of its own to raise that one.`
  throw new Fault('Rejected', 'spending_cap_shared', message)
}

function isSameRaise(one: SpendingRaise, other: SpendingRaise): boolean {
  return one.tokens === other.tokens && one.usd_micros === other.usd_micros && one.reason === other.reason
}

function keyReused({ name }: SpendingCap): Fault {
  const message = `Cannot raise spending cap "${name}": this Idempotency-Key already raised it with another body. Send the same body, or a new key.`
  return new Fault('InvalidInput', 'idempotency_key_reused', message, { status: 422 })
}

function noSuchUnit({ name, usd, tokens }: SpendingCap): Fault {
  const has = [...(usd === undefined ? [] : ['usd']), ...(tokens === undefined ? [] : ['tokens'])].join(' and ')
  const message = `Cannot raise spending cap "${name}" in a unit it does not have: it is in ${has}.`
  return new Fault('InvalidInput', 'spending_unit', message)
}
