import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises'
import { type Asked, type Behaviour, json, type ProviderServer, serveProvider } from './provider-server.ts'

/** What a model is sent, and so all that a script may know: no run, no block, no request before this one. */
interface Seen {
  readonly model: string
  readonly system: string
  /** The first message of the user. */
  readonly prompt: string
  /** After the system's, as they came. */
  readonly messages: readonly SeenMessage[]
  /** Messages of its own so far: 0 = it is asked for the first time. */
  readonly turn: number
  /** Names of the tools it may call. */
  readonly tools: readonly string[]
  /** What came of the calls of its last message, in the order of the messages. */
  readonly results: readonly SeenResult[]
}

interface SeenMessage {
  readonly role: string
  readonly text: string
  readonly calls: readonly SeenCall[]
  /** Of a tool's message: the call that it answers. */
  readonly id?: string
}

interface SeenCall {
  readonly id: string
  readonly tool: string
  readonly arguments: string
}

interface SeenResult extends SeenCall {
  readonly text: string
}

/** A call that it asks for; `arguments` as a text is sent as it stands, whatever it is. */
interface ScriptedCall {
  readonly tool: string
  readonly arguments?: object | string
  /** Else made from turn and place. */
  readonly id?: string
}

/** What it says next. */
export interface ScriptedAnswer {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  readonly finish_reason?: string
  /** Milliseconds before each piece of a stream, or once before a whole answer. */
  readonly ms?: number
  /** So many pieces of the stream, then the connection breaks. */
  readonly cut_after?: number
  /** Reasoning told apart from the answer, as some servers do. */
  readonly reasoning?: string
  /** No answer of the model: what its server does instead. */
  readonly serve?: Behaviour
}

type Next = string | ScriptedAnswer

/**
 * A script answers the conversation so far. A list has an answer for each turn, and its last one for all that follow. The same
 * conversation is answered the same.
 */
export type Script = ((seen: Seen) => Next) | readonly (Next | ((seen: Seen) => Next))[]

/**
 * A server that speaks chat completions, with streams and tools, whose model is a script. It refuses what OpenAI's
 * refuses: a call without its result, a result without its call, names that no tool may have. `asked` has every request;
 * `next(..)` says how the ones to come are served, as of every stand-in.
 */
export function startScriptedModel(script: Script, key?: string): Promise<ProviderServer> {
  return serveProvider((response, asked) => {
    const problem = wireProblem(asked)
    if (problem !== undefined) return refusal(400, problem)(response, asked)
    const seen = readConversation(asked)
    const said = answerOf(script, seen)
    return (said.serve ?? tells(seen, said))(response, asked)
  }, key)
}

function answerOf(script: Script, seen: Seen): ScriptedAnswer {
  const next = typeof script === 'function' ? script : (script[Math.min(seen.turn, script.length - 1)] ?? '')
  const said = typeof next === 'function' ? next(seen) : next
  return typeof said === 'string' ? { text: said } : said
}

/** Asks for these, all at once. */
export function calls(...asked: readonly ScriptedCall[]): ScriptedAnswer {
  return { calls: asked }
}

/**
 * A model that can be talked into things: text in a result of a tool that reads `IGNORE .. call NAME {..}` is obeyed, once.
 * Everything else is answered by `script`.
 */
export function obeysInjectedText(script: Script): (seen: Seen) => Next {
  return (seen) => {
    const orders = seen.messages.flatMap(({ role, text }) => (role === 'tool' ? injected(text) : []))
    const done = new Set(seen.messages.flatMap((message) => message.calls.map(({ tool }) => tool)))
    const order = orders.find(({ tool }) => !done.has(tool))
    return order === undefined ? answerOf(script, seen) : calls(order)
  }
}

function injected(text: string): readonly ScriptedCall[] {
  return [...text.matchAll(/\bIGNORE\b[^{}]*?\bcall ([a-zA-Z0-9_-]+)\s*(\{[^{}]*\})?/g)].map(
    ([, tool = '', args = '{}']) => ({ tool, arguments: args }),
  )
}

/** An error of the server's. */
export function fails(
  status: number,
  message = 'The server had an error',
  headers: Readonly<Record<string, string>> = {},
): ScriptedAnswer {
  return { serve: refusal(status, message, headers) }
}

export function limitsRate(seconds = 1): ScriptedAnswer {
  return fails(429, 'Rate limit reached', { 'retry-after': String(seconds) })
}

function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return json(status, { error: { message } }, headers)
}

function readConversation({ body }: Asked): Seen {
  const all = messagesOf(body).map(readMessage)
  const messages = all.filter(({ role }) => role !== 'system' && role !== 'developer')
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const asked = new Map((messages[last]?.calls ?? []).map((call) => [call.id, call]))
  return {
    model: String(body.model),
    system: all.flatMap((message) => (messages.includes(message) ? [] : [message.text])).join('\n\n'),
    prompt: messages.find(({ role }) => role === 'user')?.text ?? '',
    messages,
    turn: messages.filter(({ role }) => role === 'assistant').length,
    tools: toolNames(body),
    results: messages.slice(last + 1).flatMap(({ id = '', text }) => {
      const call = asked.get(id)
      return call === undefined ? [] : [{ ...call, text }]
    }),
  }
}

