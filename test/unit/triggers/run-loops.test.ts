import fc from 'fast-check'
import { expect, test } from 'vitest'
import { strangeTriggers, triggerLoops } from '../../../shared/triggers/run-loops.ts'
import type { Trigger } from '../../../shared/triggers/trigger.ts'

const on = (...dags: readonly string[]): readonly Trigger[] =>
  dags.map((dag) => ({ name: `after-${dag}`, kind: 'run', inputs: {}, run: { dag, ends: ['completed'], map: {} } }))
const timed: Trigger = {
  name: 't',
  kind: 'schedule',
  inputs: {},
  schedule: { cron: '0 6 * * *', timezone: 'UTC', overlap: 'skip', catch_up: 'none' },
}

test('documents that start each other are a loop, told at each of its triggers', () => {
  const documents = [
    { name: 'a', triggers: [timed, ...on('c')] },
    { name: 'b', triggers: on('a') },
    { name: 'c', triggers: on('b') },
    { name: 'd', triggers: on('a', 'c') },
  ]
  expect(triggerLoops(documents)).toEqual([
    {
      document: 'a',
      index: 1,
      text: 'closes a loop: the end of a run of "a" starts that of "b", that of "c", that of "a"',
    },
    expect.objectContaining({ document: 'b', index: 0 }),
    expect.objectContaining({ document: 'c', index: 0 }),
  ])
  expect(triggerLoops([{ name: 'a', triggers: on('a') }])).toHaveLength(1)
})

test('those that only follow one another are none, whatever their order', () => {
  const acyclic = fc.array(fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 })), { maxLength: 20 })
  fc.assert(
    fc.property(acyclic, (pairs) => {
      const down = pairs.filter(([from, to]) => from < to)
      const documents = Array.from({ length: 9 }, (_, i) => ({
        name: `d${i}`,
        triggers: on(...down.filter(([, to]) => to === i).map(([from]) => `d${from}`)),
      }))
      expect(triggerLoops(documents)).toEqual([])
      const [edge] = down
      if (edge === undefined) return
      const [from, to] = edge
      const closed = documents.map((one, i) => (i === from ? { ...one, triggers: on(`d${to}`) } : one))
      expect(triggerLoops(closed).length).toBeGreaterThanOrEqual(2)
    }),
  )
})

test('a document that is not there is told', () => {
  const documents = [
    { name: 'a', triggers: on('b', 'x') },
    { name: 'b', triggers: [timed] },
  ]
  expect(strangeTriggers(documents)).toMatchObject([{ document: 'a', name: 'after-x' }])
})
