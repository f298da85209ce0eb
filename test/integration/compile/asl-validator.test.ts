import { describe, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { atMost } from '../../how-much.ts'
import { aslErrorsOfAll } from '../../machines/asl-validator.ts'
import { FAMILIES, randomDags } from '../../machines/random-dags.ts'

/** The 2,000 DAGs of test/unit/compile: three of each family here, all of them in the whole run. */
describe('asl-validator accepts every machine', () => {
  test.each(Object.keys(FAMILIES))('%s', (family) => {
    const all = randomDags(family)
    const step = all.length / atMost(all.length, 3)
    const machines = all
      .filter((_, i) => Math.floor(i % step) === 0)
      .map(({ upstream }) => {
        const blocks = upstream.map((sources, v) => ({
          id: `b${v}`,
          upstream: sources.map((source) => `b${source}`),
          ...(v % 4 === 3 ? { approval: { timeout_sec: 1_800 } } : {}),
          ...(v % 5 === 1 ? { post_gates: [{ on_fail: 'ask' as const }] } : {}),
        }))
        return compileDag({ blocks }).definition
      })
    expect(aslErrorsOfAll(machines)).toBe('')
  })
})
