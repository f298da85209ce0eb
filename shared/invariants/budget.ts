import type { EventData, RunEvent } from '../runs/event.ts'
import type { Head } from '../runs/head.ts'
import { attemptOf } from '../runs/run-fold.ts'
import { amountOfUsage, usedByEvent } from '../runs/usage-cost.ts'
import { defineInvariant } from './invariant.ts'

const UNITS = ['tokens', 'usd_micros'] as const

type Unit = (typeof UNITS)[number]

export const budget = defineInvariant({
  n: 17,
  title:
    'what is committed stays under the caps, as people raised them, but for what calls used beyond their estimates',
  of: 'store',
  needs: ['events', 'head'],
  check: ({ events, head }) =>
    UNITS.flatMap((unit) => {
      const { committed, spent, cap } = amountsOf(head, unit)
      const wrong: string[] = []
      if (spent < 0 || !Number.isSafeInteger(spent) || !Number.isSafeInteger(committed)) {
        wrong.push(`spent ${unit} are ${spent}, committed ${committed}`)
      }
      if (committed < spent) wrong.push(`${committed} ${unit} are committed, but ${spent} spent`)
      const over = overEstimates(events, unit)
      if (cap !== undefined && committed > cap + over) {
        wrong.push(`${committed} ${unit} are committed, the cap is ${cap}, calls used ${over} beyond their estimates`)
      }
      const allowed = allowedCap(events, unit)
      if (cap !== allowed)
        wrong.push(`the cap of ${unit} is ${cap ?? 'none'}, people and document make it ${allowed ?? 'none'}`)
      return wrong
    }),
})

export const spent = defineInvariant({
  n: 18,
  title: 'what is spent never falls, and no call gave anything back',
  of: 'store',
  needs: ['events', 'head'],
  check: ({ head, before, events }) =>
    UNITS.flatMap((unit) => {
      const now = amountsOf(head, unit).spent
      const earlier = before === undefined ? 0 : amountsOf(before, unit).spent
      const told = toldAtEnd(events)?.[unit] ?? 0
      return [
        ...(now < earlier ? [`${now} ${unit} are spent, they were ${earlier}`] : []),
        ...(now < told ? [`${now} ${unit} are spent, the end of the run says ${told}`] : []),
      ]
    }),
})

function amountsOf({ budget: ledger }: Head, unit: Unit) {
  if (unit === 'tokens') {
    return { cap: ledger.cap_tokens, committed: ledger.committed_tokens, spent: ledger.spent_tokens }
  }
  return { cap: ledger.cap_usd_micros, committed: ledger.committed_usd_micros, spent: ledger.spent_usd_micros }
}

/** The cap the run began with, as it was raised by everybody who said yes to that. */
function allowedCap([first, ...events]: readonly RunEvent[], unit: Unit): number | undefined {
  const begun = first?.type === 'run:started' ? first.data.caps[`cap_${unit}`] : undefined
  if (begun === undefined) return undefined
  const raises = new Map<string, number>()
  return events.reduce((cap, { type, data }) => {
    if (type === 'block:asked') {
      const { approval_id, raise } = data
      // Items share a question: it is that of the first of them.
      if (!raises.has(approval_id)) raises.set(approval_id, raise?.[unit] ?? 0)
    }
    const isYes = type === 'approval:decided' && data.decision !== 'reject' && data.have >= data.need
    return isYes ? Math.max(cap, raises.get(data.approval_id) ?? 0) : cap
  }, begun)
}

/** Sum over the attempts of what their calls used beyond what was reserved for them. */
function overEstimates(events: readonly RunEvent[], unit: Unit): number {
  const open = new Map<string, number>()
  for (const event of events) {
    const key = attemptOf(event)
    const reserved = event.type === 'budget:reserved' ? event.data[unit] : 0
    open.set(key, (open.get(key) ?? 0) + amountOfUsage(usedByEvent(event))[unit] - reserved)
  }
  return [...open.values()].reduce((sum, over) => sum + Math.max(0, over), 0)
}

function toldAtEnd(events: readonly RunEvent[]): EventData<'run:completed'>['spent'] {
  const end = events.at(-1)
  // The ends of a run all say the same things.
  return end?.type.startsWith('run:') === true && end.type !== 'run:started'
    ? (end.data as EventData<'run:completed'>).spent
    : undefined
}
