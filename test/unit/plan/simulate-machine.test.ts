import { describe, expect, test } from 'vitest'
import type { Machine } from '../../../shared/compile/asl.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { machinesToSimulate } from '../../../shared/plan/compiled-machines.ts'
import { criticalPath, type Upstream } from '../../../shared/plan/critical-path.ts'
import { type Outcomes, simulateMachine } from '../../../shared/plan/simulate-machine.ts'
import { EACH } from '../../how-much.ts'
import { FAMILIES, randomDags, randomFrom } from '../../machines/random-dags.ts'
import { simulate } from '../../machines/virtual-time.ts'
import { ALL, BOUNCING, CHILD, dagOf, FANNED_OUT } from './documents.ts'

const PLAIN: Outcomes = { seconds: () => 1, items: () => 0, bounces: () => 0, max_parallel: 0 }

function compiled(upstream: Upstream, caps?: { bytes: number; events: number }) {
  const blocks = upstream.map((sources, v) => ({ id: `b${v}`, upstream: sources.map((source) => `b${source}`) }))
  return compileDag({ blocks }, caps)
}

/** Seconds that add up exactly, zero among them. */
function randomSeconds(blocks: number, seed: number): readonly number[] {
  const random = randomFrom(seed)
  return Array.from({ length: blocks }, () => Math.floor(random() * 64) / 8)
}

function pathOf(upstream: Upstream, seconds: readonly number[]) {
  const path = criticalPath(upstream, seconds)
  if ('cycle' in path) throw new Error('a random DAG has a cycle')
  return path
}

describe('simulateMachine() of 2,000 random DAGs', () => {
  test.each(Object.keys(FAMILIES))('%s: every block starts at its critical-path start', (family) => {
    randomDags(family).forEach(({ name, upstream }, seed) => {
      if (seed % EACH !== 0) return
      const seconds = randomSeconds(upstream.length, seed)
      const path = pathOf(upstream, seconds)
      const run = simulateMachine(machinesToSimulate(compiled(upstream)), {
        ...PLAIN,
        seconds: (id) => seconds[Number(id.slice(1))] ?? 0,
      })
      expect(run.makespan, name).toBe(path.length)
      expect(upstream.map((_, v) => run.started.get(`b${v}`))).toEqual(path.starts)
      expect(run.works).toBe(upstream.length)
    })
  })

  test.each(['data pipeline', 'build and test', 'dense'])('%s: machines cut into parts keep every start', (family) => {
    for (const { name, upstream } of randomDags(family).slice(90)) {
      const machines = machinesToSimulate(compiled(upstream, { bytes: 9_000, events: 300 }))
      const run = simulateMachine(machines, PLAIN)
      expect(run.makespan, name).toBe(pathOf(upstream, Array(upstream.length).fill(1)).length)
      expect(run.executions).toHaveLength(1 + machines.parts.size)
    }
  })

  test('an independent simulation sees the same starts', () => {
    for (const { upstream } of randomDags('grid').slice(0, 60)) {
      const { definition } = compiled(upstream)
      const other = simulate(definition, { tries: () => [1], secondsToRetry: 0, decision: () => 0 })
      const run = simulateMachine({ main: definition, parts: new Map() }, PLAIN)
      expect([...run.started]).toEqual(expect.arrayContaining([...other.started]))
      expect(run.makespan).toBe(other.finished?.time)
    }
  })
})

describe('simulateMachine() with a limit of blocks at once', () => {
  test.each([
    [1, 6],
    [2, 3],
    [4, 2],
    [6, 1],
    [0, 1],
  ])('%i at once make six equal blocks take %i seconds', (max_parallel, makespan) => {
    const machines = machinesToSimulate(compiled(Array.from({ length: 6 }, () => [])))
    const run = simulateMachine(machines, { ...PLAIN, max_parallel })
    expect(run.makespan).toBe(makespan)
    expect(run.at_once).toBe(max_parallel || 6)
  })

  test('is at least the critical path, at most one after the other, and no later than twice the best', () => {
    for (const [seed, { upstream }] of randomDags('layered').entries()) {
      const seconds = randomSeconds(upstream.length, seed)
      const total = seconds.reduce((sum, one) => sum + one, 0)
      const path = pathOf(upstream, seconds).length
      const machines = machinesToSimulate(compiled(upstream))
      const outcomes = { ...PLAIN, seconds: (id: string) => seconds[Number(id.slice(1))] ?? 0, max_parallel: 3 }
      const { makespan = Number.NaN } = simulateMachine(machines, outcomes)
      expect(makespan).toBeGreaterThanOrEqual(path)
      // Graham's bound of list scheduling.
      expect(makespan).toBeLessThanOrEqual(path + (total - path) / 3)
    }
  })
})

describe('simulateMachine() of the whole language', () => {
  test.each([
    [0, 3],
    [1, 4],
    [3, 6],
  ])('a module that bounces %i times takes its blocks again', (bounces, makespan) => {
    const machines = machinesToSimulate(compileDag(dagOf(BOUNCING)))
    const run = simulateMachine(machines, {
      ...PLAIN,
      bounces: () => bounces,
      seconds: (id) => (id === 'write' ? 0 : 1),
    })
    expect(run.makespan).toBe(makespan)
    expect(run.calls.CloseModule).toBe(bounces + 1)
    expect(run.works).toBe(4 + 2 * bounces)
  })

  test.each([
    [0, 0],
    [1, 1],
    [4, 1],
    [5, 2],
    [100, 25],
  ])('a foreach of %i items, four at once, takes %i rounds', (items, rounds) => {
    const machines = machinesToSimulate(compileDag(dagOf(FANNED_OUT)))
    const run = simulateMachine(machines, { ...PLAIN, items: () => items, seconds: (id) => (id === 'each' ? 1 : 0) })
    expect(run.makespan).toBe(rounds)
    expect(run.at_once).toBe(Math.max(1, Math.min(4, items)))
  })

  test.each(['p', 'q'])('joins in a module start afresh each time it runs again (%s is slow)', (slow) => {
    const compiled = compileDag(dagOf(ALL))
    expect(compiled.joins.map(({ sources }) => sources)).toContainEqual([expect.stringMatching(/^[pq]$/)])
    const seconds = (id: string) => (id === slow ? 10 : ['w', 's'].includes(id) ? 1 : 0)
    const runs = [0, 1, 4].map((times) =>
      simulateMachine(machinesToSimulate(compiled), { ...PLAIN, seconds, bounces: () => times }),
    )
    expect(runs.map(({ makespan }) => makespan)).toEqual([12, 24, 60])
  })

  test('a child run is waited for, and costs two states', () => {
    const run = simulateMachine(machinesToSimulate(compileDag(dagOf(CHILD))), PLAIN)
    expect(run).toMatchObject({ makespan: 2, calls: { OpenChild: 1, RunBlock: 2, Settle: 1 } })
    expect(run.executions).toEqual([{ name: 'main', transitions: 6, events: 2 + 6 + 5 + 5 + 5 + 2 + 2 }])
  })

  test('a join that nobody signals hangs, which is said and not hidden', () => {
    const wait = { join: 'x', need: 2 }
    const machine: Machine = {
      StartAt: '_wait_b',
      States: {
        _wait_b: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
          // biome needs the placeholder in a plain text.
          Arguments: { FunctionName: '$' + '{WaitJoin}', Payload: wait },
          End: true,
        },
      },
    }
    expect(simulateMachine({ main: machine, parts: new Map() }, PLAIN).makespan).toBeUndefined()
  })
})
