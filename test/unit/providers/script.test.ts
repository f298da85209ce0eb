import { describe, expect, test } from 'vitest'
import type { DispatchRequest, Message } from '../../../shared/providers/provider.ts'
import { ask } from './ask.ts'

const play = (turns: unknown, over: Partial<DispatchRequest> = {}) =>
  ask({ model: 'script', params: { turns: turns as never }, ...over })

const said = (text: string): Message => ({ role: 'assistant', text, calls: [] })
const told = (text: string): Message => ({ role: 'tool', id: 'c', tool: 't', text, is_error: false })

describe('model script', () => {
  test('says what its turn has, calls and all, and that it is no model', async () => {
    const tools = [{ name: 'find', description: 'Finds.', input_schema: { type: 'object' } }]
    const answer = await play([{ text: 'I look, {{inputs.who}}.', calls: [{ tool: 'find', arguments: { id: 7 } }] }], {
      tools,
      inputs: { who: 'Ana' },
    })
    expect(answer).toMatchObject({
      text: 'I look, Ana.',
      calls: [{ id: 'call_0_0', tool: 'find', arguments: '{"id":7}' }],
      model: 'script',
      tokens_in: 0,
      usd: 0,
      note: 'a script of the document says this, not a model',
    })
  })

  test('goes on with each answer of its own, and says the last one for ever', async () => {
    const turns = [{ text: 'one' }, { text: 'two' }]
    const next = async (...conversation: readonly Message[]) => (await play(turns, { conversation })).text
    expect(await next()).toBe('one')
    expect(await next(said('one'), told('x'), { role: 'user', text: 'go on' })).toBe('two')
    expect(await next(said('one'), said('two'), said('two'))).toBe('two')
  })

  test('chooses by what it was told since it last spoke', async () => {
    const turns = [{ text: 'ask' }, [{ when_told: 'refused', text: 'sorry' }, { text: 'thanks' }]]
    const next = async (...conversation: readonly Message[]) => (await play(turns, { conversation })).text
    expect(await next(said('ask'), told('it was refused'))).toBe('sorry')
    expect(await next(told('it was refused'), said('ask'), told('done'))).toBe('thanks')
  })

  test.each<[unknown, string]>([
    [undefined, 'it needs model_params.turns, a list of'],
    [[{ say: 'x' }], 'model_params.turns.0'],
    [[{ text: '{{inputs.nobody}}' }], 'turn 1 of its script reads inputs.nobody, which has no value'],
    [[[{ text: 'x', when_told: 'y' }]], 'turn 1 of its script has nothing to say to what it was told'],
  ])('a script of %j is refused in words', async (turns, words) => {
    await expect(play(turns)).rejects.toMatchObject({
      name: 'InvalidInput',
      code: 'provider_invalid',
      message: expect.stringContaining(words),
    })
  })
})
