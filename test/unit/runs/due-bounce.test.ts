import { describe, expect, test } from 'vitest'
import type { BounceModule } from '../../../shared/dag/bounce-modules.ts'
import { dueBounceRule, spentBounceWords } from '../../../shared/runs/bounce-rules.ts'
import { blockEpoch, blockOrdinal, blockOutcome } from '../../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../../shared/runs/lane.ts'

const rule = (key: string, when_gate: string, hull: readonly string[], max_bounces = 1) => ({
  key,
  block: 'review',
  hull,
  bounce: {
    when_gate,
    route_to: hull[0] ?? '',
    reset_blocks: [],
    max_bounces,
    feedback_from: 'gate_verdicts' as const,
  },
})
const module: BounceModule = {
  key: 0,
  blocks: ['plan', 'build', 'review'],
  sinks: ['review'],
  rules: [rule('2.0', 'sound', ['plan', 'build', 'review']), rule('2.1', 'short', ['build', 'review'], 2)],
}
const gate = (name: string, on_fail: 'route' | 'warn') => ({ name, on_fail, check: { type: 'not_empty' } })
const block = { id: 'review', pre_gates: [gate('short', 'route')], post_gates: [gate('sound', 'route')] }
const fired = (counts: Record<string, number>, epochs: Record<string, number> = {}) => ({
  epoch: Math.max(0, ...Object.values(epochs)),
  rules: Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, { count, epoch: epochs[key] ?? 1 }])),
})

describe('dueRule()', () => {
  test.each<[string, readonly string[], Record<string, number>, string | undefined, string]>([
    ['no gate failed', [], {}, undefined, ''],
    ['a gate no rule looks at', ['other'], {}, undefined, ''],
    ['the first of two', ['short', 'sound'], {}, '2.0', ''],
    ['the second when the first is spent', ['short', 'sound'], { '2.0': 1 }, '2.1', ''],
    ['the one whose gate failed', ['short'], {}, '2.1', ''],
    ['one bounce left', ['short'], { '2.1': 1 }, '2.1', ''],
    ['all spent', ['short', 'sound'], { '2.0': 1, '2.1': 2 }, undefined, ' after 1 of 1 bounces'],
    ['spent', ['short'], { '2.1': 2 }, undefined, ' after 2 of 2 bounces'],
  ])('%s', (_name, gates, counts, due, words) => {
    const failed = { module, fired: fired(counts), block, gates }
    expect([dueBounceRule(failed)?.key, spentBounceWords(failed)]).toEqual([due, words])
  })

  test('nothing sends back outside a module, for another block, or for a gate that only warns', () => {
    const gates = ['short', 'sound']
    const none = { fired: undefined, gates }
    expect(dueBounceRule({ ...none, module: undefined, block })).toBeUndefined()
    expect(dueBounceRule({ ...none, module, block: { ...block, id: 'build' } })).toBeUndefined()
    const warns = { ...block, pre_gates: [gate('short', 'warn')], post_gates: [gate('sound', 'warn')] }
    expect(dueBounceRule({ ...none, module, block: warns })).toBeUndefined()
  })
})

describe('the epoch of a block', () => {
  const places = {
    index: new Map(['plan', 'build', 'review', 'after'].map((id, i) => [id, i])),
    moduleOf: new Map(module.blocks.map((id) => [id, module])),
  }
  const at = (epoch: number) => ordinal({ epoch, attempt: 1, phase: PHASE.completed })
  const lanes = { 0: at(1), 1: at(2), 2: at(1), 3: at(0) }

  test('is the greatest of the rules that reset it, 0 without one', () => {
    const head = { lanes, modules: { 0: fired({ '2.0': 1, '2.1': 1 }, { '2.0': 1, '2.1': 2 }) } }
    expect(['plan', 'build', 'review', 'after'].map((id) => blockEpoch(places, head, id))).toEqual([1, 2, 2, 0])
    expect(blockEpoch(places, { modules: {} }, 'build')).toBe(0)
  })

  test('hides a lane of an earlier one', () => {
    const head = { lanes, modules: { 0: fired({ '2.0': 1, '2.1': 1 }, { '2.0': 1, '2.1': 2 }) } }
    expect(blockOrdinal(places, head, 'review')).toBeUndefined()
    expect(blockOutcome(places, head, 'review')).toBeUndefined()
    expect(['plan', 'build', 'after'].map((id) => blockOutcome(places, head, id))).toEqual(Array(3).fill('completed'))
  })
})
