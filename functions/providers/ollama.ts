import type { Fault } from '../../shared/errors.ts'
import type {
  DispatchAnswer,
  DispatchRequest,
  Message,
  MessageFile,
  Provider,
  ToolOffer,
  ToolRequest,
} from '../../shared/providers/provider.ts'
import { type EmbedDialect, embedOverHttp } from './embeddings.ts'
import { failureFault, readReason, statusFault } from './faults.ts'
import {
  answerSchema,
  argumentsObject,
  asString,
  brokenOff,
  fileRefused,
  fileText,
  invalidAnswerFault,
  measureUsage,
  memberOf,
  needsJsonObject,
  parseJsonObject,
  systemText,
  type Usage,
  uncalled,
} from './model-answers.ts'
import { type HttpAnswer, type HttpCall, pathAddress, providerOverHttp, type Remote } from './remote.ts'

/**
 * Ollama's own API, /api/chat: the answer comes as lines of JSON. `format` carries the schema of the answer; servers
 * before 0.5 only know `json`, refuse the schema and are asked again with that. model_params are its `options`
 * (`max_tokens` is told as `num_predict`); `think` and `keep_alive` stand beside them.
 */
export function ollama(remote: Remote): Provider {
  const known = { schema: true }
  const chat = providerOverHttp(remote, async (call, request) => {
    const answer = await postUntilAccepted(remote, call, request, known)
    return readLines(remote, request, answer.body.lines())
  })
  return { ...chat, embed: (request) => embedOverHttp(remote, request, EMBED) }
}

/** A text that is longer than the model takes is cut by the server. */
const EMBED: EmbedDialect = {
  path: '/api/embed',
  body: (model, input) => ({ model, input, truncate: true }),
  vectors: (told) => told.embeddings,
  tokens: (told) => told.prompt_eval_count,
}

async function postUntilAccepted(
  remote: Remote,
  call: HttpCall,
  request: DispatchRequest,
  known: { schema: boolean },
): Promise<HttpAnswer> {
  const address = pathAddress(remote, '/api/chat')
  for (let step = 0; ; step += 1) {
    const answer = await call.post(address, ollamaBody(remote, request, known.schema), step)
    if (answer.status >= 200 && answer.status < 300) return answer
    if (answer.status !== 400) throw await statusFault(remote, answer)
    const told = readReason(await answer.body.start())
    const isOld = known.schema && isAboutFormat(request, told)
    if (!isOld) throw failureFault(remote, { status: 400, told })
    known.schema = false
  }
}

async function readLines(
  remote: Remote,
  request: DispatchRequest,
  lines: AsyncIterable<string>,
): Promise<DispatchAnswer> {
  const said: Said = { texts: [], thoughts: [], calls: [] }
  for await (const line of lines) {
    if (line.trim() === '') continue
    const told = parseJsonObject(remote.name, line)
    // A failure after the first token comes in a line, not as a status.
    if (told.error !== undefined) throw failureFault(remote, { status: 500, told: readReason(line) })
    if (told.message === undefined && told.done === undefined) throw foreign(remote.name)
    take(said, request, told.message)
    if (told.done === true) return answerOf(remote, request, told, said)
  }
  throw brokenOff(remote.name)
}

interface Said {
  readonly texts: string[]
  readonly thoughts: string[]
  readonly calls: ToolRequest[]
}

function take({ texts, thoughts, calls }: Said, request: DispatchRequest, message: unknown): void {
  const text = asString(memberOf(message, 'content')) ?? ''
  if (text !== '') {
    texts.push(text)
    request.on_text?.(text)
  }
  const thought = asString(memberOf(message, 'thinking')) ?? ''
  if (thought !== '') thoughts.push(thought)
  const wanted = memberOf(message, 'tool_calls')
  if (!Array.isArray(wanted)) return
  for (const call of wanted) {
    const args = memberOf(memberOf(call, 'function'), 'arguments')
    calls.push({
      // Older servers give none: this one is unique in its conversation, and the same when it is asked again.
      id: asString(memberOf(call, 'id')) ?? `call_${(request.conversation ?? []).length}_${calls.length}`,
      tool: asString(memberOf(memberOf(call, 'function'), 'name')) ?? '',
      arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    })
  }
}

