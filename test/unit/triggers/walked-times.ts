/**
 * Times of a cron expression as docs/triggers.md tells them, found by walking through each minute and asking what the clocks
 * of that place show: no library of cron, and nothing of shared/triggers.
 */
export function walkedTimes(cron: string, timezone: string, after: number, until: number): number[] {
  const fields = cron.split(' ')
  const [minutes, hours, days, months, weekdays] = RANGES.map((range, i) => numbersOf(fields[i] ?? '*', range)) as [
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
  ]
  const goesByClock = /[*/]/.test(`${fields[0]}${fields[1]}`)
  const eitherDay = fields[2] !== '*' && fields[4] !== '*'
  const fits = (shown: number): boolean => {
    const at = new Date(shown)
    const ofMonth = days.has(at.getUTCDate())
    const ofWeek = weekdays.has(at.getUTCDay()) || (at.getUTCDay() === 0 && weekdays.has(7))
    const isDay = eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek
    return minutes.has(at.getUTCMinutes()) && hours.has(at.getUTCHours()) && months.has(at.getUTCMonth() + 1) && isDay
  }
  const shownAt = wallClock(timezone)
  const found: number[] = []
  // From a day before, so that what was shown before is known.
  const begin = Math.floor(after / MINUTE_MS) * MINUTE_MS - DAY_MS
  let latest = shownAt(begin)
  for (let time = begin + MINUTE_MS; time <= until; time += MINUTE_MS) {
    const shown = shownAt(time)
    let isTime: boolean
    if (goesByClock) isTime = fits(shown)
    else {
      // Times that were passed over come now; those that were shown before come no more.
      isTime = false
      for (let one = latest + MINUTE_MS; one <= shown && !isTime; one += MINUTE_MS) isTime = fits(one)
    }
    latest = Math.max(latest, shown)
    if (isTime && time > after) found.push(time)
  }
  return found
}

/** Days of a year, UTC, on which a zone's distance from UTC changes; none where it never does. */
export function clockChanges(timezone: string, year: number): readonly number[] {
  const shown = wallClock(timezone)
  const ahead = (time: number) => shown(time) - time
  const days = Array.from({ length: 365 }, (_, i) => Date.UTC(year, 0, 1 + i))
  return days.filter((day) => ahead(day) !== ahead(day + DAY_MS))
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

function numbersOf(field: string, [first, last]: readonly [number, number]): ReadonlySet<number> {
  const found = new Set<number>()
  for (const part of field.split(',')) {
    const [span = '*', step = '1'] = part.split('/')
    const [low, high] = span === '*' ? [first, last] : span.split('-').map(Number)
    const top = high ?? (part.includes('/') ? last : (low ?? first))
    for (let n = low ?? first; n <= top; n += Number(step)) found.add(n)
  }
  return found
}

/** What a clock of the zone shows, as if it were UTC. */
function wallClock(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  // Zones differ from UTC by whole quarters, and change at them: asked once a quarter.
  const known = new Map<number, number>()
  return (time) => {
    const quarter = Math.floor(time / QUARTER_MS) * QUARTER_MS
    const there = known.get(quarter)
    if (there !== undefined) return time + there
    const parts = Object.fromEntries(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts
    const ahead = Date.UTC(year, month - 1, day, hour, minute) - quarter
    known.set(quarter, ahead)
    return time + ahead
  }
}

const QUARTER_MS = 15 * MINUTE_MS
