import { describe, expect, test } from 'vitest'
import type { AgentWork, ToolWork } from '../../../shared/runs/run-store.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { workSpan } from '../../../shared/telemetry/agent-spans.ts'
import { callSpan } from '../../../shared/telemetry/call-span.ts'
import type { Span } from '../../../shared/telemetry/otlp-spans.ts'

/** Spans of an agent that calls tools, against the names and attributes of OpenTelemetry's GenAI conventions. */
const { providers } = SettingsSchema.parse({
  providers: { big: { type: 'openai-compatible', url: 'https://api.openai.com/v1' } },
})
const attempt: Span = {
  trace_id: 't',
  span_id: 's',
  parent_span_id: 'p',
  name: 'block refund',
  kind: 'internal',
  began: 1,
  ended: 2,
  attributes: { 'sluice.block': 'refund', 'sluice.attempt': 1 },
  failed: false,
  links: [],
}
const agent: AgentWork = {
  operation: 'invoke_agent',
  agent: { id: 'support/refund', name: 'refund', version: 'abc' },
  provider: 'big',
  model: 'g-1',
  conversation_id: 'run_1/refund/0',
  output: 'json',
  answered: { turns: 3, finish_reason: 'stop', tokens_in: 30, tokens_out: 12, usd: 0.01 },
}
const tool: ToolWork = {
  operation: 'execute_tool',
  tool: { name: 'find_customer', description: 'Finds a customer' },
  call_id: 'call_7',
  use: 'crm.find_customer',
  content: { arguments: '{"name":"Ana"}', result: 'Ana, Oslo' },
}

describe('an attempt of an agent that calls tools', () => {
  test('is invoke_agent, and what hangs below it still does', () => {
    const { attributes, ...rest } = workSpan(attempt, agent, { providers, capture_content: false })
    expect(rest).toEqual({ ...attempt, name: 'invoke_agent refund', attributes: undefined })
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.id': 'support/refund',
      'gen_ai.agent.name': 'refund',
      'gen_ai.agent.version': 'abc',
      'gen_ai.conversation.id': 'run_1/refund/0',
      'gen_ai.output.type': 'json',
      'gen_ai.request.model': 'g-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 12,
      'sluice.usage.usd': 0.01,
      'sluice.turns': 3,
      'sluice.provider': 'big',
      'sluice.block': 'refund',
      'sluice.attempt': 1,
    })
  })

  test('and a call of a tool execute_tool, whose texts leave only where they were asked for', () => {
    const span = (capture_content: boolean) => workSpan(attempt, tool, { providers, capture_content })
    expect(span(false)).toMatchObject({
      name: 'execute_tool find_customer',
      kind: 'internal',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'find_customer',
        'gen_ai.tool.description': 'Finds a customer',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'call_7',
        'sluice.tool': 'crm.find_customer',
        'sluice.block': 'refund',
      },
    })
    expect(JSON.stringify(span(false))).not.toMatch(/Ana/)
    expect(span(true).attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"name":"Ana"}',
      'gen_ai.tool.call.result': 'Ana, Oslo',
    })
  })

  test('any other attempt is what it was', () => {
    expect(workSpan(attempt, undefined, { providers, capture_content: true })).toBe(attempt)
  })
})

describe('a turn', () => {
  const ports = { answer: { type: 'string', required: true } } as const
  const request = {
    prompt: 'Solve it',
    files: [{ name: 'scan', media_type: 'image/png', bytes: new Uint8Array(7) }],
    conversation: [
      { role: 'assistant', text: '', calls: [{ id: 'c1', tool: 'find', arguments: '{"q":1}' }] },
      { role: 'tool', id: 'c1', tool: 'find', text: 'found', is_error: false },
      { role: 'user', text: 'Go on' },
    ],
    tools: [{ name: 'find', description: 'Finds', input_schema: {} }],
    model: 'g-1',
    params: {},
    inputs: {},
    output_schema: ports,
    feedback: [],
    signal: new AbortController().signal,
    idempotency_key: 'k',
  } as const
  const answer = {
    text: '',
    calls: [{ id: 'c2', tool: 'find', arguments: '{"q":2}' }],
    tokens_in: 1,
    tokens_out: 1,
    model: 'g-1',
    finish_reason: 'tool_calls',
  }
  const spanOf = (capture_content: boolean, output_schema: object = ports) =>
    callSpan(
      {
        at: { run: { tenant: 'main', run_id: 'run_1' } },
        provider: 'big',
        asked: { operation: 'chat', request: { ...request, output_schema: output_schema as never }, answer },
        began: 1,
        ended: 2,
      },
      { providers, span_id: 's', capture_content },
    ).attributes

  test('tells calls, their answers, files and tools in the form of the convention, where content is asked for', () => {
    const attributes = spanOf(true)
    const parsed = (name: string) => JSON.parse(String(attributes[name]))
    expect(parsed('gen_ai.input.messages')).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Solve it' },
          { type: 'file_omitted', name: 'scan', mime_type: 'image/png', bytes: 7 },
        ],
      },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: '{"q":1}' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'found' }] },
      { role: 'user', parts: [{ type: 'text', content: 'Go on' }] },
    ])
    expect(parsed('gen_ai.output.messages')).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'c2', name: 'find', arguments: '{"q":2}' }],
        finish_reason: 'tool_calls',
      },
    ])
    expect(parsed('gen_ai.tool.definitions')).toEqual([{ type: 'function', name: 'find' }])
    expect(Object.keys(spanOf(false)).filter((name) => /messages|definitions/.test(name))).toEqual([])
  })

  test('says that JSON was asked for, and nothing where the answer comes as it comes', () => {
    expect(spanOf(false)['gen_ai.output.type']).toBeUndefined()
    expect(spanOf(false, { ...ports, n: { type: 'number', required: true } })['gen_ai.output.type']).toBe('json')
    expect(spanOf(false, { n: { type: 'number', required: true } })['gen_ai.output.type']).toBe('json')
  })
})
