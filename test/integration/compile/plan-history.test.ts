import { describe, expect, test } from 'vitest'
import { type CompiledDag, compileDag } from '../../../shared/compile/compile-dag.ts'
import { machinesToSimulate } from '../../../shared/plan/compiled-machines.ts'
import { simulateMachine } from '../../../shared/plan/simulate-machine.ts'
import { FAMILIES, randomDags } from '../../machines/random-dags.ts'
import { type GivenOutcomes, runHistory } from '../../machines/run-history.ts'
import { ALL, BOUNCING, CHILD, dagOf, FANNED_OUT } from '../../unit/plan/documents.ts'

const PLAIN: GivenOutcomes = { items: () => 0, bounces: 0 }

/** What `sluice plan` says of it. */
function predicted(compiled: CompiledDag, { items, bounces }: GivenOutcomes) {
  const run = simulateMachine(machinesToSimulate(compiled), {
    seconds: () => 0,
    items,
    bounces: () => bounces,
    max_parallel: 0,
  })
  return run.executions.map(({ transitions, events }) => ({ transitions, events }))
}

/** Parts that begin at one instant may begin in any order. */
function sorted<T>(executions: readonly T[]): readonly string[] {
  return executions.map((execution) => JSON.stringify(execution)).sort()
}

async function expectPredicted(compiled: CompiledDag, outcomes = PLAIN): Promise<void> {
  expect(sorted(await runHistory(compiled, outcomes))).toEqual(sorted(predicted(compiled, outcomes)))
}

describe('the history of a run in the interpreter is what the plan predicts', () => {
  test.each(Object.keys(FAMILIES))('%s: blocks, joins, approvals', async (family) => {
    for (const { upstream } of randomDags(family).filter((_, i) => i % 25 === 24)) {
      const blocks = upstream.map((sources, v) => ({
        id: `b${v}`,
        upstream: sources.map((source) => `b${source}`),
        ...(v % 4 === 3 ? { approval: { timeout_sec: 60 } } : {}),
      }))
      await expectPredicted(compileDag({ blocks }))
    }
  })

  test.each([0, 1, 7, 60])('a foreach of %i items', async (items) => {
    await expectPredicted(compileDag(dagOf(FANNED_OUT)), { ...PLAIN, items: () => items })
  })

  test.each([0, 1, 3])('%i bounces', async (bounces) => {
    await expectPredicted(compileDag(dagOf(BOUNCING)), { ...PLAIN, bounces })
  })

  test('a child run', async () => {
    await expectPredicted(compileDag(dagOf(CHILD)))
  })

  test.each([
    [0, 0],
    [3, 0],
    [2, 4],
  ])('all of it at once: %i items, %i bounces', async (items, bounces) => {
    const compiled = compileDag(dagOf(ALL))
    expect(compiled.joins.length).toBeGreaterThan(0)
    await expectPredicted(compiled, { items: () => items, bounces })
  })

  test('machines cut into parts, with joins across them', async () => {
    const { upstream = [] } = randomDags('build and test').at(-1) ?? {}
    const blocks = upstream.map((sources, v) => ({ id: `b${v}`, upstream: sources.map((source) => `b${source}`) }))
    const compiled = compileDag({ blocks }, { bytes: 9_000, events: 300 })
    expect(compiled.parts.length).toBeGreaterThan(1)
    await expectPredicted(compiled)
  })
})
