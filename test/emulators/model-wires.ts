import { event } from './bedrock-server.ts'
import type { Asked, Behaviour } from './provider-server.ts'

/** What a model says in one turn, before it is put into the form of a protocol. */
export interface Turn {
  readonly text?: string
  /** What it thought first, and what proves that it did. */
  readonly reasoning?: { readonly text: string; readonly signature: string }
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly arguments: string }[]
}

/** A result of a tool as a server was sent it: of which call (by id, or by the tool's name where there are no ids). */
export type SentResult = readonly [call: unknown, text: unknown]

/** One protocol of model servers: how it says a turn, and where in a request results of tools stand. */
export interface ModelWire {
  readonly mediaType: string
  /** The whole of a stream in its pieces, some characters of text each. */
  pieces(turn: Turn): readonly (string | Buffer)[]
  results(body: Asked['body']): readonly SentResult[]
}

/** Sends the pieces of a turn; `hold` is waited for before the last half of them, `cut` breaks off after so many. */
export function saysPieces(
  { mediaType, pieces }: ModelWire,
  turn: Turn,
  { hold, cut }: { readonly hold?: Promise<unknown>; readonly cut?: number } = {},
): Behaviour {
  return async (response) => {
    const all = pieces(turn)
    response.writeHead(200, { 'content-type': mediaType })
    for (const [at, piece] of all.entries()) {
      if (at === Math.floor(all.length / 2)) await hold
      if (at === cut) return void response.destroy()
      response.write(piece)
    }
    response.end()
  }
}

const inPieces = (text: string): readonly string[] => text.match(/.{1,4}/gsu) ?? []
const sse = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const parsed = (text: string): unknown => JSON.parse(text)

type Members = Readonly<Record<string, unknown>>
const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null
const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isMembers) : [])
const membersOf = (value: unknown): readonly Members[] => (isMembers(value) ? [value] : [])

/** OpenAI's chat completions. Reasoning comes without proof there. */
export const CHAT: ModelWire = {
  mediaType: 'text/event-stream',
  pieces({ text = '', reasoning, calls = [] }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      sse({ id: 'chat-1', model: 'm-1', choices: [{ index: 0, delta, finish_reason }] })
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: `${reasoning.text} ${reasoning.signature}` })]),
      ...inPieces(text).map((content) => chunk({ content })),
      ...calls.flatMap(({ id, tool, arguments: args }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name: tool, arguments: '' } }] }),
        ...inPieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      sse({ choices: [], usage: { prompt_tokens: 21, completion_tokens: 9 } }),
      'data: [DONE]\n\n',
    ]
  },
  results: (body) =>
    listOf(body.messages).flatMap(({ role, tool_call_id, content }) =>
      role === 'tool' ? [[tool_call_id, content]] : [],
    ),
}

/** OpenAI's responses. */
export const RESPONSES: ModelWire = {
  mediaType: 'text/event-stream',
  pieces({ text = '', reasoning, calls = [] }) {
    const item = (state: 'added' | 'done', output_index: number, one: object) =>
      sse({ type: `response.output_item.${state}`, output_index, item: one })
    const thought = (encrypted_content: string | null) => ({
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content,
      summary: [],
    })
    return [
      sse({ type: 'response.created', response: { id: 'resp-1', created_at: 1, model: 'm-1' } }),
      ...(reasoning === undefined
        ? []
        : [item('added', 0, thought(null)), item('done', 0, thought(reasoning.signature))]),
      ...(text === ''
        ? []
        : [
            item('added', 1, { type: 'message', id: 'msg_1' }),
            ...inPieces(text).map((delta) =>
              sse({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, delta }),
            ),
            item('done', 1, { type: 'message', id: 'msg_1' }),
          ]),
      ...calls.flatMap(({ id, tool, arguments: args }, at) => {
        const call = { type: 'function_call', id: `fc_${at}`, call_id: id, name: tool }
        const piece = (delta: string) =>
          sse({ type: 'response.function_call_arguments.delta', item_id: call.id, output_index: at + 2, delta })
        return [
          item('added', at + 2, { ...call, arguments: '' }),
          ...inPieces(args).map(piece),
          item('done', at + 2, { ...call, arguments: args, status: 'completed' }),
        ]
      }),
      sse({ type: 'response.completed', response: { usage: { input_tokens: 21, output_tokens: 9 } } }),
    ]
  },
  results: (body) =>
    listOf(body.input).flatMap(({ type, call_id, output }) =>
      type === 'function_call_output' ? [[call_id, output]] : [],
    ),
}

