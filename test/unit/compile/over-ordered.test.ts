import { expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'

/** `c <- a b` waits for both; `c => a` sends the run back to a. */
function overOrdered(...lines: readonly string[]): readonly string[] {
  const blocks = lines.map((line) => {
    const [, id = '', sources = '', to] = /^(\w+)(?: <- ([\w ]+?))?(?: => (\w+))?$/.exec(line) ?? []
    const upstream = sources.split(' ').filter(Boolean)
    if (to === undefined) return { id, upstream }
    const rule = {
      when_gate: 'g',
      route_to: to,
      reset_blocks: [],
      max_bounces: 1,
      feedback_from: 'gate_verdicts' as const,
    }
    return { id, upstream, on_gate_fail: [rule] }
  })
  return compileDag({ blocks }).over_ordered.map(({ before, after, module }) => `${before} < ${after} (${module})`)
}

test('a module of the order adds nothing', () => {
  expect(overOrdered('a', 'b <- a', 'c <- b => b', 'd <- c')).toEqual([])
  expect(overOrdered('a => a', 'b', 'c <- a b')).toEqual([])
})

test('what waits for one block of a module waits for its last ones', () => {
  expect(overOrdered('a', 'b <- a', 'c <- b => a', 'd <- a')).toEqual(['c < d (0)'])
})

test('a module begins when all it waits for has ended', () => {
  expect(overOrdered('p', 'a', 'b <- a p => a', 'c <- b')).toEqual(['p < a (0)'])
})

test('what other waits imply is left out', () => {
  expect(overOrdered('p', 'q <- p', 'a <- p', 'b <- a q => a', 'c <- b')).toEqual(['q < a (0)'])
})

test('the reason names the module', () => {
  const rule = {
    when_gate: 'g',
    route_to: 'a',
    reset_blocks: [],
    max_bounces: 1,
    feedback_from: 'gate_verdicts' as const,
  }
  const blocks = [
    { id: 'a', upstream: [] },
    { id: 'b', upstream: ['a'], on_gate_fail: [rule] },
    { id: 'c', upstream: ['a'] },
  ]
  expect(compileDag({ blocks }).over_ordered[0]?.reason).toMatch(/^bounce module 0 /)
})
