import { expect, test } from 'vitest'
import { replay } from '../../../functions/providers/replay.ts'
import type { DispatchAnswer, DispatchRequest, Message } from '../../../shared/providers/provider.ts'
import { recordedCall } from '../../../shared/providers/recording.ts'
import { calls, startScriptedModel } from '../../emulators/scripted-model.ts'
import { asker } from './ask.ts'

const TOOLS = ['find', 'refund'].map((name) => ({ name, description: name, input_schema: { type: 'object' } }))

/** Goes on until the model calls nothing more; each tool answers with its name. */
async function turnsOf(ask: (more: Partial<DispatchRequest>) => Promise<DispatchAnswer>) {
  const conversation: Message[] = []
  const asked: { readonly request: Partial<DispatchRequest>; readonly answer: DispatchAnswer }[] = []
  for (;;) {
    const request = { tools: TOOLS, conversation: [...conversation], idempotency_key: `run_1/${asked.length}` }
    const answer = await ask(request)
    asked.push({ request, answer })
    const { text, calls: wanted = [], opaque } = answer
    if (wanted.length === 0) return asked
    conversation.push({ role: 'assistant', text, calls: wanted, ...(opaque === undefined ? {} : { opaque }) })
    for (const { id, tool } of wanted)
      conversation.push({ role: 'tool', id, tool, text: `${tool}: done`, is_error: false })
  }
}

test('a conversation of several turns, calls at once and arguments that are no JSON goes to its end, and is replayed without a server', async () => {
  const server = await startScriptedModel([
    { text: 'Looking.', reasoning: 'who is it', calls: [{ tool: 'find', arguments: { mail: 'ana' } }] },
    calls({ tool: 'find', arguments: '{"mail": "be' }, { tool: 'refund', arguments: { amount: 7 } }),
    ({ results }) => `It is done: ${results.map(({ text }) => text).join(', ')}.`,
  ])
  const { ask } = asker({ type: 'openai-compatible', url: `${server.url}/v1` })
  const asked = await turnsOf(ask)
  await server.close()
  expect(asked.map(({ answer }) => answer.calls?.map((call) => call.arguments))).toEqual([
    ['{"mail":"ana"}'],
    ['{"mail": "be', '{"amount":7}'],
    undefined,
  ])
  expect(asked.at(-1)?.answer.text).toBe('It is done: find: done, refund: done.')
  // What it thought stands beside its message again: some servers of this protocol refuse it otherwise.
  expect(JSON.stringify(server.asked.at(-1)?.body)).toContain('who is it')

  const base = { prompt: 'Plan it.', model: 'm-1', params: {} }
  const recording = asked.map(({ request, answer }) =>
    recordedCall('own', { ...base, idempotency_key: 'run_1/0', ...request }, answer),
  )
  const file = { v: 1, run_id: 'run_1', dag_name: 'd', dag_hash: 'h', calls: recording }
  const replayed = replay('own', 'r.json', async () => Buffer.from(JSON.stringify(file)))
  const again = await turnsOf((more) =>
    replayed.dispatch({
      ...base,
      inputs: {},
      output_schema: {},
      feedback: [],
      signal: new AbortController().signal,
      idempotency_key: 'run_2/0',
      ...more,
    }),
  )
  expect(again.map(({ answer }) => [answer.text, answer.calls])).toEqual(
    asked.map(({ answer }) => [answer.text, answer.calls]),
  )
})
