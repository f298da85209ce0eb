import { Fault } from '../../shared/errors.ts'
import { answerFormat } from '../../shared/prompts/block.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { type EmbedDialect, embedOverHttp } from './embeddings.ts'
import { failureFault, readReason, statusFault } from './faults.ts'
import {
  answerSchema,
  asString,
  invalidAnswerFault,
  measureUsage,
  memberOf,
  needsJsonObject,
  parseJsonObject,
  type Usage,
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
    const answer = await call.post(address, ollamaBody(request, known.schema), step)
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
  const texts: string[] = []
  for await (const line of lines) {
    if (line.trim() === '') continue
    const told = parseJsonObject(remote.name, line)
    // A failure after the first token comes in a line, not as a status.
    if (told.error !== undefined) throw failureFault(remote, { status: 500, told: readReason(line) })
    if (told.message === undefined && told.done === undefined) throw foreign(remote.name)
    texts.push(asString(memberOf(told.message, 'content')) ?? '')
    if (told.done === true) return answerOf(remote, request, { told, text: texts.join('') })
  }
  const message = `Provider "${remote.name}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  throw new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider: remote.name } })
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
  { told, text }: { readonly told: Readonly<Record<string, unknown>>; readonly text: string },
): DispatchAnswer {
  const tools = memberOf(told.message, 'tool_calls')
  if (text === '' && Array.isArray(tools) && tools.length > 0) {
    const message = `Cannot use the answer of provider "${remote.name}": it calls a tool, and none was offered. Say in the prompt that the answer is text, or use another model.`
    throw invalidAnswerFault(remote.name, message)
  }
  // A prompt that is still in its cache is not counted.
  const usage: Usage = { tokens_in: told.prompt_eval_count, tokens_out: told.eval_count }
  const model = asString(told.model) ?? request.model
  const used = measureUsage(request, text, usage, remote.price(request.model, model))
  return { text, ...used, model, finish_reason: asString(told.done_reason) ?? 'stop' }
}

/** A chat as Ollama takes it; `schema`: the server knows schemas, else `json` is all it is told of the form. */
function ollamaBody({ system, prompt, model, params, output_schema }: DispatchRequest, schema: boolean) {
  const object = needsJsonObject(output_schema)
  const told = [...(system === undefined ? [] : [system]), ...(object ? [answerFormat(output_schema)] : [])].join(
    '\n\n',
  )
  const { think, keep_alive, max_tokens, ...options } = params
  return {
    model,
    messages: [...(told === '' ? [] : [{ role: 'system', content: told }]), { role: 'user', content: prompt }],
    stream: true,
    ...(object ? { format: schema ? answerSchema(output_schema).schema : 'json' } : {}),
    ...(think === undefined ? {} : { think }),
    ...(keep_alive === undefined ? {} : { keep_alive }),
    options: { ...(max_tokens === undefined ? {} : { num_predict: max_tokens }), ...options },
  }
}

/** Whether a refusal is of the form that was asked for. */
function isAboutFormat({ output_schema }: DispatchRequest, told: string | undefined): boolean {
  return needsJsonObject(output_schema) && /format/i.test(told ?? '')
}
