import { describe, expect, test } from 'vitest'
import { noAnswer, providerAnswer, scriptedAnswer, scriptedStep, seenBy } from '../../../shared/cases/scripts.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'

const request: DispatchRequest = {
  system: 'Be brief.',
  prompt: 'Solve it.',
  model: 'm',
  params: {},
  inputs: { secret: 'nobody shows this to a model' },
  output_schema: {},
  feedback: [],
  signal: new AbortController().signal,
  idempotency_key: 'run_1/b0/0/1/0',
}

describe('a script', () => {
  test('is shown what a model is shown, and nothing else', () => {
    const seen = seenBy({
      ...request,
      conversation: [
        { role: 'assistant', text: 'I look.', calls: [{ id: 'c', tool: 'find', arguments: '{}' }] },
        { role: 'tool', id: 'c', tool: 'find', text: 'Ada', is_error: false },
      ],
    })
    expect(seen).toEqual({
      model: 'm',
      system: 'Be brief.',
      prompt: 'Solve it.',
      messages: [
        { role: 'assistant', text: 'I look.' },
        { role: 'tool', text: 'Ada' },
      ],
      turn: 1,
      tools: [],
      files: [],
      results: [{ tool: 'find', text: 'Ada', is_error: false }],
    })
    expect(JSON.stringify(seen)).not.toContain('nobody')
  })

  test('answers with the first line that fits, and a line with turns by its turn', () => {
    const lines = [
      { when: { refused: true }, say: 'Better.' },
      { when: { prompt: 'Solve' }, turns: [{ say: 'First.' }, { say: 'And so on.' }] },
      { say: 'Anything else.' },
    ]
    const of = (more: Partial<DispatchRequest>) => scriptedAnswer(lines, seenBy({ ...request, ...more }))?.say
    expect(of({})).toBe('First.')
    expect(of({ prompt: 'Solve it.\n\nThe previous answer was refused:\n- too short' })).toBe('Better.')
    expect(of({ prompt: 'Tell me.' })).toBe('Anything else.')
    const own = { role: 'assistant', text: 'First.', calls: [] } as const
    expect(of({ conversation: [own, own, own] })).toBe('And so on.')
  })

  test('says values as JSON, counts a token for four characters, and is called a script in the record', () => {
    const answer = providerAnswer('big', { say: { b: 1, a: 'x' } }, seenBy(request))
    expect(answer).toMatchObject({
      text: '{"a":"x","b":1}',
      tokens_in: 5,
      tokens_out: 4,
      usd: 0,
      finish_reason: 'stop',
    })
    expect(answer.note).toBe('said by a script for "big", by no model')
  })

  test.each([
    ['unavailable', 'provider_unavailable'],
    ['throttled', 'provider_throttled'],
    ['timeout', 'provider_timeout'],
    ['refused', 'provider_refused'],
  ] as const)('that fails as %s fails as a provider does', (fail, code) => {
    expect(() => providerAnswer('big', { fail }, seenBy(request))).toThrow(expect.objectContaining({ code }))
  })

  test('that has no answer says what it was shown and where to add one', () => {
    expect(noAnswer('big', seenBy(request)).message).toBe(
      'No script answers provider "big" (model "m", turn 0): it is shown "Solve it.". Add a line to models.big of the case.',
    )
  })
})

test('a step is scripted by its inputs and its attempt', () => {
  const lines = [
    { when: { attempt: 1 }, fail: { code: 'x', reason: 'Not yet', retry: true } },
    { when: { inputs: { of: 'Ada' } }, outputs: { n: 1 } },
  ]
  expect(scriptedStep(lines, { inputs: { of: 'Ada' }, config: {}, attempt: 1 })).toBe(lines[0])
  expect(scriptedStep(lines, { inputs: { of: 'Ada', more: 2 }, config: {}, attempt: 2 })).toBe(lines[1])
  expect(scriptedStep(lines, { inputs: { of: 'Ben' }, config: {}, attempt: 2 })).toBeUndefined()
})
