import { describe, expect, test } from 'vitest'
import { replay } from '../../../functions/providers/replay.ts'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { type Recording, recordedCall } from '../../../shared/providers/recording.ts'

const request = (at: string, more: Partial<DispatchRequest> = {}): DispatchRequest => ({
  prompt: 'Plan it.',
  model: 'm',
  params: {},
  inputs: {},
  output_schema: {},
  feedback: [],
  signal: new AbortController().signal,
  idempotency_key: `run_9/${at}`,
  ...more,
})
const answered = (at: string, text: string) =>
  recordedCall('own', request(at), { text, tokens_in: 3, tokens_out: 1, usd: 0.5, model: 'm-1', finish_reason: 'stop' })

const recording: Recording = {
  v: 1,
  run_id: 'run_1',
  dag_name: 'd',
  dag_hash: 'h',
  calls: [answered('0/0/1/0', 'first'), answered('1/0/1/0', 'second'), answered('0/0/2/0', 'third')],
}

describe('one prompt that was answered several times', () => {
  const reads = { count: 0 }
  const provider = replay('own', 'r.json', async () => {
    reads.count += 1
    return Buffer.from(JSON.stringify(recording))
  })

  test.each([
    ['0/0/1/0', 'first'],
    ['1/0/1/0', 'second'],
    ['0/0/2/0', 'third'],
    ['5/0/1/0', 'first'],
  ])('is answered to call %s with the %s', async (at, text) => {
    expect(await provider.dispatch(request(at))).toEqual({
      text,
      tokens_in: 3,
      tokens_out: 1,
      usd: 0,
      model: 'm-1',
      finish_reason: 'stop',
      note: 'replayed from run run_1',
    })
    expect(reads.count).toBe(1)
  })
})

test('a recording that could not be read is read again by the next call', async () => {
  let fails = true
  const provider = replay('own', 'r.json', async () => {
    if (fails) throw new Error('away')
    return Buffer.from(JSON.stringify(recording))
  })
  await expect(provider.dispatch(request('0/0/1/0'))).rejects.toMatchObject({ code: 'provider_invalid' })
  fails = false
  expect((await provider.dispatch(request('0/0/1/0'))).text).toBe('first')
})

describe('a turn of an agent', () => {
  const tools = [{ name: 'find', description: 'Finds.', input_schema: { type: 'object' } }]
  const calls = [{ id: 'a', tool: 'find', arguments: '{"id": 7' }]
  const conversation: DispatchRequest['conversation'] = [
    { role: 'assistant', text: '', calls, opaque: { by: 'own/m', signature: 'x' } },
    { role: 'tool', id: 'a', tool: 'find', text: 'found', is_error: false },
  ]
  const files = [{ name: 'a.png', media_type: 'image/png', bytes: Buffer.from([1, 2]) }]
  const turn = (at: string, more: Partial<DispatchRequest> = {}) => request(at, { tools, files, ...more })
  const counted = { tokens_in: 3, tokens_out: 1, model: 'm-1', finish_reason: 'tool_calls' }
  const kept: Recording = {
    ...recording,
    calls: [
      recordedCall('own', turn('0'), { ...counted, text: '', calls, opaque: { secret: 'signature' } }),
      recordedCall('own', turn('1', { conversation }), { ...counted, text: 'Done.' }),
    ],
  }
  const provider = replay('own', 'r.json', async () => Buffer.from(JSON.stringify(kept)))

  test('is answered with its calls, by what was said so far', async () => {
    expect(await provider.dispatch(turn('0'))).toMatchObject({ text: '', calls, usd: 0 })
    // What a provider keeps of its own beside a message is nothing the answer hangs on, and stands in no recording.
    const said = [{ role: 'assistant', text: '', calls } as const, ...conversation.slice(1)]
    const last = await provider.dispatch(turn('1', { conversation: said }))
    expect([last.text, last.calls]).toEqual(['Done.', undefined])
    expect(JSON.stringify(kept)).not.toContain('signature')
  })

  test.each<[Partial<DispatchRequest>, RegExp]>([
    [{ conversation: [...conversation, { role: 'user', text: 'And?' }] }, /another conversation after it/],
    [{ tools: [] }, /another set of tools/],
    [{ files: [] }, /another set of files/],
    [
      { files: [{ ...files[0], name: 'a.png', media_type: 'image/png', bytes: Buffer.from([1, 3]) }] },
      /another set of files/,
    ],
  ])('with %j is another one, and the nearest says how', async (more, words) => {
    await expect(provider.dispatch(turn('0', more))).rejects.toMatchObject({
      code: 'provider_refused',
      message: expect.stringMatching(words),
    })
  })
})
