import { describe, expect, test } from 'vitest'
import {
  type BlockDiff,
  changeWords,
  differencesOf,
  partitionBlocks,
} from '../../../clients/console/compare/differences.ts'

const stored = (sha256: string) => ({ ref: `objstore://main/${sha256}`, sha256, bytes: 7 })
const side = (more: Partial<NonNullable<BlockDiff['a']>> = {}): NonNullable<BlockDiff['a']> => ({
  state: 'completed',
  attempt: 1,
  epoch: 0,
  tokens: 10,
  usd: 0.1,
  duration_ms: 5,
  outputs: { text: stored('aaaaaaaaaaaaaaaa') },
  ...more,
})
const block = (more: Partial<BlockDiff> = {}): BlockDiff => ({
  block_id: 'build',
  definition: 'same',
  a: side(),
  b: side(),
  outputs: { text: 'same' },
  gates: [{ gate: 'lint', a: 'passed', b: 'passed' }],
  ...more,
})

describe('how a block came out', () => {
  test('is alike whatever it cost and however long it took', () => {
    expect(differencesOf(block({ b: side({ tokens: 99, usd: null, duration_ms: 77 }) }))).toEqual([])
  })

  test.each<[Partial<BlockDiff>, object]>([
    [{ b: side({ state: 'failed' }) }, { what: 'state', a: 'completed', b: 'failed' }],
    [{ b: side({ attempt: 3 }) }, { what: 'attempts', a: '1', b: '3' }],
    [{ b: side({ epoch: 2 }) }, { what: 'passes', a: '1', b: '3' }],
    [{ gates: [{ gate: 'lint', a: 'failed', b: 'passed' }] }, { what: 'gate lint', a: 'failed', b: 'passed' }],
    [{ gates: [{ gate: 'new', b: 'passed' }] }, { what: 'gate new', a: 'not there', b: 'passed' }],
    [{ definition: 'different' }, { what: 'definition', a: 'one definition', b: 'another definition' }],
    [
      { b: side({ error: { code: 'timeout', reason: 'too slow' } }) },
      { what: 'error', a: 'not there', b: 'timeout: too slow' },
    ],
    [
      { outputs: { text: 'different' }, b: side({ outputs: { text: stored('bbbbbbbbbbbbbbbb') } }) },
      { what: 'output text', a: '7 B, sha256 aaaaaaaaaaaa', b: '7 B, sha256 bbbbbbbbbbbb' },
    ],
    [
      { outputs: { text: 'only_a' }, b: side({ outputs: {} }) },
      { what: 'output text', b: 'not there' },
    ],
  ])('differs in %j', (more, difference) => {
    expect(differencesOf(block(more))).toEqual([expect.objectContaining(difference)])
  })

  test('is told of a block only one of the documents has', () => {
    const { b: _, ...alone } = block({ definition: 'only_a', outputs: {}, gates: [] })
    expect(differencesOf(alone)[0]).toEqual({ what: 'definition', a: 'there', b: 'not there' })
  })
})

test('blocks that came out alike are apart from the others, both in their order', () => {
  const blocks = [block({ block_id: 'a' }), block({ block_id: 'b', definition: 'different' }), block({ block_id: 'c' })]
  const { different, equal } = partitionBlocks(blocks)
  expect(different.map(({ block_id }) => block_id)).toEqual(['b'])
  expect(equal.map(({ block_id }) => block_id)).toEqual(['a', 'c'])
})

test.each<[number | null, number | null, string | undefined]>([
  [100, 112, '+12 %'],
  [100, 51, '-49 %'],
  [7, 7, 'same'],
  [0, 0, 'same'],
  [0, 5, undefined],
  [null, 5, undefined],
  [5, null, undefined],
])('from %s to %s is %s', (a, b, words) => {
  expect(changeWords(a, b)).toBe(words)
})
