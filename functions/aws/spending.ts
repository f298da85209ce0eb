import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { Amount } from '../../shared/runs/budget.ts'
import {
  EMPTY_LEDGER,
  type LedgerName,
  type SpendingLedger,
  type SpendingLedgers,
  type SpendingRaise,
  UNITS,
} from '../../shared/spending/ledger.ts'
import type { Core } from './core.ts'
import { as, type Item } from './run-store/item-encoding.ts'
import {
  itemBusyFault,
  openTable,
  type RunTable,
  type RunTableOptions,
  type Terms,
  tableClient,
} from './run-store/table.ts'

/** The SpendingLedgers port on DynamoDB, in the table the environment names. */
export function openSpending(
  { env, clock, ids }: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: DynamoDBClientConfig = {},
): SpendingLedgers {
  return spendingOn({ ...tableClient(env, config), clock, ids })
}

/**
 * One item a cap and period, all in one partition of their own: caps may count several tenants. A condition cannot add, so
 * the item keeps `over`, what is committed less what people added, and a call fits while over + it <= cap. `open` is the
 * set of calls in flight by id, which makes every write one that may be sent again.
 */
export function spendingOn(options: RunTableOptions): SpendingLedgers {
  const table = openTable(options)
  const read = async (of: LedgerName) => ledgerOf(await table.get(keyOf(of)))
  return {
    async reserve(of, { id, amount }, cap, ttl) {
      const done = await table.update(keyOf(of), (terms) => {
        const { path, value } = terms
        const mine = value(as.member(id))
        const fits = UNITS.flatMap((unit) => {
          const most = cap[`cap_${unit}`]
          if (most === undefined) return []
          const left = most - amount[unit]
          const now = `${path(`over_${unit}`)} <= ${value(as.number(left))}`
          return [left < 0 ? now : `(attribute_not_exists(${path(`over_${unit}`)}) OR ${now})`]
        })
        const isNew = `(attribute_not_exists(${path('open')}) OR NOT contains(${path('open')}, ${value(as.text(id))}))`
        return {
          update: `SET ${path('ttl')} = ${value(as.number(ttl))} ADD ${path('open')} ${mine}, ${counts(terms, 'over', amount)}`,
          condition: [isNew, ...fits].join(' AND '),
        }
      })
      if (done.ok) return { ok: true, now: ledgerOf(done.item) }
      const item = done.item ?? (await table.get(keyOf(of)))
      // Sent before, and its answer was lost.
      return { ok: item?.open?.SS?.includes(id) === true, now: ledgerOf(item) }
    },
    async settle(of, { id, amount }, used) {
      const done = await table.update(keyOf(of), (terms) => {
        const { path, value } = terms
        const more = { tokens: used.tokens - amount.tokens, usd_micros: used.usd_micros - amount.usd_micros }
        return {
          update: `ADD ${counts(terms, 'over', more)}, ${counts(terms, 'spent', used)} DELETE ${path('open')} ${value(as.member(id))}`,
          condition: `contains(${path('open')}, ${value(as.text(id))})`,
        }
      })
      return done.ok ? ledgerOf(done.item) : undefined
    },
    read,
    async raise(of, raise, ttl) {
      for (let tries = 0; tries < RAISE_TRIES; tries += 1) {
        const raised = await tryToRaise(table, of, raise, ttl)
        if (raised !== undefined) return raised
        await table.pause(tries)
      }
      throw itemBusyFault(`raise spending cap "${of.cap}"`, RAISE_TRIES)
    },
    async noteTold(of) {
      await table.update(keyOf(of), ({ path, value }) => ({
        update: `SET ${path('told')} = ${value({ BOOL: true })}`,
        condition: `attribute_exists(${path('ttl')})`,
      }))
    },
  }
}

/** Raises are made by people: two at the same moment are rare. */
const RAISE_TRIES = 20

/** undefined: somebody else raised it meanwhile. */
async function tryToRaise(
  table: RunTable,
  of: LedgerName,
  raise: SpendingRaise,
  ttl: number,
): Promise<SpendingLedger | undefined> {
  const seen = await table.get(keyOf(of))
  const before = raisesOf(seen)
  if (before.some(({ id }) => id === raise.id)) return ledgerOf(seen)
  const raised = await table.update(keyOf(of), (terms) => {
    const { path, value } = terms
    const was = path('raises')
    const less = { tokens: -raise.tokens, usd_micros: -raise.usd_micros }
    return {
      update: `SET ${was} = ${value(as.json([...before, raise]))}, ${path('ttl')} = ${value(as.number(ttl))} ADD ${counts(terms, 'over', less)}`,
      condition: seen?.raises === undefined ? `attribute_not_exists(${was})` : `${was} = ${value(seen.raises)}`,
    }
  })
  return raised.ok ? ledgerOf(raised.item) : undefined
}

/** `over_tokens :1, over_usd_micros :2`, of an ADD clause. */
function counts({ path, value }: Terms, name: 'over' | 'spent', by: Amount): string {
  return UNITS.map((unit) => `${path(`${name}_${unit}`)} ${value(as.number(by[unit]))}`).join(', ')
}

function keyOf({ cap, period }: LedgerName): Item {
  return { pk: as.text('SPENDING'), sk: as.text(`${cap}#${period}`) }
}

function ledgerOf(item: Item | undefined): SpendingLedger {
  if (item === undefined) return EMPTY_LEDGER
  const raises = raisesOf(item)
  const sum = (unit: keyof Amount) => raises.reduce((all, raise) => all + raise[unit], 0)
  const raised = { tokens: sum('tokens'), usd_micros: sum('usd_micros') }
  const number = (name: string) => Number(item[name]?.N ?? 0)
  return {
    committed: {
      tokens: number('over_tokens') + raised.tokens,
      usd_micros: number('over_usd_micros') + raised.usd_micros,
    },
    spent: { tokens: number('spent_tokens'), usd_micros: number('spent_usd_micros') },
    raised,
    raises,
    told: item.told?.BOOL === true,
  }
}

function raisesOf(item: Item | undefined): readonly SpendingRaise[] {
  return item?.raises?.S === undefined ? [] : JSON.parse(item.raises.S)
}
