/** Set-up of every test file: with SLUICE_SEED the laws draw the cases of that seed, as a failure names it. */
const seed = process.env.SLUICE_SEED
if (seed !== undefined && seed !== '') (await import('fast-check')).configureGlobal({ seed: Number(seed) })

export {}
