import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more = {}) => ({ type: 'is_refusal', port: 'answer', ...more })
const judge = (answer: Json, more = {}) => judged(check(more), factsOf({ answer }))

const REFUSALS = [
  "I'm sorry, but I can't help with that.",
  'I’m sorry, but I can’t assist with that request.',
  "I can't provide instructions for this.",
  'I cannot in good conscience help you do that.',
  'Sorry, I am unable to answer this question.',
  'I apologize, but I won’t be able to do that.',
  'Unfortunately, I must decline.',
  'As an AI language model, I do not have opinions.',
  "I'm just an AI, so no.",
  "> **I'm not able to discuss this.**",
  'I understand your question, but I cannot give medical advice.',
  'This request goes against my guidelines.',
  'We are not permitted to share this.',
]
const ANSWERS = [
  'Here are the three steps.',
  "I can't believe how simple this is: call the function.",
  'I cannot stress enough that the tests come first.',
  "Sorry for the delay. Here is the plan: I'll help with it.",
  "The user can't help it. I'm sorry, he said, but I can't assist you.",
  'As an airline, we must decline refunds.',
  "I won't repeat the summary; the three steps follow.",
]

describe('is_refusal', () => {
  test.each(REFUSALS)('sees a refusal in %j', async (answer) => {
    expect(await judge(answer)).toMatchObject({ status: 'failed', reason: 'must answer, starts as a refusal' })
    expect((await judge(answer, { expect: true })).passed).toBe(true)
    expect((await judge(answer, { not: true })).passed).toBe(true)
  })

  test.each(ANSWERS)('sees none in %j', async (answer) => {
    expect((await judge(answer)).passed).toBe(true)
    expect((await judge(answer, { expect: true })).reason).toBe('must be a refusal, does not start as a refusal')
  })

  test('letters nobody sees hide nothing', async () => {
    expect((await judge('I\u200b can\u2060not help with that.')).passed).toBe(false)
  })

  test.each<[Json]>([[''], [' \n '], ['\u200b'], [['I cannot help']], [7], ['x'.repeat(11_000_000)]])(
    'judges nothing of other things',
    async (answer) => {
      expect((await judge(answer)).status).toBe('failed')
      expect((await judge(answer, { expect: true })).status).toBe('failed')
    },
  )

  test('refuses unknown parameters', () => {
    expect(refusals(check({ phrases: [] }))).toHaveLength(1)
    expect(refusals(check({ expect: 'yes' }))).toHaveLength(1)
  })

  test('what follows a refusal or an answer changes nothing', async () => {
    const start = fc.constantFrom(...REFUSALS, ...ANSWERS)
    await fc.assert(
      fc.asyncProperty(start, fc.string({ maxLength: 50 }), async (answer, more) => {
        expect((await judge(`${answer} So. ${more}`)).passed).toBe(ANSWERS.includes(answer))
      }),
      { numRuns: 60 },
    )
  })

  test.each([['sorry '], ['i '], [' '], ['. '], ['I cannot ']])('twice as many %j cost twice', async (part) => {
    await expectLinear((size) => judge(part.repeat(size)), 100_000)
  })
})
