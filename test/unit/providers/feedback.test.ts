import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contains, semanticReview } from '../../../shared/gates/kinds/contains.ts'
import { minLength } from '../../../shared/gates/kinds/length.ts'
import { ask, PLAN } from './ask.ts'

const measured = { cost_usd: 0, latency_ms: 1 }
const facts = (text: string) => ({ inputs: {}, outputs: { text }, measured })
const isolate = { run: () => Promise.reject(new Error('these gates need no isolate')) }

/** Words a gate writes as they are: its reason trims them, cuts them after 80 characters and does not escape quotes. */
const word = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 .:%-]{0,20}[A-Za-z0-9]$/)
const prose = fc
  .array(fc.stringMatching(/^[A-Za-z]{1,9}$/), { minLength: 1, maxLength: 40 })
  .map((all) => all.join(' '))
const model = fc.constantFrom('outline', 'extract', 'template')
const params = { template: 'Fixed words.' }

describe('feedback of our own gates is obeyed', () => {
  test('a minimum length, from any words', async () => {
    const law = fc.asyncProperty(prose, model, fc.integer({ min: 0, max: 5_000 }), async (goal, name, min) => {
      const check = async (feedback: readonly string[]) => {
        const { text } = await ask({ model: name, params, prompt: 'Plan it.', inputs: { goal }, feedback })
        return minLength.check({ port: 'text', min }, facts(text), { isolate })
      }
      const first = await check([])
      if (first.passed) return
      expect(await check([`long: Please, it must be long: ${first.reason}`])).toMatchObject({ passed: true })
    })
    await fc.assert(law)
  })

  test('texts it must contain, exactly as written', async () => {
    const wanted = fc.uniqueArray(word, { minLength: 1, maxLength: 5 })
    const law = fc.asyncProperty(prose, model, wanted, async (goal, name, values) => {
      const check = async (feedback: readonly string[]) => {
        const { text } = await ask({ model: name, params, prompt: 'Plan it.', inputs: { goal }, feedback })
        return contains.check({ port: 'text', values, case_sensitive: true }, facts(text), { isolate })
      }
      const first = await check([])
      if (first.passed) return
      expect(await check([`words: ${first.reason}`])).toMatchObject({ passed: true })
    })
    await fc.assert(law)
  })

  test('a number of keywords', async () => {
    const wanted = fc.uniqueArray(word, { minLength: 1, maxLength: 6, selector: (text) => text.toUpperCase() })
    const law = fc.asyncProperty(prose, model, wanted, fc.nat(), async (goal, name, keywords, some) => {
      const min_matches = 1 + (some % keywords.length)
      const check = async (feedback: readonly string[]) => {
        const { text } = await ask({ model: name, params, prompt: 'Plan it.', inputs: { goal }, feedback })
        return semanticReview.check({ port: 'text', keywords, min_matches }, facts(text), { isolate })
      }
      const first = await check([])
      if (first.passed) return
      expect(await check([`keywords: ${first.reason}`])).toMatchObject({ passed: true })
    })
    await fc.assert(law)
  })

  test('several at once', async () => {
    const feedback = [
      'a: must be at least 400 characters, has 9',
      'b: must contain "Open Data", "3 days"',
      'c: must contain at least 2 of the keywords "risk", "columns", "owner"; found 0',
    ]
    const { text } = await ask({ prompt: 'Plan it.', inputs: { plan: PLAN }, feedback })
    expect(text.length).toBeGreaterThanOrEqual(400)
    for (const part of ['Open Data', '3 days', 'columns', 'risk']) expect(text).toContain(part)
    expect(text).not.toContain('owner')
  })
})

describe('feedback', () => {
  test('is obeyed with the sentence of the inputs that has the word', async () => {
    const inputs = { notice: 'Data: X, under ODbL-1.0, from many people. It is large.' }
    const request = { model: 'template', params: { template: 'A brief.' }, inputs }
    const { text } = await ask({ ...request, feedback: ['licence: must contain "ODbL-1.0"'] })
    expect(text).toBe('A brief.\n\nData: X, under ODbL-1.0, from many people.')
  })

  test('for a word no input has is answered by saying so', async () => {
    const { text } = await ask({ prompt: 'Plan it.', feedback: ['must contain "risk"'] })
    expect(text).toBe('1. Plan it.\n2. The inputs do not mention "risk".')
  })

  test('says when the inputs are said once more to reach a length', async () => {
    const request = { model: 'extract', prompt: 'x', inputs: { a: 'Only this.' } }
    const { text } = await ask({ ...request, feedback: ['must be at least 60 characters, has 10'] })
    expect(text).toBe('Only this.\n\nOnce more, to the length asked for:\n\nOnly this.\n\nOnly this.')
  })

  test('that names a port changes that port alone', async () => {
    const output_schema = {
      plan: { type: 'string', required: true },
      notes: { type: 'string', required: true },
    } as const
    const { text } = await ask({ prompt: 'Go.', output_schema, feedback: ['port notes must contain "risk"'] })
    const { plan, notes } = JSON.parse(text) as Record<string, string>
    expect(plan).toBe('1. plan: Go.')
    expect(notes).toContain('risk')
  })

  test('fills a missing string port with the inputs’ first words', async () => {
    const request = { model: 'template', params: { template: ' ' }, inputs: { a: 'First. Second.' } }
    expect((await ask({ ...request, feedback: ['missing port text'] })).text).toBe('First.')
  })

  test('cannot be obeyed without any word, above 200,000 characters, or when the gate cut the word', async () => {
    const empty = await ask({ prompt: '...', inputs: { a: '--' }, feedback: ['must be at least 10 characters, has 0'] })
    expect(readText(empty.text)).toBe('')
    const huge = await ask({ prompt: 'Plan it.', feedback: ['must be at least 200001 characters, has 9'] })
    expect(huge.text).toBe('1. Plan it.')
    const cut = await ask({ prompt: 'Plan it.', feedback: ['must contain "half a wor…"'] })
    expect(cut.text).toBe('1. Plan it.')
  })
})

function readText(text: string): string {
  return text.startsWith('{') ? ((JSON.parse(text) as { text?: string }).text ?? '') : text
}
