import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextTimes } from '../../shared/triggers/schedule.ts'
import type { Schedule } from '../../shared/triggers/trigger.ts'

/** A place whose time goes on only when it is told to, and in which WEEK_DOCUMENT is deployed as `weekly`. */
export interface WeekPlace {
  now(): number
  /** Goes on to a time that is to come. */
  goTo(time: number): Promise<void>
  /** What a rule, a schedule or a timer calls. */
  look(): Promise<unknown>
  /** The input `day` of each run of a trigger: the time of its firing. */
  days(trigger: string): Promise<readonly string[]>
  missed(trigger: string): Promise<number>
  close(): Promise<void>
}

const BERLIN = { timezone: 'Europe/Berlin', overlap: 'allow' } as const
const SCHEDULES: Readonly<Record<string, Schedule>> = {
  // In the hour that is not there, or twice.
  daily: { cron: '30 2 * * *', catch_up: 'all', ...BERLIN },
  quarterly: { cron: '0 */6 * * *', catch_up: 'last', ...BERLIN },
  nights: { cron: '0 1-3 * * *', catch_up: 'none', ...BERLIN },
}

export const WEEK_DOCUMENT = JSON.stringify({
  name: 'weekly',
  inputs: { day: { type: 'string' } },
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: '1' } },
      outputs: { n: 'number' },
    },
  ],
  triggers: Object.entries(SCHEDULES).map(([name, schedule]) => ({ name, schedule, inputs: { day: '{% $now() %}' } })),
})

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The last Sunday of a month, UTC: Berlin changes its clocks then, at 01:00. */
function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0))
  return last.getTime() - last.getUTCDay() * DAY_MS
}

/** Weeks around the two changes that come next. */
function weeksAfter(now: number): readonly (readonly [name: string, start: number])[] {
  const year = new Date(now).getUTCFullYear()
  const changes = [year, year + 1].flatMap((one) => [
    ['the clocks go forward', lastSunday(one, 2)] as const,
    ['the clocks go back', lastSunday(one, 9)] as const,
  ])
  return changes
    .filter(([, at]) => at - 4 * DAY_MS > now)
    .slice(0, 2)
    .map(([name, at]) => [name, at - 3 * DAY_MS])
}

/** Nobody looks: from 20:30 before the change to 04:40 after it, and for a day and a half later on. */
const STANDSTILLS = [
  [2 * DAY_MS + 20.5 * HOUR_MS, 3 * DAY_MS + 4.66 * HOUR_MS],
  [4 * DAY_MS + 10.5 * HOUR_MS, 6 * DAY_MS - 1.4 * HOUR_MS],
] as const

/** A week of a place, with a change of the clocks and standstills in it: each time is fired once, or missed as declared. */
export function triggerWeekSuite(name: string, open: () => Promise<WeekPlace>): void {
  describe(`A week of triggers on ${name}`, () => {
    let place: WeekPlace
    beforeAll(async () => {
      place = await open()
    }, 240_000)
    afterAll(() => place?.close())

    test('each firing is one run, and what passed in a standstill is made up for as declared', async () => {
      await place.look()
      // The place may have lived before.
      const before = await standing(place)
      const expected = await liveThrough(place)
      const after = await standing(place)
      for (const [trigger, { times, missed }] of expected) {
        const earlier = before.get(trigger)
        const days = after.get(trigger)?.days.filter((day) => earlier?.days.includes(day) !== true)
        expect([trigger, days]).toEqual([trigger, times.map((time) => new Date(time).toISOString())])
        expect([trigger, (after.get(trigger)?.missed ?? 0) - (earlier?.missed ?? 0)]).toEqual([trigger, missed])
      }
    }, 600_000)
  })
}

/** What came of each trigger by now, the times of its runs in order, each as often as there are runs of it. */
async function standing(place: WeekPlace) {
  const found = new Map<string, { readonly days: readonly string[]; readonly missed: number }>()
  for (const trigger of Object.keys(SCHEDULES)) {
    const days = (await place.days(trigger)).toSorted()
    found.set(trigger, { days, missed: await place.missed(trigger) })
  }
  return found
}

interface Expected {
  readonly times: readonly number[]
  readonly missed: number
}

/** Both weeks, with two looks at once each time; answers what must have come of them, by trigger. */
async function liveThrough(place: WeekPlace): Promise<ReadonlyMap<string, Expected>> {
  const expected = new Map<string, Expected>()
  let from = place.now()
  for (const [, start] of weeksAfter(from)) {
    // Between the weeks nobody looks either.
    const stills = [[from, start], ...STANDSTILLS.map(([a, b]) => [start + a, start + b])] as [number, number][]
    for (const [trigger, schedule] of Object.entries(SCHEDULES)) {
      const all = timesBetween(schedule, from, start + 7 * DAY_MS)
      const made = madeUpFor(schedule, all, stills)
      const { times, missed } = expected.get(trigger) ?? { times: [], missed: 0 }
      expected.set(trigger, { times: [...times, ...made], missed: missed + all.length - made.length })
    }
    for (const at of looksOf(start, stills)) {
      await place.goTo(at)
      await Promise.all([place.look(), place.look()])
    }
    from = place.now()
  }
  return expected
}

function timesBetween(schedule: Schedule, after: number, until: number): number[] {
  return nextTimes(schedule, after, 3_000).filter((time) => time <= until)
}

/** By the words of docs/triggers.md, not by the code. */
function madeUpFor(
  { catch_up }: Schedule,
  times: readonly number[],
  stills: readonly (readonly [number, number])[],
): number[] {
  const inStill = (time: number) => stills.findIndex(([from, to]) => time > from && time <= to - 300_000)
  const newest = (n: number, most: number) => times.filter((time) => inStill(time) === n).slice(-most)
  const kept = new Set(times.filter((time) => inStill(time) === -1))
  const most = { none: 0, last: 1, all: 100 }[catch_up]
  if (most > 0) for (const n of stills.keys()) for (const time of newest(n, most)) kept.add(time)
  return times.filter((time) => kept.has(time))
}

/** A second after each time somebody looks, and at the end of each standstill. */
function looksOf(start: number, stills: readonly (readonly [number, number])[]): number[] {
  const end = start + 7 * DAY_MS
  const due = Object.values(SCHEDULES).flatMap((schedule) => timesBetween(schedule, start, end))
  const seen = due.map((time) => time + 1_000).filter((at) => !stills.some(([from, to]) => at > from && at < to))
  return [...new Set([...seen, ...stills.map(([, to]) => to), end])].toSorted((a, b) => a - b)
}
