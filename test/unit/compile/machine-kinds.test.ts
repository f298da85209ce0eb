import { expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/compiled-block.ts'
import { aslErrors } from '../../machines/asl-validator.ts'

/** One small machine of each kind, reviewed like code; what all machines have is in machine-text.test.ts. */
const back = (route_to: string) => [
  { when_gate: 'g', route_to, reset_blocks: [], max_bounces: 2, feedback_from: 'gate_verdicts' as const },
]

const KINDS: Readonly<Record<string, readonly CompiledBlock[]>> = {
  'a block that sends the run back, and one after it': [
    { id: 'build', upstream: [] },
    { id: 'review', upstream: ['build'], on_gate_fail: back('build') },
    { id: 'publish', upstream: ['review'] },
  ],
  'a module in a branch, with an approval, a Parallel and a join inside': [
    { id: 'a', upstream: [], on_gate_fail: back('a') },
    { id: 'plan', upstream: [], approval: { timeout_sec: 600 } },
    { id: 'x', upstream: ['plan'] },
    { id: 'y', upstream: ['plan'] },
    { id: 'x2', upstream: ['x'] },
    { id: 'review', upstream: ['x2'], on_gate_fail: back('plan') },
    { id: 'y2', upstream: ['x', 'y'], on_gate_fail: back('plan') },
  ],
  'a module that a join outside waits for': [
    { id: 'build', upstream: [], on_gate_fail: back('build') },
    { id: 'other', upstream: [] },
    { id: 'c', upstream: ['build'] },
    { id: 'd', upstream: ['build', 'other'] },
  ],
  'a fan-out': [{ id: 'each', upstream: [], foreach: { items: '{{inputs.files}}', max_concurrency: 50 } }],
  'a fan-out a person decides about, in a module': [
    {
      id: 'each',
      upstream: [],
      approval: { timeout_sec: 600 },
      foreach: { items: [1], max_concurrency: 4 },
      on_gate_fail: back('each'),
    },
  ],
  'a child run': [{ id: 'child', upstream: [], mode: 'dag' }],
  'a child run in a module': [{ id: 'child', upstream: [], mode: 'dag', on_gate_fail: back('child') }],
}

test.each(Object.entries(KINDS))('the machine of %s', (_, blocks) => {
  const { definition } = compileDag({ blocks })
  const { _settle, _end, _done, _failed, ...states } = definition.States
  const text = JSON.stringify({ StartAt: definition.StartAt, States: states }, withoutRetry, 1)
  expect(`\n${text}\n`).toMatchSnapshot()
  expect(aslErrors(definition)).toBe('')
})

test('a part and the machine that starts it', () => {
  const blocks = ['a', 'b', 'c'].map((id, v, all) => ({ id, upstream: all.slice(0, v).slice(-1) }))
  const { definition, parts } = compileDag({ blocks }, { bytes: 3_600, events: 500 })
  const { _settle, _end, _done, _failed, ...states } = definition.States
  expect(states).toMatchSnapshot()
  expect(parts.map(({ key, text }) => [key, Object.keys(JSON.parse(text).States)])).toMatchSnapshot()
  expect([definition, ...parts.map((part) => part.definition)].map(aslErrors)).toEqual(['', ''])
})

/** Retry is the same everywhere. */
function withoutRetry(key: string, value: unknown): unknown {
  return key === 'Retry' ? undefined : value
}
