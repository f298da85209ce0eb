import { afterEach, describe, expect, test } from 'vitest'
import type { DispatchRequest, Provider } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { TakenSpan } from '../../emulators/otlp-server.ts'
import { openTracedPlace, outside, type TracedPlace, tree } from './place.ts'

/** The trace of an agent that calls tools: OpenTelemetry's invoke_agent, chat and execute_tool. */
const SECRET_WORDS = 'canary-of-a-tool'
let open: TracedPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

type Called = readonly [tool: string, args: object]

/** Says what the script says, turn by turn. */
function scripted(
  script: (turn: number, request: DispatchRequest) => readonly Called[] | Promise<readonly Called[]>,
): Provider {
  return {
    async dispatch(request) {
      const turn = (request.conversation ?? []).filter(({ role }) => role === 'assistant').length
      const calls = (await script(turn, request)).map(([tool, args], n) => ({
        id: `call_${turn}_${n}`,
        tool,
        arguments: JSON.stringify(args),
      }))
      const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls'
      return { text: 'Said.', calls, tokens_in: 10, tokens_out: 5, usd: 0.001, model: 'm-1', finish_reason }
    },
  }
}

const document = (agent: object = {}) => ({
  name: 'acts',
  blocks: [
    {
      id: 'refund',
      outputs: { answer: 'string' },
      agent: { provider: 'probe', model: 'm', prompt: 'Go.', tools: ['artifact.write', 'artifact.read'], ...agent },
    },
  ],
})
const write = (name: string): Called => ['artifact__write', { name, text: SECRET_WORDS }]

async function traced(probe: Provider, otlp: { readonly capture_content?: boolean } = {}) {
  open = await openTracedPlace({ providers: { probe } }, {}, otlp)
  return open
}

async function run(at: TracedPlace, dag: object) {
  const id = await at.place.start(dag)
  const events = await at.place.ended(id)
  return { id, end: events.at(-1)?.type, spans: await at.spansOf(id) }
}

const byName = (spans: readonly TakenSpan[], name: string) => spans.filter((span) => span.name === name)

describe('a run of an agent that calls tools', () => {
  test('is invoke_agent with its turns, each with its chat, and an execute_tool for each call', async () => {
    const at = await traced(
      scripted((turn) => (turn === 0 ? [write('a.md'), ['artifact__read', { name: 'none.md' }]] : [])),
    )
    const { id, end, spans } = await run(at, document())
    expect(end).toBe('run:completed')
    expect(at.collector.refused).toEqual([])
    expect(tree(spans).toSorted()).toEqual([
      'block refund < invoke_agent refund',
      'block refund < invoke_agent refund',
      'chat m < block refund',
      'chat m < block refund',
      'execute_tool artifact__read < invoke_agent refund',
      'execute_tool artifact__write < invoke_agent refund',
      'invoke_agent refund < invoke_workflow acts',
      'invoke_workflow acts',
    ])
    expect(outside(spans)).toEqual([])
    expect(byName(spans, 'invoke_agent refund')[0]).toMatchObject({
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'sluice.probe',
        'gen_ai.agent.id': 'acts/refund',
        'gen_ai.agent.name': 'refund',
        'gen_ai.agent.version': expect.stringMatching(/^[0-9a-f]{12}$/),
        'gen_ai.conversation.id': `${id}/refund/0`,
        'gen_ai.request.model': 'm',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 20,
        'gen_ai.usage.output_tokens': 10,
        'sluice.turns': 2,
        'sluice.state': 'completed',
      },
    })
    const [written] = byName(spans, 'execute_tool artifact__write')
    expect(written?.status).toBeUndefined()
    expect(written).toMatchObject({
      kind: 1,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'artifact__write',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'call_0_0',
        'gen_ai.tool.description': expect.stringContaining('file'),
        'sluice.tool': 'artifact.write',
        'sluice.item': 1,
      },
    })
    expect(byName(spans, 'execute_tool artifact__read')[0]).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'unknown_artifact', 'gen_ai.tool.call.id': 'call_0_1' },
    })
    expect(JSON.stringify(spans)).not.toContain(SECRET_WORDS)
  })

  test('tells arguments and what the model was told, where content is asked for', async () => {
    const at = await traced(
      scripted((turn) => (turn === 0 ? [write('a.md'), ['artifact__read', { name: 'none.md' }]] : [])),
      { capture_content: true },
    )
    const { spans } = await run(at, document())
    expect(byName(spans, 'execute_tool artifact__write')[0]?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': `{"name":"a.md","text":"${SECRET_WORDS}"}`,
      'gen_ai.tool.call.result': expect.stringContaining('Wrote a.md'),
    })
    expect(byName(spans, 'execute_tool artifact__read')[0]?.attributes).toMatchObject({
      'gen_ai.tool.call.result': expect.stringContaining('no file of that name'),
    })
  })

  test('that fails, says what it used and why', async () => {
    const at = await traced(scripted(() => [write('a.md')]))
    const { end, spans } = await run(at, document({ max_turns: 2 }))
    expect(end).toBe('run:failed')
    expect(byName(spans, 'invoke_agent refund')[0]).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'max_turns', 'sluice.turns': 2, 'gen_ai.usage.input_tokens': 20 },
    })
  })

  test('that is stopped, shows the agent and the turn its end cut off', async () => {
    const at = await traced(
      scripted((_turn, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject))),
    )
    const id = await at.place.start(document())
    const began = (event: RunEvent) => event.type === 'block:started' && event.item === 0
    await at.place.until(id, began)
    await at.place.call('stop-run', id, { reason: 'enough' })
    await at.place.ended(id)
    await expect
      .poll(async () => tree(await at.spansOf(id)).toSorted())
      .toEqual([
        'block refund < invoke_agent refund',
        'chat m < block refund',
        'invoke_agent refund < invoke_workflow acts',
        'invoke_workflow acts',
      ])
  })
})
