import { describe, expect, test } from 'vitest'
import { bindPlaceholders } from '../../../shared/compile/bind-placeholders.ts'
import { type CompiledDag, compileDag } from '../../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../../shared/compile/emit-block.ts'
import { FAMILIES, randomDag } from '../../machines/random-dags.ts'

const BYTES = 700_000

/** What Step Functions gets: ARNs of usual length. */
function boundSizes({ text, parts }: CompiledDag): readonly number[] {
  const arn = (name: string) => `arn:aws:lambda:eu-central-1:123456789012:function:sluice-dev-${name}`
  const names = ['RunBlock', 'WaitJoin', 'RequestApproval', 'OpenChild', 'CloseModule', 'Settle', 'DecideCompletion']
  const values = Object.fromEntries([...names, ...parts.map(({ key }) => key)].map((name) => [name, arn(name)]))
  return [text, ...parts.map((part) => part.text)].map((one) => bindPlaceholders(one, values).length)
}

const blocksOf = (family: string, count: number, more: Partial<CompiledBlock> = {}) =>
  randomDag(family, count, 1).upstream.map(
    (sources, v): CompiledBlock => ({ id: `block-${v}`, upstream: sources.map((one) => `block-${one}`), ...more }),
  )
const row = (count: number, more: Partial<CompiledBlock> = {}) => blocksOf('chain', count, more)
const partsOf = (blocks: readonly CompiledBlock[]) => compileDag({ blocks }).parts.length
const list = (more: Partial<CompiledBlock> = {}) =>
  row(1, { foreach: { items: '{{inputs.x}}', max_concurrency: 4 }, ...more })

describe('machines past 700 KB', () => {
  test.each(Object.keys(FAMILIES))('1,000 blocks, %s: no machine is larger, and few are needed', (family) => {
    const compiled = compileDag({ blocks: blocksOf(family, 1_000) })
    const sizes = boundSizes(compiled)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BYTES)
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
    expect(sizes.length).toBeLessThanOrEqual(Math.ceil((1.6 * total) / BYTES) + 1)
  })

  test('1,000 blocks in a row are two machines, 600 are one', () => {
    expect([partsOf(row(1_000)), partsOf(row(600))]).toEqual([1, 0])
  })

  test('10,000 in a row are at most sixteen', () => {
    expect(partsOf(row(10_000))).toBeLessThanOrEqual(15)
  })

  test('a block of a row takes at most 1,050 bytes, one of a fan 1,500', () => {
    const sizeOf = (family: string) => (boundSizes(compileDag({ blocks: blocksOf(family, 400) }))[0] ?? 0) / 400
    expect(sizeOf('chain')).toBeLessThanOrEqual(1_050)
    expect(sizeOf('fan out and in')).toBeLessThanOrEqual(1_500)
  })
})

describe('machines past 20,000 budgeted events', () => {
  test('5 a block and 7 a further try', () => {
    // 100 x (5 + 19 x 7) = 13,800, 200 of them 27,600.
    const tries = { retry: { max_attempts: 20 } }
    expect([partsOf(row(100, tries)), partsOf(row(200, tries))]).toEqual([0, 1])
  })

  test('7 an item, 1,000 of them where the list is not known', () => {
    const known = (length: number) => list({ foreach: { items: Array.from({ length }, () => 0), max_concurrency: 4 } })
    const three = (one: readonly CompiledBlock[]) =>
      [0, 1, 2].flatMap((n) => one.map((block) => ({ ...block, id: `b${n}` })))
    expect([partsOf(three(known(900))), partsOf(three(known(1_000)))]).toEqual([0, 1])
    expect([partsOf(list()), partsOf(three(list()))]).toEqual([0, 1])
  })

  test('a list that could be too long for any machine gets one of its own and is not refused', () => {
    const wide = { ...list({ retry: { max_attempts: 5 } })[0], id: 'wide' } as CompiledBlock
    expect(partsOf([wide])).toBe(0)
    expect(partsOf([...row(3), wide])).toBe(1)
  })

  test('a module counts once more for each bounce and is never cut', () => {
    const module = (blocks: number, max_bounces: number) =>
      row(blocks).map((block, v) =>
        v < blocks - 1
          ? block
          : {
              ...block,
              on_gate_fail: [
                {
                  when_gate: 'g',
                  route_to: 'block-0',
                  reset_blocks: [],
                  max_bounces,
                  feedback_from: 'gate_verdicts' as const,
                },
              ],
            },
      )
    expect(partsOf(module(100, 30))).toBe(0)
    expect(() => compileDag({ blocks: module(100, 50) })).toThrow(
      expect.objectContaining({
        name: 'InvalidInput',
        code: 'dag_too_large',
        message: expect.stringMatching(
          /^Cannot compile: the blocks that run again together around "block-0" \(100 blocks\) .* max_bounces/,
        ),
      }),
    )
  })
})
