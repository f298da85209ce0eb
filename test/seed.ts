import { configureGlobal } from 'fast-check'

/**
 * Set-up of every test file. With SLUICE_SEED the laws draw the cases of that seed, as a failure names it. The search for
 * the smallest counterexample can go on for ever, and where nothing in it waits, no time limit of a test ends it: it ends
 * itself, with the smallest one found. That is later than the time limit of a test, so that no law draws fewer cases for
 * it, and sooner than scripts/count-reporter.ts gives a unit test up.
 */
const seed = process.env.SLUICE_SEED
configureGlobal({
  interruptAfterTimeLimit: 230_000,
  ...(seed !== undefined && seed !== '' && { seed: Number(seed) }),
})
