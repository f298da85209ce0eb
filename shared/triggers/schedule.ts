import { Cron } from 'croner'
import { didYouMean, suggest } from '../text/wording.ts'
import { type Schedule, TRIGGER_LIMITS } from './trigger.ts'

/**
 * Times of schedules. Daylight saving as Vixie cron has it (docs/triggers.md, "Daylight saving"): a schedule that names its
 * minutes and hours comes once on each of its days: at the first time after a gap, and at the first of two. One with `*` or a
 * step in minutes or hours goes by the clock as it passes: it has no times in a gap, and all of an hour that comes twice.
 */
function open({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>): Cron {
  return new Cron(cron, { timezone, paused: true, mode: '5-part', fixedTimeRule: 'no-wildcard' })
}

const kept = new Map<string, Cron>()

function cronOf(schedule: Pick<Schedule, 'cron' | 'timezone'>): Cron {
  const key = `${schedule.timezone} ${schedule.cron}`
  const there = kept.get(key)
  if (there !== undefined) return there
  if (kept.size >= MOST_KEPT) kept.clear()
  const made = open(schedule)
  kept.set(key, made)
  return made
}

const MOST_KEPT = 500

/** The first time after this one, milliseconds since 1970; undefined: there is none. */
export function nextTime(schedule: Pick<Schedule, 'cron' | 'timezone'>, after: number): number | undefined {
  return cronOf(schedule).nextRun(new Date(after))?.getTime()
}

/** Its next times. */
export function nextTimes(schedule: Pick<Schedule, 'cron' | 'timezone'>, after: number, count: number): number[] {
  const times: number[] = []
  let last = after
  while (times.length < count) {
    const next = nextTime(schedule, last)
    if (next === undefined) return times
    times.push(next)
    last = next
  }
  return times
}

/** So long after its time a firing is no late one: whoever looks comes once a minute, and may be held up. */
export const ON_TIME_MS = 300_000

/** More times that passed are not counted one by one. */
const MOST_COUNTED = 2_000

interface DueTimes {
  /** To be fired now, oldest first. */
  readonly fire: readonly number[]
  /** Passed and left out by `catch_up`. */
  readonly missed: { readonly count: number; readonly first: number; readonly last: number } | undefined
  /** Whether more were missed than were counted. */
  readonly uncounted: boolean
}

/**
 * What is to be done at `now` about the times after `cursor`. Those of the last five minutes are on time, and all fire. Of the
 * others `none` leaves out all, `last` all but the newest, and that too where one on time stands for it, `all` those before
 * the newest hundred.
 */
export function dueTimes(schedule: Schedule, cursor: number, now: number): DueTimes {
  const border = now - ON_TIME_MS
  const late = timesBetween(schedule, cursor, Math.max(cursor, border))
  const onTime = timesBetween(schedule, Math.max(cursor, border), now).times
  const wanted = { none: 0, last: onTime.length === 0 ? 1 : 0, all: TRIGGER_LIMITS.caught_up }[schedule.catch_up]
  const made = late.uncounted
    ? newest(schedule, border, wanted)
    : late.times.slice(Math.max(0, late.times.length - wanted))
  const left = late.uncounted ? late.times : late.times.slice(0, late.times.length - made.length)
  const [first] = left
  const last = left.at(-1)
  return {
    fire: [...made, ...onTime],
    missed: first === undefined || last === undefined ? undefined : { count: left.length, first, last },
    uncounted: late.uncounted,
  }
}

function timesBetween(schedule: Schedule, after: number, until: number) {
  const times: number[] = []
  for (let last = after; ; ) {
    const next = nextTime(schedule, last)
    if (next === undefined || next > until) return { times, uncounted: false }
    if (times.length >= MOST_COUNTED) return { times, uncounted: true }
    times.push(next)
    last = next
  }
}

/** The newest so many up to a time, oldest first. */
function newest(schedule: Schedule, until: number, count: number): number[] {
  if (count === 0) return []
  const back = cronOf(schedule).previousRuns(count, new Date(until + 1))
  return back.map((time) => time.getTime()).toReversed()
}

const FIELDS = ['minute', 'hour', 'day of the month', 'month', 'day of the week']
export const CRON_RULE =
  'five fields (minute, hour, day of the month, month, day of the week) of numbers, names, *, lists, ranges and steps, as "0 6 * * 1-5"'
/** A year with a 29th of February follows. */
const ANY_TIME = Date.parse('2024-01-01T00:00:00Z')

/** Why a text is no cron expression; undefined: it is one. */
export function cronProblem(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== FIELDS.length) return `it has ${fields.length === 1 ? 'one field' : `${fields.length} fields`}`
  const odd = fields.findIndex((field) => !/^(?:[0-9]+|[A-Za-z]{3}|[*,/-])+$/.test(field))
  if (odd >= 0) return `its ${FIELDS[odd]} is "${fields[odd]?.slice(0, 40)}"`
  try {
    const next = open({ cron, timezone: 'UTC' }).nextRun(new Date(ANY_TIME))
    return next === null ? 'it names no day there ever is' : undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message.replace(/^Cron\w*: /, '').slice(0, 200) : 'it cannot be read'
  }
}

/** Why a text is no time zone, with the one that may be meant; undefined: it is one. */
export function zoneProblem(name: string): { readonly hint: string | undefined } | undefined {
  const known = Intl.supportedValuesOf('timeZone')
  if (name === 'UTC' || known.includes(name)) return undefined
  const same = known.find((zone) => zone.toLowerCase() === name.toLowerCase())
  if (same === undefined && /^[A-Z]\w*(?:\/[A-Z][\w+-]*)+$/.test(name) && isZone(name)) return undefined
  return { hint: didYouMean(same ?? suggest(name, ['UTC', ...known])) }
}

/** An older name of one, which is still good. */
function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
