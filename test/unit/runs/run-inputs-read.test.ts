import { describe, expect, test } from 'vitest'
import type { Dag } from '../../../shared/dag/dag.ts'
import { withBlocksAfter } from '../../../shared/dag/order.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { runInputsRead } from '../../../shared/runs/block-inputs.ts'

const inputs = { goal: 'string', tone: 'string', files: 'json' }

function parsed(blocks: readonly object[]): Dag {
  const read = parseDag(JSON.stringify({ name: 'd', inputs, blocks }), { providers: ['local'] })
  if (!read.ok) throw new Error(JSON.stringify(read.errors))
  return read.dag
}

function reads(block: object): readonly string[] {
  const agent = { provider: 'local', model: 'm', prompt: 'say it' }
  const dag = parsed([{ id: 'a', outputs: { text: 'string' }, agent, ...block }])
  const [first] = dag.blocks
  return first === undefined ? [] : runInputsRead(dag, first)
}

const agent = (more: object) => ({ agent: { provider: 'local', model: 'm', prompt: 'say it', ...more } })

describe('run inputs a block reads without a port', () => {
  test.each([
    ['nothing', {}, []],
    ['a placeholder of its prompt', agent({ prompt: 'Do {{inputs.goal}}' }), ['goal']],
    ['a template among its parameters', agent({ model_params: { template: '{{inputs.tone}}' } }), ['tone']],
    ['its condition', { when: "inputs.tone == 'warm'" }, ['tone']],
    ['the list it goes over', { foreach: { items: '{{inputs.files}}', as: 'file' } }, ['files']],
    ['a port of its own instead', { inputs: { goal: 'string' }, ...agent({ prompt: '{{inputs.goal}}' }) }, []],
    ['part of another word', agent({ prompt: 'the goals, toned down' }), []],
    ['a word of its prompt that happens to be one: rather one too many', agent({ prompt: 'mind the tone' }), ['tone']],
    ['all that is shown to a person', { approval: { required: true, prompt: 'Well?' } }, ['goal', 'tone', 'files']],
    [
      'all, of a handler',
      { mode: 'deterministic', deterministic: { handler: 'pass' }, agent: undefined },
      ['goal', 'tone', 'files'],
    ],
  ])('%s', (_what, block, names) => {
    expect(reads(block)).toEqual(names)
  })
})

describe('withBlocksAfter()', () => {
  const at = (id: string, from: readonly string[]) => ({
    id,
    inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
    outputs: { text: 'string' },
    ...agent({}),
  })

  test('is the block and all that depend on it, in document order', () => {
    const dag = parsed([at('d', ['b', 'c']), at('b', ['a']), at('a', []), at('c', ['a']), at('e', [])])
    expect(withBlocksAfter(dag, 'b')).toEqual(['d', 'b'])
    expect(withBlocksAfter(dag, 'a')).toEqual(['d', 'b', 'a', 'c'])
    expect(withBlocksAfter(dag, 'e')).toEqual(['e'])
  })
})
