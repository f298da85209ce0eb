import { describe, expect, test } from 'vitest'
import { applyEvent, newRunView } from '../../../clients/cli/run-view.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { ANSWER, EVENTS, START } from './run-events-sample.ts'

const viewAfter = (n: number) => EVENTS.slice(0, n).reduce(applyEvent, newRunView(ANSWER))
const states = (n: number) => [...viewAfter(n).blocks.values()].map(({ state }) => state)

describe('applyEvent()', () => {
  test('follows every block from pending to its end', () => {
    expect(states(0)).toEqual(['pending', 'pending', 'pending'])
    expect(states(2)).toEqual(['ready', 'pending', 'pending'])
    expect(states(5)).toEqual(['completed', 'running', 'pending'])
    expect(states(8)).toEqual(['completed', 'retrying', 'pending'])
    expect(states(12)).toEqual(['completed', 'completed', 'paused_approval'])
    expect(states(13)).toEqual(['completed', 'completed', 'ready'])
    expect(states(16)).toEqual(['completed', 'completed', 'completed'])
    expect(viewAfter(16)).toMatchObject({ state: 'completed', tokens: 120, started_at: START, ended_at: START + 1_000 })
  })

  test('counts the verdicts of the present attempt only', () => {
    expect(viewAfter(7).blocks.get('draft')).toMatchObject({ attempt: 1, passed: 0, failed: 1 })
    expect(viewAfter(9).blocks.get('draft')).toMatchObject({ attempt: 2, passed: 0, failed: 0 })
    expect(viewAfter(10).blocks.get('draft')).toMatchObject({ attempt: 2, passed: 1, failed: 0 })
  })

  test('cancels every block that has not ended when the run ends', () => {
    const stop = { ...EVENTS[15], type: 'run:cancelled', data: { code: 'stopped', reason: 'by hand' } } as RunEvent
    const view = applyEvent(viewAfter(6), stop)
    expect([...view.blocks.values()].map(({ state }) => state)).toEqual(['completed', 'cancelled', 'cancelled'])
    expect(view).toMatchObject({ state: 'cancelled', reason: 'by hand' })
  })

  test('changes nothing for events and blocks it does not know', () => {
    const unknown = { ...EVENTS[3], type: 'block:teleported' } as unknown as RunEvent
    expect([...applyEvent(viewAfter(3), unknown).blocks]).toEqual([...viewAfter(3).blocks])
    const other = { ...EVENTS[3], block_id: 'nowhere' } as RunEvent
    expect([...applyEvent(viewAfter(3), other).blocks]).toEqual([...viewAfter(3).blocks])
  })
})