/** Anthropic's messages. */
export const MESSAGES: ModelWire = {
  mediaType: 'text/event-stream',
  pieces({ text = '', reasoning, calls = [] }) {
    const told = (type: string, value: object = {}) => `event: ${type}\n${sse({ type, ...value })}`
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      told('content_block_start', { index, content_block }),
      ...deltas.map((delta) => told('content_block_delta', { index, delta })),
      told('content_block_stop', { index }),
    ]
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content: [], stop_reason: null }
    const usage = { input_tokens: 21, output_tokens: 9 }
    const end = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }
    return [
      told('message_start', { message: { ...message, usage } }),
      ...(reasoning === undefined
        ? []
        : block(0, { type: 'thinking', thinking: '' }, [
            { type: 'thinking_delta', thinking: reasoning.text },
            { type: 'signature_delta', signature: reasoning.signature },
          ])),
      ...(text === ''
        ? []
        : block(
            1,
            { type: 'text', text: '' },
            inPieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
          )),
      ...calls.flatMap(({ id, tool, arguments: args }, at) =>
        block(
          at + 2,
          { type: 'tool_use', id, name: tool, input: {} },
          inPieces(args).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ),
      ),
      told('message_delta', { delta: end, usage }),
      told('message_stop'),
    ]
  },
  results: (body) =>
    listOf(body.messages)
      .flatMap(({ content }) => listOf(content))
      .flatMap(({ type, tool_use_id, content }) => (type === 'tool_result' ? [[tool_use_id, textIn(content)]] : [])),
}

function textIn(content: unknown): unknown {
  return typeof content === 'string'
    ? content
    : listOf(content)
        .map(({ text }) => String(text))
        .join('')
}

/** Gemini's generateContent. Arguments are objects there, and calls have no ids. */
export const GEMINI: ModelWire = {
  mediaType: 'text/event-stream',
  pieces({ text = '', reasoning, calls = [] }) {
    const chunk = (parts: readonly object[], more: object = {}) =>
      sse({
        responseId: 'gem-1',
        modelVersion: 'm-1',
        candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
        usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 9, totalTokenCount: 30 },
      })
    const proof = reasoning === undefined ? {} : { thoughtSignature: reasoning.signature }
    return [
      ...(reasoning === undefined ? [] : [chunk([{ text: reasoning.text, thought: true }])]),
      ...inPieces(text).map((piece) => chunk([{ text: piece }])),
      ...calls.map(({ tool, arguments: args }, at) =>
        chunk([{ functionCall: { name: tool, args: parsed(args) }, ...(at === 0 ? proof : {}) }]),
      ),
      chunk([], { finishReason: 'STOP' }),
    ]
  },
  results: (body) =>
    listOf(body.contents)
      .flatMap(({ parts }) => listOf(parts))
      .flatMap(({ functionResponse }) => membersOf(functionResponse))
      .map(({ name, response }) => [name, JSON.stringify(response)]),
}

/** Amazon Bedrock's Converse. */
export const CONVERSE: ModelWire = {
  mediaType: 'application/vnd.amazon.eventstream',
  pieces({ text = '', reasoning, calls = [] }) {
    const delta = (contentBlockIndex: number, one: object) =>
      event('contentBlockDelta', { contentBlockIndex, delta: one })
    return [
      event('messageStart', { role: 'assistant' }),
      ...(reasoning === undefined
        ? []
        : [
            delta(0, { reasoningContent: { text: reasoning.text } }),
            delta(0, { reasoningContent: { signature: reasoning.signature } }),
          ]),
      ...inPieces(text).map((piece) => delta(1, { text: piece })),
      ...calls.flatMap(({ id, tool, arguments: args }, at) => [
        event('contentBlockStart', { contentBlockIndex: at + 2, start: { toolUse: { toolUseId: id, name: tool } } }),
        ...inPieces(args).map((input) => delta(at + 2, { toolUse: { input } })),
        event('contentBlockStop', { contentBlockIndex: at + 2 }),
      ]),
      event('messageStop', { stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' }),
      event('metadata', { usage: { inputTokens: 21, outputTokens: 9, totalTokens: 30 }, metrics: { latencyMs: 5 } }),
    ]
  },
  results: (body) =>
    listOf(body.messages)
      .flatMap(({ content }) => listOf(content))
      .flatMap(({ toolResult }) => membersOf(toolResult))
      .map(({ toolUseId, content }) => [toolUseId, textIn(content)]),
}

/** Ollama's chat. Arguments are objects there; reasoning comes without proof. */
export const OLLAMA: ModelWire = {
  mediaType: 'application/x-ndjson',
  pieces({ text = '', reasoning, calls = [] }) {
    const line = (message: object, more: object = {}) =>
      `${JSON.stringify({ model: 'm-1', message: { role: 'assistant', content: '', ...message }, done: false, ...more })}\n`
    return [
      ...(reasoning === undefined ? [] : [line({ thinking: `${reasoning.text} ${reasoning.signature}` })]),
      ...inPieces(text).map((content) => line({ content })),
      ...calls.map(({ id, tool, arguments: args }) =>
        line({ tool_calls: [{ id, function: { name: tool, arguments: parsed(args) } }] }),
      ),
      line({}, { done: true, done_reason: 'stop', prompt_eval_count: 21, eval_count: 9 }),
    ]
  },
  results: (body) =>
    listOf(body.messages).flatMap(({ role, tool_call_id, content }) =>
      role === 'tool' ? [[tool_call_id, content]] : [],
    ),
}

/** A server of one's own (docs/providers.md, "http"): it answers whole. */
export const OWN: ModelWire = {
  mediaType: 'application/json',
  pieces: ({ text, reasoning, calls }) => [
    JSON.stringify({ text, calls, ...(reasoning === undefined ? {} : { opaque: reasoning }), model: 'm-1' }),
  ],
  results: (body) => listOf(body.conversation).flatMap(({ role, id, text }) => (role === 'tool' ? [[id, text]] : [])),
}
