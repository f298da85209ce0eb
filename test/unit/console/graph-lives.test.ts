import { expect, test } from 'vitest'
import { blockStatuses } from '../../../clients/console/run/graph/block-status.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import type { BlockFold, RunFold } from '../../../shared/runs/run-fold.ts'

const NOTHING = foldRun([])
const BLOCK: BlockFold = { state: 'running', attempt: 1, epoch: 0, gates: [], tokens_in: 0, tokens_out: 0 }
const folded = (blocks: RunFold['blocks'], more: Partial<RunFold> = {}): RunFold => ({ ...NOTHING, ...more, blocks })

test('a block no event names is pending while the run goes on, and cancelled behind its end', () => {
  expect(blockStatuses(['a'], NOTHING).get('a')?.state).toBe('pending')
  expect(blockStatuses(['a'], folded({}, { state: 'failed' })).get('a')?.state).toBe('cancelled')
})

test('only the block that changed gets a new object, though a fold makes all of them anew', () => {
  const ids = Array.from({ length: 200 }, (_, n) => `b${n}`)
  const at = '2026-01-01T00:00:00.000Z'
  const ready = ids.map(
    (block_id, n) =>
      ({ seq: n + 1, id: `l/${n}/0`, run_id: 'run_x', type: 'block:ready', at, block_id, data: {} }) as RunEvent,
  )
  const before = blockStatuses(ids, foldRun(ready))
  const skipped = {
    seq: 201,
    id: 'l/200/0',
    run_id: 'run_x',
    type: 'block:skipped',
    at,
    block_id: 'b7',
    data: { because: [] },
  } as RunEvent
  const after = blockStatuses(ids, foldRun([...ready, skipped]), before)
  expect(ids.filter((id) => after.get(id) !== before.get(id))).toEqual(['b7'])
})

test('gates are counted by how they ended, items by state', () => {
  const gate = { type: 't', phase: 'post', reason: '', input_hash: '', facts: null, duration_ms: 0 } as const
  const gates = (['passed', 'failed', 'error', 'waived'] as const).map((status) => ({ ...gate, gate: status, status }))
  const items = {
    0: { state: 'completed', attempt: 1 },
    1: { state: 'failed', attempt: 1 },
    2: { state: 'running', attempt: 1 },
  } as const
  expect(blockStatuses(['a'], folded({ a: { ...BLOCK, gates, item_count: 5, items } })).get('a')).toMatchObject({
    passed: 1,
    failed: 2,
    waived: 1,
    item_count: 5,
    items_done: 1,
    items_failed: 1,
    items_skipped: 0,
  })
})

test('a block named like a member of every object is no member of them', () => {
  expect(blockStatuses(['constructor'], folded({})).get('constructor')?.state).toBe('pending')
})
