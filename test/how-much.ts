/** The run of everything (`npm run test:all`) draws whole sets; `npm test` draws a share of the large ones. */
export const WHOLE = process.env.SLUICE_TESTS === 'whole'

/** From one moment at which something may die to the next that is tried: each in the whole run, else every third. */
export const EACH = WHOLE ? 1 : 3

/** `all` in the whole run, else `daily`: a tenth where nothing is said. */
export function atMost(all: number, daily = Math.ceil(all / 10)): number {
  return WHOLE ? all : daily
}
