import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Block, GateUse } from '../../../shared/dag/dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { replayVerdict } from '../../../shared/gates/judge.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Whole runs whose gates are negated and composed, and what is left of them in the log. */
let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace()
})
afterAll(() => place.close())

const has = (value: string, port = 'plan') => ({ type: 'contains', port, values: [value] })
const EITHER = { any_of: [has('nothing', 'goal'), { ...has('secret', 'goal'), not: true }] }
const BOTH = {
  all_of: [has('ship'), { at_least: 1, of: [has('never'), { type: 'min_length', port: 'plan', min: 3 }] }],
}

const write = (more: object) => ({
  id: 'write',
  inputs: { goal: 'string' },
  outputs: { plan: 'string' },
  agent: {
    provider: 'local',
    model: 'template',
    prompt: 'Write.',
    model_params: { template: 'We ship {{inputs.goal}}.' },
  },
  ...more,
})
const gate = (name: string, check: object, more: object = {}) => ({ name, check, ...more })
const verdicts = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'block:gate' ? [event.data] : []))

describe('a run with composed gates', () => {
  test('passes them, records a warning that stops nothing, and shows both', async () => {
    const dag = {
      blocks: [
        write({
          pre_gates: [gate('either', EITHER), gate('other', has('x', 'goal'), { on_fail: 'retry' })],
          gate_composition: { pre: 'any' },
          post_gates: [gate('both', BOTH), gate('style', { ...has('ship'), not: true }, { on_fail: 'warn' })],
        }),
      ],
    }
    const id = await place.start(dag, { context: { goal: 'it' } })
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(verdicts(events).map(({ gate, type, status }) => [gate, type, status])).toEqual([
      ['either', 'any_of', 'passed'],
      ['other', 'contains', 'failed'],
      ['both', 'all_of', 'passed'],
      ['style', 'contains', 'failed'],
    ])
    expect(verdicts(events).at(-1)?.reason).toBe('must not hold: contains "ship"')
    const { json } = await place.call('get-run', id)
    expect(JSON.stringify(json)).toContain('"style"')

    const parsed = parseDag(dag, { name: 'composed' })
    if (!parsed.ok) throw new Error('it ran')
    const [block] = parsed.dag.blocks as readonly [Block]
    const uses = [...block.pre_gates, ...block.post_gates]
    const measured = { cost_usd: null, latency_ms: null }
    for (const recorded of verdicts(events)) {
      const use = uses.find(({ name }) => name === recorded.gate) as GateUse
      const outputs = recorded.phase === 'pre' ? {} : { plan: 'We ship it.' }
      const facts = { inputs: { goal: 'it' }, outputs, measured }
      expect([recorded.gate, await replayVerdict(recorded, use, facts, place.place.world)]).toEqual([
        recorded.gate,
        'same',
      ])
      const others = { ...facts, inputs: { goal: 'other' }, outputs: { plan: 'Other' } }
      expect(await replayVerdict(recorded, use, others, place.place.world)).toBe('other_input')
    }
  })

  test('tells the next try what the parts wanted, in words it can obey', async () => {
    const unmet = { at_least: 2, of: [has('ship'), has('Risks'), { ...has('we'), not: true }] }
    const dag = {
      blocks: [write({ post_gates: [gate('two', unmet)], retry: { max_attempts: 2, backoff: 'none', delay_ms: 1 } })],
    }
    const events = await place.ended(await place.start(dag, { context: { goal: 'it' } }))
    const reason = 'at least 2 of 3 must hold, 1 do: must contain "Risks"; must not hold: contains "we"'
    expect(verdicts(events).map(({ reason }) => reason)).toEqual([
      reason,
      '2 of 3 hold, at least 2 wanted: contains "ship"; contains "Risks"',
    ])
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('judges each item of a fan-out by a composed gate', async () => {
    const block = write({
      inputs: { goal: 'string' },
      foreach: { items: ['one', 'two'], as: 'item', item_gates: [gate('item', { all_of: [BOTH, EITHER] })] },
    })
    const events = await place.ended(await place.start({ blocks: [block] }, { context: { goal: 'it' } }))
    expect(verdicts(events).map(({ gate, status }) => [gate, status])).toEqual([
      ['item', 'passed'],
      ['item', 'passed'],
    ])
    expect(events.at(-1)?.type).toBe('run:completed')
  })
})
