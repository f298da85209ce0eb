import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import {
  agentCounts,
  agentCountWords,
  agentItemNames,
  agentItemWords,
  callItem,
  questionItem,
  readAgentItem,
  turnItem,
} from '../../../shared/runs/turns-and-calls.ts'

const started = (over: object): RunEvent =>
  ({
    ...{ seq: 1, id: '0/10/0', run_id: 'run_1', at: '2026-01-01T00:00:00.000Z', type: 'block:started', attempt: 1 },
    data: { inputs_hash: '', context_version: 0, holder: '', lease_until: '' },
    block_id: 'act',
    ...over,
  }) as RunEvent
const data = (more: object) => ({ inputs_hash: '', context_version: 0, holder: '', lease_until: '', ...more })

describe('turns and calls as items', () => {
  test('are found by their number, and named as people count', () => {
    expect([readAgentItem(turnItem(2)), readAgentItem(callItem(2, 3))]).toEqual([{ turn: 2 }, { turn: 2, call: 3 }])
    expect([agentItemWords(0), agentItemWords(203), agentItemWords(203, 'crm.refund')]).toEqual([
      'turn 1',
      'call 3 of turn 3',
      'call 3 of turn 3 (crm.refund)',
    ])
    expect([questionItem('apr_x_0_1_i203a2'), questionItem('apr_x_0_1_a2'), questionItem('apr_x_0_1')]).toEqual([
      203,
      undefined,
      undefined,
    ])
  })

  test('are counted by how they stand', () => {
    const refused = { state: 'failed', error: { code: 'ask_rejected' } }
    const counts = agentCounts({
      first_turn: 0,
      items: {
        ...{ 0: { state: 'completed' }, 1: { state: 'paused_approval' }, 2: refused, 3: { state: 'ready' } },
        ...{ 4: { state: 'failed', error: { code: 'tool_failed' } }, 5: { state: 'completed' } },
      },
    })
    expect(counts).toEqual({ turns: 1, calls: 5, waiting: 1, running: 1, refused: 1, failed: 1 })
    expect(counts && agentCountWords(counts)).toBe(
      '1 turn, 5 calls (1 waits for a person, 1 under way, 1 refused, 1 failed)',
    )
    expect(agentCounts({ items: { 0: { state: 'completed' } } })).toBeUndefined()
  })

  test('have names in events, which what came before says; items of a list have none', () => {
    const names = agentItemNames()
    expect(names(started({ data: data({ items: { count: 0, inputs_ref: '', turn: 0 } }) }))).toBeUndefined()
    expect(names(started({ item: 0 }))).toBe('turn 1')
    const call = { tool: 'crm__refund', use: 'crm.refund', args_ref: '' }
    expect(names(started({ item: 1, data: data({ call }) }))).toBe('call 1 of turn 1 (crm.refund)')
    expect(names(started({ item: 1, type: 'block:completed', data: {} }))).toBe('call 1 of turn 1 (crm.refund)')
    const asked = { type: 'approval:requested', data: { approval_id: 'apr_x_0_0_i1a1' } }
    expect(names(started(asked))).toBe('call 1 of turn 1 (crm.refund)')
    expect(names(started({ block_id: 'list', data: data({ items: { count: 3, inputs_ref: '' } }) }))).toBeUndefined()
    expect(names(started({ block_id: 'list', item: 1 }))).toBeUndefined()
    const known = agentItemNames({ act: { first_turn: 0, items: { 1: { tool: 'graph.read' } } } })
    expect(known(started({ item: 1, type: 'block:completed', data: {} }))).toBe('call 1 of turn 1 (graph.read)')
  })
})
