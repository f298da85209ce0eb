import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineDag } from '../../../clients/sdk/sluice.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { defineStep } from '../../../shared/steps/step-definition.ts'

/** Types are promises too: each `@ts-expect-error` below fails the type check when its line is allowed. */
const changes = defineStep({
  inputs: z.object({ text: z.string(), most: z.number().optional() }),
  outputs: z.object({ list: z.array(z.string()), count: z.number() }),
  run: ({ inputs }) => ({ list: inputs.text.split('. '), count: 1 }),
})

/** The notice of docs/guide.md. */
const notice = defineDag(
  { name: 'notice', inputs: { changes: { type: 'string', description: 'What changed, a sentence each' } } },
  (dag) => {
    const draft = dag.block('draft', {
      inputs: { changes: dag.inputs.changes },
      outputs: { text: 'string', words: { type: 'number', required: false } },
      agent: {
        provider: 'local',
        model: 'template',
        prompt: 'Write a notice for the people who use it.',
        model_params: { template: 'Notice: {{inputs.changes}}' },
      },
      post_gates: [{ name: 'says-from-when', check: { type: 'contains', port: 'text', values: ['Valid from'] } }],
      retry: { max_attempts: 2, backoff: 'none', delay_ms: 0 },
    })
    dag.block('publish', {
      mode: 'deterministic',
      inputs: { body: draft.text },
      outputs: { notice: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'notice.md' } },
      approval: { prompt: 'Publish this notice?', show: ['body'] },
    })
  },
)

const NOTICE = `
name: notice
inputs:
  changes: { type: string, description: "What changed, a sentence each" }
blocks:
  - id: draft
    inputs: { changes: string }
    outputs: { text: string, words: { type: number, required: false } }
    agent:
      provider: local
      model: template
      prompt: Write a notice for the people who use it.
      model_params: { template: "Notice: {{inputs.changes}}" }
    post_gates:
      - { name: says-from-when, check: { type: contains, port: text, values: [Valid from] } }
    retry: { max_attempts: 2, backoff: none, delay_ms: 0 }
  - id: publish
    mode: deterministic
    inputs: { body: { from: draft.text } }
    outputs: { notice: artifact }
    deterministic: { handler: write-artifact, config: { name: notice.md } }
    approval: { prompt: "Publish this notice?", show: [body] }
`

function parsed(document: string | object) {
  const result = parseDag(document)
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  return result
}

describe('defineDag()', () => {
  test('gives the normalised document and the hash of the same document in YAML', () => {
    const [made, written] = [parsed(notice), parsed(NOTICE)]
    expect(made.dag).toEqual(written.dag)
    expect(made.dag_hash).toBe(written.dag_hash)
  })

  test('is plain: JSON of it is the document', () => {
    expect(parsed(JSON.stringify(notice)).dag_hash).toBe(parsed(NOTICE).dag_hash)
  })

  test('has steps whose ports are those of their schemas', () => {
    const made = defineDag({ name: 'changes', inputs: { text: 'string' } }, (dag) => {
      const list = dag.step<typeof changes>('list', './steps/changes.ts', {
        inputs: { text: dag.inputs.text },
        post_gates: [{ name: 'some', check: { type: 'range', port: 'count', min: 2 } }],
      })
      dag.block('count', {
        mode: 'deterministic',
        inputs: { n: { from: list.count, type: 'number' } },
        outputs: { twice: 'number' },
        deterministic: { handler: 'transform', config: { expression: 'inputs.n * 2' } },
      })
    })
    expect(made.blocks).toEqual([
      {
        id: 'list',
        mode: 'deterministic',
        inputs: { text: { type: 'string' } },
        post_gates: [{ name: 'some', check: { type: 'range', port: 'count', min: 2 } }],
        deterministic: { handler: './steps/changes.ts' },
      },
      {
        id: 'count',
        mode: 'deterministic',
        inputs: { n: { from: 'list.count', type: 'number' } },
        outputs: { twice: 'number' },
        deterministic: { handler: 'transform', config: { expression: 'inputs.n * 2' } },
      },
    ])
  })

  test('the compiler refuses what a wire does not carry', () => {
    const deterministic = { handler: 'transform', config: { expression: '1' } } as const
    const made = defineDag({ name: 'wrong', inputs: { text: 'string', n: 'number' } }, (dag) => {
      const a = dag.block('a', { mode: 'deterministic', outputs: { text: 'string' }, deterministic })
      // @ts-expect-error: a has no output of this name
      dag.block('b', { mode: 'deterministic', inputs: { x: a.words }, outputs: { y: 'json' }, deterministic })
      const inputs = { x: { from: a.text, type: 'number' } } as const
      // @ts-expect-error: a.text is a string
      dag.block('c', { mode: 'deterministic', inputs, outputs: { y: 'json' }, deterministic })
      // @ts-expect-error: an input reads the run input of its own name
      dag.block('d', { mode: 'deterministic', inputs: { other: dag.inputs.text }, outputs: {}, deterministic })
      // @ts-expect-error: there is no such run input
      dag.block('e', { mode: 'deterministic', inputs: { topic: dag.inputs.topic }, outputs: {}, deterministic })
      // @ts-expect-error: there is no such port type
      dag.block('f', { mode: 'deterministic', outputs: { y: 'text' }, deterministic })
      // @ts-expect-error: the step reads a text
      dag.step<typeof changes>('g', './steps/changes.ts', { inputs: { text: dag.inputs.n } })
      // @ts-expect-error: the step needs its text
      dag.step<typeof changes>('h', './steps/changes.ts', { inputs: {} })
      // @ts-expect-error: an agent has no such key
      dag.block('i', { agent: { provider: 'local', model: 'm', prompts: 'x' }, outputs: { y: 'string' } })
      // @ts-expect-error: a block does one piece of work
      dag.block('j', { outputs: { y: 'string' } })
    })
    // What the compiler refuses, a start refuses too.
    expect(parseDag(made)).toMatchObject({ ok: false })
  })
})
