import {
  idOfTime,
  runIdOfFiring,
  type Schedule,
  TRIGGER_LIMITS,
  type TriggerKey,
} from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { clockChanges, walkedTimes } from '../unit/triggers/walked-times.ts'
import { createFaultPlan, type FaultRates } from './fault-plan.ts'
import { type Random, randomFrom } from './rng.ts'
import { planScenario } from './scenario.ts'
import { createScheduler } from './scheduler.ts'
import { createSim } from './sim.ts'
import { openSystem, type StoreKind, type System } from './system.ts'

/** A week of virtual time: schedules, from when on somebody looks, and when nobody does. */
interface Week {
  readonly schedules: Readonly<Record<string, Schedule>>
  readonly start: number
  readonly end: number
  readonly standstills: readonly (readonly [from: number, to: number])[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Pacific/Chatham',
]
const MINUTES = ['0', '30', '15,45', '7', '59']
const HOURS = ['2', '1-3', '0,2', '*/3', '*/6', '*', '3', '0']
const DAYS = ['* * *', '* * *', '* * 1-5', '* * 0,6', '*/2 * *']

/** Around a day on which the clocks of its zones change, forward in one week and back in the other. */
export function planWeek(seed: number): Week {
  const random = randomFrom(seed * 131)
  const pick = <T>(all: readonly T[]): T => all[upTo(random, all.length - 1)] as T
  const zone = pick(ZONES)
  const changes = clockChanges(zone, 2026 + upTo(random, 8))
  const change = changes[seed % changes.length] ?? Date.UTC(2026, 2, 29)
  const schedules = Object.fromEntries(
    (['none', 'last', 'all'] as const).map((catch_up): [string, Schedule] => {
      const cron = `${pick(MINUTES)} ${pick(HOURS)} ${pick(DAYS)}`
      const overlap = catch_up === 'all' && chance(random, 0.5) ? 'queue' : 'allow'
      return [catch_up, { cron, timezone: chance(random, 0.7) ? zone : pick(ZONES), overlap, catch_up }]
    }),
  )
  const start = quiet(schedules, change - 3 * DAY_MS + upTo(random, 600) * MINUTE_MS)
  const standstills = planStandstills(random, schedules, { start, change })
  return { schedules, start, end: start + 7 * DAY_MS, standstills }
}

/** Half of the weeks stand still over the change itself. */
function planStandstills(
  random: Random,
  schedules: Week['schedules'],
  { start, change }: { readonly start: number; readonly change: number },
): Week['standstills'] {
  const first = chance(random, 0.5)
    ? change - (1 + upTo(random, 12)) * HOUR_MS
    : start + (4 + upTo(random, 20)) * HOUR_MS
  const begun = quiet(schedules, first)
  const over = quiet(schedules, begun + (2 + upTo(random, 30)) * HOUR_MS)
  const again = quiet(schedules, over + (3 + upTo(random, 20)) * HOUR_MS)
  const last = quiet(schedules, again + (1 + upTo(random, 60)) * HOUR_MS)
  return [[begun, over], ...(last < start + 6.5 * DAY_MS ? [[again, last] as const] : [])]
}

/** The first moment from then on that is far from any time: whether one is late does not depend on a look that dies. */
function quiet(schedules: Week['schedules'], from: number): number {
  const near = 12 * MINUTE_MS
  const times = Object.values(schedules).flatMap((one) =>
    walkedTimes(one.cron, one.timezone, from - near, from + DAY_MS),
  )
  let at = from
  while (times.some((time) => Math.abs(time - at) <= near)) at += MINUTE_MS
  return at
}

interface Expected {
  readonly times: readonly number[]
  readonly missed: number
}

/** What must come of a trigger, by the words of docs/triggers.md. */
function expectedOf({ start, end, standstills }: Week, { cron, timezone, catch_up }: Schedule): Expected {
  const all = walkedTimes(cron, timezone, start, end)
  const most = { none: 0, last: 1, all: TRIGGER_LIMITS.caught_up }[catch_up]
  const times = new Set(all)
  for (const [from, to] of standstills) {
    const passed = all.filter((time) => time > from && time < to)
    for (const time of passed.slice(0, Math.max(0, passed.length - most))) times.delete(time)
  }
  return { times: [...times], missed: all.length - times.size }
}

const RATES: FaultRates = {
  slow: 0.002,
  refused: 0.004,
  unanswered: 0.004,
  crash: 0.004,
  stale: 0.2,
  twice: 0.05,
  twice_at_once: 0.05,
  never_run: 0.03,
  missed: 0.05,
  doubled: 0.05,
}
const LOOKS_MS = [1_000, 41_000, 81_000, 141_000]
const MOST_STEPS = 4_000_000
const CALM_MS = 40 * MINUTE_MS

/** What came of a week on one of the stores: what was violated, and by trigger what was expected and what was found. */
export async function liveWeek(seed: number, store: StoreKind, week: Week = planWeek(seed)) {
  const calm = planScenario(seed, week.start, 'calm')
  const without = { triggers: false, turns: false, slack: false, webhooks: false, spending: false }
  const scenario = { ...calm, ...without, safety: {} }
  const scheduler = createScheduler(randomFrom(seed ^ 0x5eed), week.start)
  const faults = createFaultPlan({ seed, rates: RATES, outages: [], most: 400, skip: new Set(), now: scheduler.now })
  const calm_at = week.end
  const sim = createSim({ seed, scheduler, faults, random: randomFrom(seed ^ 0xbeef), verbose: false, calm_at })
  const system = openSystem({ sim, scenario, store, mutant: undefined, wire: undefined, documents: [documentOf(week)] })
  try {
    const call = (name: string) =>
      void system.functions.invoke(name, {}, { from: 'event', who: name }).catch(() => undefined)
    for (const at of looksOf(week)) scheduler.after(at - week.start, () => call('fire-triggers'))
    for (let at = week.start; at < week.end + CALM_MS; at += 15 * MINUTE_MS)
      if (!isStill(week, at)) scheduler.after(at - week.start, () => call('sweep'))
    scheduler.after(week.end - week.start, () => faults.end())
    let isOver = false
    scheduler.after(week.end - week.start + CALM_MS, () => {
      isOver = true
    })
    const ended = await scheduler.run(() => isOver, MOST_STEPS)
    if (ended !== 'done') sim.violate(32, `the week is ${ended}`)
    const found = await Promise.all(
      Object.entries(week.schedules).map(async ([trigger, schedule]) => {
        const key = { ...KEY, trigger }
        return { trigger, schedule, expected: expectedOf(week, schedule), found: await foundOf(system, key) }
      }),
    )
    return { violations: sim.violations, faults: faults.injected.length, found }
  } finally {
    system.close()
  }
}

const KEY = { tenant: 'main', document: 'weekly' }

function documentOf({ schedules }: Week) {
  const block = { id: 't0', mode: 'deterministic', inputs: { note: 'string' }, outputs: { note: 'string' } }
  const triggers = Object.entries(schedules).map(([name, schedule]) => ({ name, schedule, inputs: { note: name } }))
  const blocks = [{ ...block, deterministic: { handler: 'pass' } }]
  return { name: KEY.document, inputs: { note: { type: 'string' } }, blocks, triggers }
}

function isStill({ standstills }: Week, at: number): boolean {
  return standstills.some(([from, to]) => at > from && at < to)
}

/** Some after each time, each as often as a rule calls, and at the end of each standstill. */
function looksOf(week: Week): readonly number[] {
  const { schedules, start, end, standstills } = week
  const due = Object.values(schedules).flatMap(({ cron, timezone }) => walkedTimes(cron, timezone, start, end))
  const seen = [start, ...due, ...standstills.map(([, to]) => to)].flatMap((at) => LOOKS_MS.map((ms) => at + ms))
  const calm = Array.from({ length: CALM_MS / MINUTE_MS - 1 }, (_, i) => end + i * MINUTE_MS)
  return [...new Set([...seen, ...calm])].filter((at) => !isStill(week, at)).toSorted((a, b) => a - b)
}

/** Times of which there is a firing with its run, each as often as there is one, and how many were counted as missed. */
async function foundOf(system: System, key: TriggerKey): Promise<Expected> {
  const times: number[] = []
  for (const { id, at, state, run_id } of await firingsOf(system, key)) {
    const isThere = (await system.raw.head({ tenant: 'main', run_id }, [])) !== undefined
    const isOwn = id === idOfTime(at) && run_id === runIdOfFiring(key, id)
    if (isThere && isOwn && state === 'started') times.push(Date.parse(at))
    else {
      const there = isThere ? 'there' : 'not there'
      system.sim.violate('firing', `firing ${id} of ${key.trigger} is ${state}, its run is ${there}`)
    }
  }
  const runs = await countStarted(system, key)
  if (runs !== times.length) system.sim.violate('firing', `${runs} runs of ${times.length} firings of ${key.trigger}`)
  return { times: times.toSorted((a, b) => a - b), missed: (await system.triggers.state(key))?.missed?.count ?? 0 }
}

async function firingsOf({ triggers }: System, key: TriggerKey): Promise<readonly Firing[]> {
  const firings: Firing[] = []
  let after: string | undefined
  do {
    const page = await triggers.firings(key, { limit: 100, after })
    firings.push(...page.firings)
    after = page.next
  } while (after !== undefined)
  return firings
}

/** Runs that say the trigger started them. */
async function countStarted({ runs, raw }: System, { trigger }: TriggerKey): Promise<number> {
  let started = 0
  for (const run of runs.values()) if ((await raw.meta(run))?.starter === `trigger:${trigger}`) started += 1
  return started
}
