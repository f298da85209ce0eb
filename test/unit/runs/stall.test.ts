import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { findStall } from '../../../shared/runs/stall.ts'
import {
  decided,
  ended,
  logOf,
  ready,
  requested,
  retrying,
  runStarted,
  type Step,
  second,
  started,
} from './event-log.ts'

/** What the watchdog looks at of a block. */
const block = (id: string, more: object = {}) =>
  ({ id, upstream: [], mode: 'agent', timeout_ms: 120_000, pre_gates: [], post_gates: [], ...more }) as unknown as Block
const dagOf = (...blocks: readonly Block[]) => ({ name: 'stalls', blocks }) as unknown as Dag
const plain = dagOf(block('a'), block('b', { upstream: ['a'] }))

/** Seconds after the start at which the run counts as stalled, and which blocks were to go on. */
function stall(dag: Dag, steps: readonly Step[], since = steps.length) {
  const rules = { stall_ms: 300_000, max_block_ms: 840_000, max_call_ms: 3_600_000 }
  const found = findStall(dag, logOf(steps), Date.parse(second(since)), rules)
  return found && { at: (found.at - Date.parse(second(0))) / 1_000, blocks: found.blocks }
}

describe('stallOf()', () => {
  test('is stall_sec after the last event where something should go on', () => {
    expect(stall(plain, [runStarted])).toEqual({ at: 301, blocks: ['a'] })
    expect(stall(plain, [runStarted, started('a', 1), ended('a', 1, 'completed')])).toEqual({ at: 303, blocks: ['b'] })
    const all = ['a', 'b'].flatMap((id) => [started(id, 1), ended(id, 1, 'completed')])
    expect(stall(plain, [runStarted, ...all])).toEqual({ at: 305, blocks: [] })
  })

  test('counts from what else moved: the end of a child, the release from the queue', () => {
    expect(stall(plain, [runStarted], 5_000)).toEqual({ at: 5_300, blocks: ['a'] })
  })

  test('waits for a person as long as it takes, and not any more once he decided', () => {
    const asked = [runStarted, ready('a'), requested('a')]
    expect(stall(plain, asked)).toBeUndefined()
    expect(stall(plain, [...asked, decided('a', 'approve')])).toEqual({ at: 304, blocks: ['a'] })
  })

  test('waits for a retry until it is due, and stall_sec after that', () => {
    expect(stall(plain, [runStarted, started('a', 1), retrying('a', 1, 5_000)])?.at).toBe(5_300)
    expect(stall(plain, [runStarted, started('a', 1), retrying('a', 1, 4)])?.at).toBe(304)
  })

  test('waits for an attempt inside its own timeout, and a minute for its record', () => {
    const slow = dagOf(block('a', { timeout_ms: 600_000 }))
    expect(stall(slow, [runStarted, started('a', 1)])?.at).toBe(662)
    expect(stall(plain, [runStarted, started('a', 1)])?.at).toBe(302)
    const endless = dagOf(block('a', { timeout_ms: 10_000_000 }))
    expect(stall(endless, [runStarted, started('a', 1)])?.at).toBe(902)
    const call = dagOf(block('a', { mode: 'deterministic', handler: 'container', timeout_ms: 10_000_000 }))
    expect(stall(call, [runStarted, started('a', 1)])?.at).toBe(3_662)
  })

  test('waits for the items of a fan-out, not for the block that only counts them', () => {
    const fan = dagOf(block('a', { timeout_ms: 600_000, foreach: { item_gates: [] } }))
    const of = (step: Step): Step => ({ ...step, lane: '0.0', event: { ...step.event, item: 0 } })
    expect(stall(fan, [runStarted, started('a', 1)])?.at).toBe(302)
    expect(stall(fan, [runStarted, started('a', 1), of(started('a', 1))])?.at).toBe(663)
  })

  test('waits for gates that ask somebody as long as a function may live', () => {
    for (const check of [{ type: 'shell' }, { type: 'any_of', any_of: [{ type: 'http' }, { type: 'not_empty' }] }]) {
      const asking = dagOf(block('a', { pre_gates: [{ name: 'g', check }] }))
      expect(stall(asking, [runStarted])?.at).toBe(931)
    }
    const pure = dagOf(block('a', { pre_gates: [{ name: 'g', check: { type: 'not_empty' } }] }))
    expect(stall(pure, [runStarted])?.at).toBe(301)
  })
})
