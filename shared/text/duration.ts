const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const DURATION = /^(?:\d{1,9}[smhd])+$/

/** What `readDuration` takes, for messages. */
export const DURATION_RULE = 'whole numbers with s, m, h or d, as 90s, 2h or 1d12h, or a number of seconds'

/** Seconds of `2h`, `90s`, `1d12h`, or of a whole number, which is seconds; undefined for anything else. */
export function readDuration(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) && given >= 0 ? given : undefined
  if (typeof given !== 'string' || !DURATION.test(given)) return undefined
  const parts = given.matchAll(/(\d+)([smhd])/g)
  return [...parts].reduce((sum, [, count, unit = 's']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
}

/** `2 h`, `1 d 12 h`, `90 s` as `1 min 30 s`: the two largest units that are not zero. */
export function durationWords(seconds: number): string {
  const left = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const
  const words = left.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return words.slice(0, 2).join(' ') || '0 s'
}

/** With its offset: a time without one is another time on another machine. */
export function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}