function foreign(name: string): Fault {
  return invalidAnswerFault(
    name,
    `Cannot use the answer of provider "${name}": it has no message. Is its url the one of Ollama, without /api or /v1?`,
  )
}

function answerOf(
  remote: Remote,
  request: DispatchRequest,
  told: Readonly<Record<string, unknown>>,
  { texts, thoughts, calls }: Said,
): DispatchAnswer {
  const text = texts.join('')
  const offered = (request.tools ?? []).length > 0
  if (!offered && calls.length > 0 && text === '') throw uncalled(remote.name)
  // A prompt that is still in its cache is not counted.
  const usage: Usage = { tokens_in: told.prompt_eval_count, tokens_out: told.eval_count }
  const model = asString(told.model) ?? request.model
  const used = measureUsage(request, text, usage, remote.price(request.model, model))
  return {
    text,
    ...used,
    model,
    finish_reason: asString(told.done_reason) ?? 'stop',
    ...(offered && calls.length > 0 ? { calls } : {}),
    ...(offered && thoughts.length > 0
      ? { opaque: { by: ownName(remote, request), thinking: thoughts.join('') } }
      : {}),
  }
}

/** Whose thoughts they are: another model is not shown them. */
function ownName({ name }: Remote, { model }: DispatchRequest): string {
  return `${name}/${model}`
}

/** A chat as Ollama takes it; `schema`: the server knows schemas, else `json` is all it is told of the form. */
function ollamaBody(remote: Remote, request: DispatchRequest, schema: boolean) {
  const { prompt, model, params, output_schema, files = [], conversation = [], tools = [] } = request
  // Not beside tools: a model that is held to a schema calls none.
  const object = needsJsonObject(output_schema) && tools.length === 0
  const told = systemText(request)
  const { think, keep_alive, max_tokens, ...options } = params
  return {
    model,
    messages: [
      ...(told === '' ? [] : [{ role: 'system', content: told }]),
      { role: 'user', ...withFiles(remote, prompt, files) },
      ...conversation.map((message) => ollamaMessage(message, ownName(remote, request))),
    ],
    stream: true,
    ...(object ? { format: schema ? answerSchema(output_schema).schema : 'json' } : {}),
    ...(tools.length === 0 ? {} : { tools: tools.map(offered) }),
    ...(think === undefined ? {} : { think }),
    ...(keep_alive === undefined ? {} : { keep_alive }),
    options: { ...(max_tokens === undefined ? {} : { num_predict: max_tokens }), ...options },
  }
}

function withFiles({ name }: Remote, prompt: string, files: readonly MessageFile[]) {
  const texts: string[] = []
  const images: string[] = []
  for (const file of files) {
    const text = fileText(file)
    if (text !== undefined) texts.push(text)
    else if (file.media_type.startsWith('image/')) images.push(Buffer.from(file.bytes).toString('base64'))
    else throw fileRefused(name, file, 'images and texts')
  }
  return { content: [prompt, ...texts].join('\n\n'), ...(images.length === 0 ? {} : { images }) }
}

function offered({ name, description, input_schema }: ToolOffer) {
  return { type: 'function', function: { name, description, parameters: input_schema } }
}

function ollamaMessage(message: Message, own: string) {
  if (message.role === 'user') return { role: 'user', content: message.text }
  if (message.role === 'tool') {
    return { role: 'tool', tool_name: message.tool, tool_call_id: message.id, content: toolText(message) }
  }
  const thinking = memberOf(message.opaque, 'by') === own ? asString(memberOf(message.opaque, 'thinking')) : undefined
  const tool_calls = message.calls.map((call) => ({
    id: call.id,
    function: { name: call.tool, arguments: argumentsObject(call) },
  }))
  return {
    role: 'assistant',
    content: message.text,
    ...(thinking === undefined ? {} : { thinking }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
}

/** A protocol without a word for errors of tools says it in the text. */
function toolText({ text, is_error }: Extract<Message, { role: 'tool' }>): string {
  return is_error ? `Error: ${text}` : text
}

/** Whether a refusal is of the form that was asked for. */
function isAboutFormat({ output_schema }: DispatchRequest, told: string | undefined): boolean {
  return needsJsonObject(output_schema) && /format/i.test(told ?? '')
}