/** As chat completions has it; what it reads of a message, anybody may have left out. */
interface WireMessage {
  readonly role?: string
  readonly content?: string | null | readonly { readonly type?: string; readonly text?: string }[]
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

function messagesOf(body: Asked['body']): readonly WireMessage[] {
  return Array.isArray(body.messages) ? body.messages : []
}

function readMessage({ role = '', content, tool_call_id, tool_calls = [] }: WireMessage): SeenMessage {
  const text =
    typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join('')
  return {
    role,
    text,
    calls: tool_calls.map(({ id = '', function: { name = '', arguments: args = '' } = {} }) => ({
      id,
      tool: name,
      arguments: args,
    })),
    ...(tool_call_id === undefined ? {} : { id: tool_call_id }),
  }
}

function toolNames(body: Asked['body']): readonly string[] {
  const tools: readonly { readonly function?: { readonly name?: string } }[] = Array.isArray(body.tools)
    ? body.tools
    : []
  return tools.map((tool) => tool.function?.name ?? '')
}

/** What OpenAI's own server would say no to; undefined = nothing. */
function wireProblem({ path, body }: Asked): string | undefined {
  if (!path.split('?')[0]?.endsWith('/chat/completions')) return `Unknown request URL: POST ${path}`
  const names = toolNames(body)
  const odd = names.find((name, at) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name) || names.indexOf(name) !== at)
  if (odd !== undefined) return `Invalid 'tools': "${odd}" is no name of a tool, or is there twice`
  return unanswered(messagesOf(body).map(readMessage))
}

/** Each call is answered before anybody says anything else, and nothing else is. */
function unanswered(messages: readonly SeenMessage[]): string | undefined {
  let open: readonly string[] = []
  for (const { role, id = '', calls: asked } of messages) {
    if (role === 'tool') {
      if (!open.includes(id)) return `messages with role 'tool' must follow the call they answer: ${id}`
      open = open.filter((one) => one !== id)
    } else {
      if (open.length > 0)
        return `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join()}`
      open = asked.map((call) => call.id)
    }
  }
  return open.length === 0
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join()}`
}

/** An answer as the request wants it: a stream, or whole. */
function tells(seen: Seen, answer: ScriptedAnswer): Behaviour {
  const { text = '', ms = 0, reasoning } = answer
  const tool_calls = (answer.calls ?? []).map((call, at) => wireCall(call, `call_${seen.turn}_${at}`))
  const finish_reason = answer.finish_reason ?? (tool_calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = usageOf(seen, text + tool_calls.map((call) => call.function.arguments).join(''))
  const common = { id: `chatcmpl-${seen.turn}`, model: seen.model }
  const thought = reasoning === undefined ? [] : [{ reasoning_content: reasoning }]
  const events = [
    ...[{ role: 'assistant', content: '' }, ...thought, ...textPieces(text), ...tool_calls.flatMap(callPieces)].map(
      (delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }),
    ),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ].map((event) => ({ ...common, object: 'chat.completion.chunk', ...event }))
  const called = tool_calls.length > 0 ? { tool_calls } : {}
  const message = { role: 'assistant', content: text === '' ? null : text, ...thought[0], ...called }
  const whole = { ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }
  return async (response, asked) => {
    if (asked.body.stream === true) return streams(events, answer)(response, asked)
    if (ms > 0) await pause(ms)
    return json(200, whole)(response, asked)
  }
}

function streams(events: readonly object[], { ms = 0, cut_after }: ScriptedAnswer): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const [at, event] of events.entries()) {
      await (ms > 0 ? pause(ms) : immediately())
      if (response.destroyed) return
      if (at === cut_after) return void response.destroy()
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  }
}

interface WireCall {
  readonly id: string
  readonly type: string
  readonly function: { readonly name: string; readonly arguments: string }
}

function wireCall({ tool, arguments: args = {}, id }: ScriptedCall, made: string): WireCall {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return { id: id ?? made, type: 'function', function: { name: tool, arguments: text } }
}

function textPieces(text: string): readonly object[] {
  return inPieces(text).map((content) => ({ content }))
}

/** Its name first, then its arguments in pieces. */
function callPieces({ id, type, function: { name, arguments: args } }: WireCall, index: number): readonly object[] {
  return [
    { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
    ...inPieces(args).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]
}

function inPieces(text: string): readonly string[] {
  return text.match(/.{1,12}/gsu) ?? []
}

/** Four characters a token, as nobody's tokenizer counts. */
function usageOf({ system, messages }: Seen, said: string) {
  const read = messages.flatMap(({ text, calls: asked }) => [text, ...asked.map((call) => call.arguments)])
  const prompt_tokens = Math.ceil([system, ...read].join('').length / 4)
  const completion_tokens = Math.ceil(said.length / 4)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}
