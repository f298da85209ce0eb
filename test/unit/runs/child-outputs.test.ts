import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { childOutputSources } from '../../../shared/runs/block-outputs.ts'
import { childRunId } from '../../../shared/runs/ids.ts'

const block = (id: string, outputs: readonly string[], from?: string) => ({
  id,
  outputs: Object.fromEntries(outputs.map((port) => [port, { type: 'string' }])),
  agent: { provider: 'local', model: 'm', prompt: id },
  ...(from === undefined ? {} : { inputs: { text: { from } } }),
})
const parsed = parseDag(
  JSON.stringify({
    name: 'x',
    blocks: [block('a', ['text']), block('b', ['text', 'more'], 'a.text'), block('c', ['text'])],
  }),
  { name: 'x' },
)
const child = parsed.ok ? parsed.dag : { blocks: [] }

const outputsOf = (port: string, named?: string, required = true) => {
  const outputs = { [port]: { type: 'string', required } as const }
  const dag = { name: 'x', inputs: {}, outputs: named === undefined ? {} : { [port]: named } }
  return childOutputSources({ outputs, dag }, child)[0]
}

describe('childOutputs()', () => {
  test('takes the like-named output of the last blocks, in document order', () => {
    const sources = [
      { block: 'b', output: 'text' },
      { block: 'c', output: 'text' },
    ]
    expect(outputsOf('text')).toEqual({ port: 'text', required: true, sources })
  })

  test('takes the output it names, of whichever block', () => {
    expect(outputsOf('out', 'a.text')?.sources).toEqual([{ block: 'a', output: 'text' }])
  })

  test.each([
    ['zzz', undefined],
    ['text', 'zzz.text'],
    ['text', 'a.more'],
    ['toString', undefined],
  ])('has no source for %s from %s', (port, named) => {
    expect(outputsOf(port, named)?.sources).toEqual([])
  })
})

test('childRunId() is another for every run, block, epoch, attempt and tenant, and the same again', () => {
  const of = { run_id: 'run_a', block: 1, epoch: 0, attempt: 1 }
  const others = [{ run_id: 'run_b' }, { block: 2 }, { epoch: 1 }, { attempt: 2 }].map((more) => ({ ...of, ...more }))
  const ids = [of, ...others].map((one) => childRunId('main', one))
  expect(new Set([...ids, childRunId('other', of)]).size).toBe(6)
  expect(childRunId('main', { ...of })).toBe(ids[0])
  expect(ids[0]).toMatch(/^run_[0-9a-z]{26}$/)
})
