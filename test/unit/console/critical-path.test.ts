import { expect, test } from 'vitest'
import {
  blockWaits,
  type CriticalParts,
  criticalChain,
  type Span,
} from '../../../clients/console/run/session/critical-path.ts'
import { expectLinear } from '../gates/linear.ts'

/** `block, started, ended` by seq; without an end it goes on. Keys are 1, 2, 3 in the order of the rows. */
function spansOf(...rows: readonly (readonly [string, number, number?])[]): readonly Span[] {
  return rows.map(([block_id, started_seq, ended_seq], n) => ({
    key: String(n + 1),
    block_id,
    started_seq,
    ...(ended_seq === undefined ? {} : { ended_seq }),
  }))
}

const DIAMOND: CriticalParts['blocks'] = [
  { id: 'plan', upstream: [] },
  { id: 'build', upstream: ['plan'] },
  { id: 'test', upstream: ['plan'] },
  { id: 'ship', upstream: ['build', 'test'] },
]

test('nothing has run: there is no chain', () => {
  expect(criticalChain({ blocks: DIAMOND, spans: [] })).toEqual({ blocks: [], keys: new Set() })
})

test('of two branches the one that ended last is on it, whatever started first', () => {
  const spans = spansOf(['plan', 1, 2], ['build', 3, 6], ['test', 4, 5], ['ship', 7, 8])
  expect(criticalChain({ blocks: DIAMOND, spans }).blocks).toEqual(['plan', 'build', 'ship'])
})

test('a branch that ended after the last join decided the end', () => {
  const blocks = [...DIAMOND, { id: 'aside', upstream: ['plan'] }]
  const spans = spansOf(['plan', 1, 2], ['build', 3, 4], ['test', 5, 6], ['aside', 7, 20], ['ship', 8, 9])
  expect(criticalChain({ blocks, spans }).blocks).toEqual(['plan', 'aside'])
})

test('a try waited for the one before it', () => {
  const spans = spansOf(['plan', 1, 2], ['plan', 3, 4], ['build', 5, 6])
  const chain = criticalChain({ blocks: DIAMOND, spans })
  expect([...chain.keys]).toEqual(['1', '2', '3'])
  expect(chain.blocks).toEqual(['plan', 'build'])
})

test('a block that was sent back waited for the one that sent it', () => {
  const blocks = [
    { id: 'build', upstream: [], sent_back_by: ['review'] },
    { id: 'review', upstream: ['build'] },
  ]
  const spans = spansOf(['build', 1, 2], ['review', 3, 4], ['build', 5, 6], ['review', 7, 8])
  expect([...criticalChain({ blocks, spans }).keys]).toEqual(['1', '2', '3', '4'])
  const unlinked = blocks.map(({ id, upstream }) => ({ id, upstream }))
  expect([...criticalChain({ blocks: unlinked, spans }).keys]).toEqual(['1', '3', '4'])
})

test('what still runs is the end for now', () => {
  const spans = spansOf(['plan', 1, 2], ['build', 3], ['test', 4, 9])
  expect(criticalChain({ blocks: DIAMOND, spans }).blocks).toEqual(['plan', 'build'])
})

test('a question that is open is the end for now, and one that was decided held its block up', () => {
  const open = spansOf(['plan', 1, 2], ['build', 3, 4], ['ship', 5])
  expect(criticalChain({ blocks: DIAMOND, spans: open }).blocks).toEqual(['plan', 'build', 'ship'])
  const decided = spansOf(['plan', 1, 2], ['build', 3, 4], ['ship', 5, 6], ['ship', 7, 8])
  expect([...criticalChain({ blocks: DIAMOND, spans: decided }).keys]).toEqual(['1', '2', '3', '4'])
})

test('a document says who waits for whom, and who is sent back by whom', () => {
  const bounce = { when_gate: 'g', max_bounces: 1, feedback_from: 'gate_verdicts' } as const
  const blocks = [
    { id: 'plan', upstream: [] },
    { id: 'build', upstream: ['plan'] },
    { id: 'review', upstream: ['build'], on_gate_fail: [{ ...bounce, route_to: 'build', reset_blocks: ['plan'] }] },
  ]
  expect(blockWaits(blocks)).toEqual([
    { id: 'plan', upstream: [], sent_back_by: ['review'] },
    { id: 'build', upstream: ['plan'], sent_back_by: ['review'] },
    { id: 'review', upstream: ['build'], sent_back_by: [] },
  ])
})

test('1,000 blocks in a row with 3 tries each take linear time', async () => {
  await expectLinear((size) => {
    const blocks = Array.from({ length: size }, (_, n) => ({ id: `b${n}`, upstream: n === 0 ? [] : [`b${n - 1}`] }))
    const rows = blocks.flatMap(({ id }, n) =>
      [0, 1, 2].map((t) => [id, n * 6 + t * 2 + 1, n * 6 + t * 2 + 2] as const),
    )
    expect(criticalChain({ blocks, spans: spansOf(...rows) }).keys.size).toBe(3 * size)
  }, 1_000)
})
