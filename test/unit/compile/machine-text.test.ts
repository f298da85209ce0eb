import { expect, test } from 'vitest'
import type { Machine, State } from '../../../shared/compile/asl.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/emit-block.ts'
import { aslErrors } from '../../machines/asl-validator.ts'
import { FAMILIES, randomDags } from '../../machines/random-dags.ts'

/** `c <- a b` is a block; `c? <- a` asks a person first. */
function compile(...lines: readonly string[]) {
  const blocks = lines.map((line): CompiledBlock => {
    const [name = '', sources = ''] = line.split(' <- ')
    const block = { id: name.replace('?', ''), upstream: sources.split(' ').filter(Boolean) }
    return name.endsWith('?') ? { ...block, approval: { timeout_sec: 1_800 } } : block
  })
  return compileDag({ blocks })
}

/** The states without what a Task holds, one a line, branches indented. */
function outline({ StartAt, States }: Machine, indent = ''): string {
  const lines = Object.entries(States).map(([name, state]) => {
    const inner = state.Type === 'Parallel' ? state.Branches.map((branch) => outline(branch, `${indent}  | `)) : []
    return [`${indent}${name === StartAt ? '> ' : ''}${name}${arrow(state)}`, ...inner].join('\n')
  })
  return lines.filter((line) => !/^[ |]*(> )?_(retry|settle|end|decide_completion|done|failed)/.test(line)).join('\n')
}

function arrow(state: State): string {
  const payload =
    state.Type === 'Task' ? (state.Arguments as { Payload: { joins?: readonly string[]; join?: string } }).Payload : {}
  const signals = payload.joins !== undefined && payload.joins.length > 0 ? ` signals ${payload.joins}` : ''
  const waits = payload.join === undefined ? '' : ` waits for ${payload.join}`
  return `${signals}${waits}${'Next' in state ? ` -> ${state.Next}` : ''}`
}

test('the whole machine of the canonical example', () => {
  expect(compile('plan', 'implement <- plan').definition).toMatchSnapshot()
})

test('the whole machine of a block that is joined and approved', () => {
  const { definition } = compile('a', 'b', 'c <- a', 'd? <- a b')
  expect(definition).toMatchSnapshot()
  expect(aslErrors(definition)).toBe('')
})

test('the whole machine of blocks that wait: for a time, until one, an event for each item of a list', () => {
  const timeout = { timeout_sec: 60, on_timeout: 'fail' } as const
  const { definition } = compileDag({
    blocks: [
      { id: 'a', upstream: [], mode: 'wait', wait: { kind: 'for', sec: 90 } },
      { id: 'b', upstream: ['a'], mode: 'wait', wait: { kind: 'until', at: '{{inputs.at}}' } },
      {
        id: 'c',
        upstream: ['b'],
        mode: 'wait',
        wait: { kind: 'event', name: 'go', ...timeout },
        foreach: { items: ['x'], max_concurrency: 2 },
      },
    ],
  })
  expect(definition).toMatchSnapshot()
  expect(aslErrors(definition)).toBe('')
})

test('a retry of an approved block goes through its approval state, which knows the decision', () => {
  const states = compile('a?', 'b <- a').definition.States
  expect(states._retry_a).toMatchObject({ Type: 'Wait', Next: '_approve_a' })
  expect(states._retry_b).toMatchObject({ Type: 'Wait', Next: 'b' })
})

test.each([
  ['a diamond', ['a', 'b <- a', 'c <- a', 'd <- b c']],
  ['an N', ['a', 'b', 'c <- a', 'd <- a b']],
  ['an implied edge', ['a', 'b <- a', 'c <- a b']],
  [
    'two blocks behind the same two, and one more',
    ['a', 'b', 'x <- a b', 'y <- a b', 'x2 <- x', 'c <- a', 'd <- b c y'],
  ],
  ['blocks without edges', ['a', 'b', 'c']],
  ['one block', ['a']],
])('outline of %s', (_, lines) => {
  expect(`\n${outline(compile(...lines).definition)}\n`).toMatchSnapshot()
})

test('figures of the 125 DAGs of each family: blocks, joins, signals, Parallels', () => {
  const figures = Object.keys(FAMILIES).map((family) => {
    const compiled = randomDags(family).map(({ upstream }) =>
      compile(...upstream.map((sources, v) => `b${v} <- ${sources.map((source) => `b${source}`).join(' ')}`)),
    )
    const sum = (count: (one: ReturnType<typeof compile>) => number) =>
      compiled.reduce((all, one) => all + count(one), 0)
    const signals = sum(({ joins }) => joins.reduce((all, { sources }) => all + sources.length, 0))
    return `${family}: ${sum((one) => one.figures.blocks)}, ${sum((one) => one.figures.joins)}, ${signals}, ${sum((one) => one.figures.parallels)}`
  })
  expect(figures.join('\n')).toMatchSnapshot()
})
