import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createProviders } from '../../../functions/providers/registry.ts'
import { withFeedback } from '../../../shared/prompts/block.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { firstDaily } from '../../how-much.ts'
import { expectLinear } from '../gates/linear.ts'
import { ask, PLAN } from './ask.ts'

describe('provider local', () => {
  test('always exists, whatever the settings bind', () => {
    expect(createProviders(SettingsSchema.parse({})).names()).toEqual(['local', 'extractive'])
    const bound = createProviders(SettingsSchema.parse({ providers: { other: { type: 'local' } } }))
    expect(bound.names()).toEqual(['local', 'extractive', 'other'])
    expect(bound.get('other')).toBeDefined()
    expect(bound.get('nobody')).toBeUndefined()
  })

  test('says what it is and which model it did not use', async () => {
    const answer = await ask({ prompt: 'Plan it.', system: 'Be brief.' })
    expect(answer).toMatchObject({
      model: 'outline',
      finish_reason: 'local',
      usd: 0,
      tokens_in: 0,
      tokens_out: 0,
      note: 'local is deterministic text tools, not a model; the requested model "llama3:8b" was not used',
    })
    const asked = await ask({ prompt: 'Plan it.', model: 'extract' })
    expect(asked).toMatchObject({ model: 'extract', note: 'local is deterministic text tools, not a model' })
  })

  test('throws the reason of an aborted signal', async () => {
    const reason = new Error('stopped by ana')
    await expect(ask({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('gives the same answer to the same request, for any request', async () => {
    const request = fc.record({
      prompt: fc.string({ unit: 'grapheme', maxLength: 300 }),
      model: fc.constantFrom('outline', 'extract', 'llama3:8b', '__proto__'),
      inputs: fc.dictionary(fc.constantFrom('goal', 'spec', 'table'), fc.jsonValue() as fc.Arbitrary<never>),
      feedback: fc.array(fc.string(), { maxLength: 3 }),
    })
    const law = fc.asyncProperty(request, async (given) => {
      expect(await ask(given)).toEqual(await ask(structuredClone(given)))
    })
    await fc.assert(law)
  })
})

for (const { tags, rows } of firstDaily(1, ['outline', 'extract', 'template']))
  test.each(rows)('%s answers the largest request it reads, in linear time', { tags }, async (model) => {
    const feedback = ['must be at least 200000 characters, has 9', 'must contain "absent"']
    await expectLinear(async (size) => {
      const words = (seed: number) => Array.from({ length: size }, (_, at) => `w${(at * seed) % 9_973}.`).join(' ')
      const inputs = { a: words(7), b: words(11).replaceAll('. ', '\n- ') }
      const params = { sentences: 50, template: 'x' }
      const { text } = await ask({ model, prompt: words(13), inputs, params, feedback })
      expect(text.length).toBeGreaterThanOrEqual(200_000)
    }, 20_000)
  })

describe('model outline', () => {
  test('numbers the sentences of the prompt, with the clauses of a long one', async () => {
    const goal = 'Add a flag to the list command, keep the text output and write tests for both'
    const { text } = await ask({ prompt: `Plan this: ${goal}.\nName the risks.`, inputs: { goal } })
    expect(text).toBe(
      [
        `1. Plan this: ${goal}.`,
        '   - Add a flag to the list command',
        '   - keep the text output',
        '   - write tests for both',
        '2. Name the risks.',
      ].join('\n'),
    )
  })

  test('takes headings, list items and numbers from the inputs, and nothing twice', async () => {
    const { text } = await ask({ prompt: `Build this plan:\n${PLAN}`, inputs: { plan: PLAN } })
    expect(text).toBe(
      '1. Build this plan:\n2. From plan:\n   - Steps\n   - Read the file.\n   - Count its 12 columns.\n   - It takes 3 days.',
    )
  })

  test('answers any prompt that has a word', async () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 12 })
    const law = fc.asyncProperty(words, async (list) => {
      expect((await ask({ prompt: list.join(' ') })).text).toMatch(/^1\. \S/)
    })
    await fc.assert(law)
  })

  test('does not take the engine’s feedback for the author’s words', async () => {
    const feedback = ['gate: must contain "tests"']
    const { text } = await ask({ prompt: withFeedback('Plan it.', feedback), feedback })
    expect(text).toBe('1. Plan it.\n2. The inputs do not mention "tests".')
  })
})

describe('model extract', () => {
  const inputs = { text: 'Cats sleep. Dogs bark loudly. The sea is blue. Dogs and cats live in houses.' }

  test('chooses the sentences that cover the prompt’s terms, in their own order', async () => {
    const { text } = await ask({
      model: 'extract',
      prompt: 'Which houses and which sea?',
      params: { sentences: 2 },
      inputs,
    })
    expect(text).toBe('The sea is blue. Dogs and cats live in houses.')
  })

  test('prefers what is not yet covered to a second sentence on the same', async () => {
    const text = 'Dogs and cats. Dogs and cats again. The sea.'
    const request = { model: 'extract', prompt: 'dogs cats sea', params: { sentences: 2 }, inputs: { text } }
    expect((await ask(request)).text).toBe('Dogs and cats. The sea.')
  })

  test('writes a list when asked to', async () => {
    const params = { sentences: 1, format: 'list' }
    expect((await ask({ model: 'extract', prompt: 'sea', params, inputs })).text).toBe('- The sea is blue.')
  })

  test('refuses parameters it does not have, saying which are allowed', async () => {
    await expect(ask({ model: 'extract', params: { sentences: 0 } })).rejects.toMatchObject({
      name: 'InvalidInput',
      code: 'provider_invalid',
      message: expect.stringMatching(/model_params\.sentences.*1 to 50/),
    })
  })
})

describe('model template', () => {
  test('renders params.template over the inputs', async () => {
    const params = { template: 'Mean {{inputs.stats.mean}} of {{ inputs.name }}, $& untouched' }
    const { text } = await ask({ model: 'template', params, inputs: { stats: { mean: 1.5 }, name: 'area' } })
    expect(text).toBe('Mean 1.5 of area, $& untouched')
  })

  test('takes a template a port when several strings are asked for', async () => {
    const ports = { title: string(), body: string() }
    const params = { template: { title: 'T {{inputs.x}}', body: 'B' } }
    const { text } = await ask({ model: 'template', params, inputs: { x: 1 }, output_schema: ports })
    expect(JSON.parse(text)).toEqual({ title: 'T 1', body: 'B' })
  })

  test.each([
    ['no template', {}, 'model_params.template'],
    ['a value that is not there', { template: '{{inputs.x.y}}' }, 'inputs.x.y'],
  ])('names %s', async (_, params, named) => {
    await expect(ask({ model: 'template', params })).rejects.toMatchObject({
      code: 'provider_invalid',
      message: expect.stringContaining(named),
    })
  })
})

describe('model table', () => {
  test('describes the first input that is a table, in words', async () => {
    const { text } = await ask({ model: 'table', inputs: { note: 'a, b', csv: 'x,y\n1,a\n3,b\n' } })
    expect(text).toContain('x: 2 values, none missing; from 1 to 3')
  })

  test('says so when no input is one', async () => {
    await expect(ask({ model: 'table', inputs: { note: 'words' } })).rejects.toMatchObject({
      code: 'provider_invalid',
      message: expect.stringContaining('none of its inputs (note) is a table'),
    })
  })
})

describe('output ports', () => {
  const answer = async (request: Partial<DispatchRequest>) => {
    const output_schema = request.output_schema ?? {}
    return readAnswerOutputs((await ask(request)).text, output_schema)
  }

  test('are made of values the inputs name, and left out when there are none', async () => {
    const output_schema = {
      score: { type: 'number', required: true },
      ready: { type: 'boolean', required: true },
      build_ms: { type: 'number', required: true },
      absent: { type: 'number', required: true },
      image: { type: 'file', required: true },
      items: { type: 'json', required: true },
    } as const
    const inputs = { report: { inner: { score: 7 } }, log: 'Build ms: 250. Ready = TRUE', image: 'objstore://main/aa' }
    const { values, problems } = await answer({ prompt: 'Judge it.', inputs, output_schema })
    expect(values).toMatchObject({ score: 7, ready: true, build_ms: 250, image: 'objstore://main/aa' })
    expect(values.items).toEqual({ items: ['Judge it.', 'From report:', 'log: Build ms: 250.'] })
    expect(problems).toEqual(['missing port absent'])
  })

  test('of several strings each ask under their own description', async () => {
    const output_schema = { patch: string(), changelog: { ...string(), description: 'What changed' } }
    const { values } = await answer({ prompt: 'Build it.', output_schema })
    expect(values).toEqual({ patch: '1. patch: Build it.', changelog: '1. What changed: Build it.' })
  })

  test('of a single string that reads as JSON survive the reader of answers', async () => {
    const template = 'It may answer\n```json\n{"text": "as this"}\n```'
    const { values, problems } = await answer({
      model: 'template',
      params: { template },
      output_schema: { text: string() },
    })
    expect({ values, problems }).toEqual({ values: { text: template }, problems: [] })
  })
})

function string() {
  return { type: 'string', required: true } as const
}
