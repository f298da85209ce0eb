/** The run of everything (`npm run test:all`) draws whole sets; `npm test` draws a share of the large ones. */
export const WHOLE = process.env.SLUICE_TESTS === 'whole'

/** From one moment at which something may die to the next that is tried: each in the whole run, else every third. */
export const EACH = WHOLE ? 1 : 3

/** `all` in the whole run, else `daily`: a tenth where nothing is said. */
export function atMost(all: number, daily = Math.ceil(all / 10)): number {
  return WHOLE ? all : daily
}

/** Of a table of variants the first `daily` in every run, the others in the run of everything. */
export function firstDaily<T>(
  daily: number,
  rows: readonly T[],
): readonly { readonly tags: string[]; readonly rows: T[] }[] {
  return [
    { tags: [], rows: rows.slice(0, daily) },
    { tags: ['thorough'], rows: rows.slice(daily) },
  ]
}
