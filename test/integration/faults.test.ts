import { beforeAll, describe, expect, test } from 'vitest'
import { uncovered } from '../faults/coverage.ts'
import { loadHandlers } from '../faults/functions.ts'
import { PROFILES } from '../faults/scenario.ts'
import { simulate } from '../faults/simulate.ts'
import { atMost, WHOLE } from '../how-much.ts'

/** A small share of `npm run test:faults`, which runs any number of seeds. */
const SEEDS = Array.from({ length: atMost(24, 6) }, (_, i) => i + 1)
const SOME_PROFILES = PROFILES.filter((_, at) => WHOLE || at % 3 === 0)
/** Short stories; the others are in the run of everything. */
const DAILY_SEEDS = new Set([3, 4, 6])
const [DAILY_PROFILE] = SOME_PROFILES

beforeAll(loadHandlers, 60_000)

describe.each(['sqlite', 'dynamodb'] as const)('the whole place in simulation, on %s', (store) => {
  for (const seed of SEEDS) {
    test(`holds every invariant: seed ${seed}`, { tags: DAILY_SEEDS.has(seed) ? [] : ['thorough'] }, async () => {
      const { violations } = await simulate({ seed, store })
      expect(violations, `npm run test:faults -- --seed ${seed} --store ${store}`).toEqual([])
    })
  }

  for (const profile of SOME_PROFILES) {
    const tags = store === 'sqlite' && profile === DAILY_PROFILE ? [] : ['thorough']
    test(`does the same again, byte for byte, with profile ${profile}`, { tags }, async () => {
      const [first, second] = [
        await simulate({ seed: 77, store, profile }),
        await simulate({ seed: 77, store, profile }),
      ]
      expect(second.digest).toBe(first.digest)
      expect(second.lines).toEqual(first.lines)
      expect(first.events).toBeGreaterThan(0)
    })
  }

  test('another seed is another story; faults that are taken out do not happen', { tags: ['thorough'] }, async () => {
    const order = { seed: 2, store, profile: 'storm' } as const
    const first = await simulate(order)
    const other = await simulate({ ...order, seed: 3 })
    expect(other.digest).not.toBe(first.digest)
    const faults = new Set(first.faults.slice(0, 1).map(({ name }) => name))
    const without = await simulate({ ...order, without: { faults, acts: new Set(), blocks: new Set() } })
    expect(without.faults.filter(({ name }) => faults.has(name))).toEqual([])
    expect(without.faults[1]?.name).not.toBe(first.faults[0]?.name)
  })
})

test('a point that no call came by is told, and so is one that was reached too seldom', () => {
  const reached = { 'wait-join/runs.waitJoin/before': 3, 'wait-join/runs.waitJoin/after': 20 }
  const left = uncovered({ reached, struck: {} })
  expect(left).toContain('wait-join/runs.waitJoin/before: 3 times')
  expect(left).toContain('wait-join/machine: never')
  expect(left.filter((line) => line.startsWith('wait-join/runs'))).toHaveLength(1)
})
