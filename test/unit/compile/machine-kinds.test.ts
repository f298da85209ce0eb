import { expect, test } from 'vitest'
import { type AskingBlock, compileDag, markAskingBlocks } from '../../../shared/compile/compile-dag.ts'
import { weighSteps } from '../../../shared/compile/split-machine.ts'
import { aslErrors, aslErrorsOfAll } from '../../machines/asl-validator.ts'
import { ASK, KINDS } from '../../machines/kinds.ts'

/** One small machine of each kind, reviewed like code; what all machines have is in machine-text.test.ts. */
test.each(Object.entries(KINDS))('the machine of %s', (_, blocks) => {
  const { definition } = compileDag({ blocks })
  const { _settle, _end, _decide_completion, _done, _failed, ...states } = definition.States
  const text = JSON.stringify({ StartAt: definition.StartAt, States: states }, withoutRetry, 1)
  expect(`\n${text}\n`).toMatchSnapshot()
})

test('an independent validator has nothing against any of them', () => {
  const machines = Object.values(KINDS).map((blocks) => compileDag({ blocks }).definition)
  expect(aslErrorsOfAll(machines)).toBe('')
})

test('the machine of a document that asks for more budget: blocks and items ask by states of their own', () => {
  const blocks = [{ id: 'each', upstream: [], foreach: { items: [1, 2], max_concurrency: 4 } }]
  const { definition } = compileDag({ blocks, budget: { tokens: 1, on_exceed: 'ask' } })
  const { _settle, _end, _decide_completion, _done, _failed, ...states } = definition.States
  expect(`\n${JSON.stringify(states, withoutRetry, 1)}\n`).toMatchSnapshot()
  expect(aslErrors(definition)).toBe('')
  const quiet = compileDag({ blocks, budget: { tokens: 1, on_exceed: 'fail' } })
  expect(quiet.text).toBe(compileDag({ blocks }).text)
})

test('the history of a block that asks is weighed: a wait and a further call a question', () => {
  const plain = { id: 'a', upstream: [] }
  const events = (block: AskingBlock) => {
    const step = { kind: 'block', entry: 'a', block: markAskingBlocks([block], undefined)[0] ?? plain } as const
    return weighSteps([step], { signals: new Map(), epoch: false, known: new Map(), only: 'events' }).events
  }
  const asking = { ...plain, pre_gates: ASK, post_gates: ASK }
  expect([plain, { ...plain, post_gates: ASK }, asking, { ...asking, retry: { max_attempts: 2 } }].map(events)).toEqual(
    [5, 16, 27, 56],
  )
})

test('a part and the machine that starts it', () => {
  const blocks = ['a', 'b', 'c'].map((id, v, all) => ({ id, upstream: all.slice(0, v).slice(-1) }))
  const { definition, parts } = compileDag({ blocks }, { bytes: 5_400, events: 500 })
  const { _settle, _end, _decide_completion, _done, _failed, ...states } = definition.States
  expect(states).toMatchSnapshot()
  expect(parts.map(({ key, text }) => [key, Object.keys(JSON.parse(text).States)])).toMatchSnapshot()
  expect([definition, ...parts.map((part) => part.definition)].map(aslErrors)).toEqual(['', ''])
})

/** Retry is the same everywhere. */
function withoutRetry(key: string, value: unknown): unknown {
  return key === 'Retry' ? undefined : value
}
