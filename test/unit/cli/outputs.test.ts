import { describe, expect, test } from 'vitest'
import { outputLines, sinkBlocks } from '../../../clients/cli/run/outputs.ts'
import { ANSWER } from './run-events-sample.ts'

describe('sinkBlocks()', () => {
  test('are the blocks with outputs that nobody waits for', () => {
    expect(sinkBlocks(ANSWER).map(({ id }) => id)).toEqual(['publish'])
    const silent = ANSWER.dag.blocks.map((block) => ({ ...block, outputs: {} }))
    expect(sinkBlocks({ ...ANSWER, dag: { blocks: silent } })).toEqual([])
  })
})

describe('outputLines()', () => {
  test('show every value below its name, safe to print, and where a large one is', () => {
    const outputs = { text: 'one\n\u001b[31mtwo\n', n: 1, list: [true] }
    const refs = { big: { ref: 'objstore://main/x', bytes: 300_000 } }
    expect(outputLines({ block_id: 'a', outputs, refs })).toEqual([
      '--- a.text',
      'one',
      'two',
      '--- a.n',
      '1',
      '--- a.list',
      '[',
      '  true',
      ']',
      '--- a.big is too large to show here (293.0 KiB): objstore://main/x',
    ])
  })
})
