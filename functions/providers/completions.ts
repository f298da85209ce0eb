import { Fault } from '../../shared/errors.ts'
import { answerFormat } from '../../shared/prompts/block.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/providers/provider.ts'
import type { Json } from '../../shared/text/json.ts'
import { failureFault, readReason, refusedFault, statusFault } from './faults.ts'
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
import { type HttpAnswer, type HttpCall, pathAddress, type Remote } from './remote.ts'

/** Where and how one server of the protocol is asked. */
interface Dialect {
  readonly remote: Remote
  readonly path: string
  readonly bodies: ReturnType<typeof createRequestBodies>
}

/** One chat completion; what a server refuses of the form is given up, and it is asked again, within the same dispatch. */
export async function askCompletions(
  { remote, path, bodies }: Dialect,
  call: HttpCall,
  request: DispatchRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<DispatchAnswer> {
  refuseReserved(remote, request)
  const post = (step: number) => call.post(pathAddress(remote, path), bodies.make(request), step, headers)
  const answer = await accepted(remote, post, (told) => bodies.giveUp(request, told))
  const { text, refusal, finish_reason, model = request.model, id, usage } = await readCompletion(remote, answer)
  if (refusal !== undefined) throw refusedFault(remote, refusal)
  const used = measureUsage(request, text, usage, remote.price(request.model, model))
  return { text, ...used, model, finish_reason: finish_reason ?? 'unknown', ...(id === undefined ? {} : { id }) }
}

/** The first answer that is no complaint about a feature. Each refusal gives one feature up, so this ends. */
async function accepted(
  remote: Remote,
  post: (step: number) => Promise<HttpAnswer>,
  giveUp: (told: string) => boolean,
): Promise<HttpAnswer> {
  for (let step = 0; ; step += 1) {
    const answer = await post(step)
    if (answer.status >= 200 && answer.status < 300) return answer
    if (answer.status !== 400 && answer.status !== 422) throw await statusFault(remote, answer)
    const told = readReason(await answer.body.start())
    if (!giveUp(told ?? '')) throw failureFault(remote, { status: answer.status, told })
  }
}

/** Members this adapter writes itself: a document that sets them would be answered in a form nobody reads. */
const RESERVED = ['model', 'messages', 'stream', 'stream_options', 'n', 'tools', 'functions']

function refuseReserved({ name }: Remote, { params }: DispatchRequest): void {
  const taken = RESERVED.filter((key) => Object.hasOwn(params, key))
  if (taken.length === 0) return
  const message = `Cannot ask provider "${name}": model_params has ${taken.join(', ')}, which the adapter writes itself. Remove ${taken.length === 1 ? 'it' : 'them'}.`
  throw invalidAnswerFault(name, message)
}

/** How a server is asked for an object, best first: a schema, any JSON, words alone. */
const FORMATS = ['json_schema', 'json_object', 'none'] as const

/**
 * Request bodies for one server. What it refused once is not asked of it again while this process lives.
 * `first`: how it is asked for an object at the beginning.
 */
export function createRequestBodies(first: (typeof FORMATS)[number] = 'json_schema') {
  const known = { format: FORMATS.indexOf(first), usage: true, stream: true }
  return {
    make(request: DispatchRequest): Readonly<Record<string, unknown>> {
      const { params, model, output_schema } = request
      const object = needsJsonObject(output_schema)
      return {
        // A response_format of the author stands: theirs is the prompt that goes with it.
        ...(object ? responseFormat(FORMATS[known.format] ?? 'none', output_schema) : {}),
        ...params,
        model,
        messages: messagesOf(request, object),
        stream: known.stream,
        ...(known.stream && known.usage ? { stream_options: { include_usage: true } } : {}),
      }
    },
    /** Drops the feature a refusal speaks of; false = it is about something else, or there is nothing left to drop. */
    giveUp({ output_schema, params }: DispatchRequest, told: string): boolean {
      const formatted = needsJsonObject(output_schema) && !Object.hasOwn(params, 'response_format')
      if (known.stream && known.usage && /stream_options|include_usage/i.test(told)) {
        known.usage = false
        return true
      }
      if (
        formatted &&
        known.format < FORMATS.length - 1 &&
        /response_format|json_schema|json_object|schema/i.test(told)
      ) {
        known.format += 1
        return true
      }
      if (!known.stream || !/\bstream/i.test(told)) return false
      known.stream = false
      return true
    },
  }
}

function responseFormat(
  format: (typeof FORMATS)[number],
  ports: DispatchRequest['output_schema'],
): Readonly<Record<string, unknown>> {
  if (format === 'none') return {}
  if (format === 'json_object') return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', ...answerSchema(ports) } } }
}

/** The form of the answer is always said in words too: not every server that takes a schema obeys it, JSON mode demands it. */
function messagesOf({ system, prompt, output_schema }: DispatchRequest, object: boolean): readonly Json[] {
  const told = [...(system === undefined ? [] : [system]), ...(object ? [answerFormat(output_schema)] : [])].join(
    '\n\n',
  )
  return [...(told === '' ? [] : [{ role: 'system', content: told }]), { role: 'user', content: prompt }]
}

/** A completion in one piece or as events. Fault InvalidInput provider_invalid, or what the server tells inside it. */
async function readCompletion(remote: { readonly name: string }, answer: HttpAnswer): Promise<Completion> {
  const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream')
  return isStream ? readCompletionStream(remote, answer.body.lines()) : readWhole(remote, await answer.body.text())
}

function readWhole(remote: { readonly name: string }, body: string): Completion {
  const whole = parseJsonObject(remote.name, body)
  throwErrorInAnswer(remote, whole)
  const choice = memberOf(memberOf(whole, 'choices'), 0)
  const message = memberOf(choice, 'message')
  return usableCompletion(remote, {
    answered: choice !== undefined,
    text: contentOf(memberOf(message, 'content')),
    refusal: asString(memberOf(message, 'refusal')) ?? '',
    tools: hasTools(message),
    finish_reason: asString(memberOf(choice, 'finish_reason')),
    model: asString(memberOf(whole, 'model')),
    id: asString(memberOf(whole, 'id')),
    usage: usageOf(memberOf(whole, 'usage')),
  })
}

/**
 * A completion sent as Server-Sent Events: `data:` lines of JSON, at the end `[DONE]`. A stream that ends without that
 * and without a finish reason was cut: Fault Unavailable provider_unavailable.
 */
export async function readCompletionStream(
  remote: { readonly name: string },
  lines: AsyncIterable<string>,
): Promise<Completion> {
  const gathered = nothingYet()
  const texts: string[] = []
  let done = false
  for await (const data of dataOf(lines)) {
    if (data === '[DONE]') {
      done = true
      break
    }
    const chunk = parseJsonObject(remote.name, data)
    throwErrorInAnswer(remote, chunk)
    texts.push(add(gathered, chunk))
  }
  if (!done && gathered.finish_reason === undefined) throw cut(remote.name)
  return usableCompletion(remote, { ...gathered, text: texts.join('') })
}

function nothingYet(): Gathered {
  const counted = { finish_reason: undefined, model: undefined, id: undefined, usage: {} }
  return { answered: false, text: '', refusal: '', tools: false, ...counted }
}

/** Takes a chunk in and answers its text. Only the first choice counts: one was asked for. */
function add(gathered: Gathered, chunk: unknown): string {
  const usage = memberOf(chunk, 'usage')
  if (usage !== undefined && usage !== null) gathered.usage = usageOf(usage)
  gathered.model = asString(memberOf(chunk, 'model')) ?? gathered.model
  gathered.id ??= asString(memberOf(chunk, 'id'))
  const choices = memberOf(chunk, 'choices')
  const choice = Array.isArray(choices) ? choices.find((each) => (memberOf(each, 'index') ?? 0) === 0) : undefined
  const delta = memberOf(choice, 'delta')
  gathered.answered ||= choice !== undefined
  gathered.finish_reason = asString(memberOf(choice, 'finish_reason')) ?? gathered.finish_reason
  gathered.refusal += asString(memberOf(delta, 'refusal')) ?? ''
  gathered.tools ||= hasTools(delta)
  return contentOf(memberOf(delta, 'content'))
}

/**
 * The data of each event; lines of one event are joined, comments and other fields are left out. What has no blank line
 * after it is half an event and dropped, but for the end mark.
 */
async function* dataOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of lines) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
    } else if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
    }
  }
  if (data.join('\n') === '[DONE]') yield '[DONE]'
}

function cut(provider: string): Fault {
  const message = `Provider "${provider}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider } })
}

/** What a completion says, however it came. */
interface Completion {
  readonly text: string
  /** The model's own refusal, or the filter's. */
  readonly refusal?: string
  readonly finish_reason?: string
  readonly model?: string
  readonly id?: string
  readonly usage: Usage
}

/** What was gathered, before it is judged. */
interface Gathered {
  /** A choice was there. */
  answered: boolean
  text: string
  refusal: string
  tools: boolean
  finish_reason: string | undefined
  model: string | undefined
  id: string | undefined
  usage: Usage
}

/** Judged the same whether it came whole or in pieces. Fault InvalidInput provider_invalid. */
function usableCompletion({ name }: { readonly name: string }, gathered: Gathered): Completion {
  const { answered, text, refusal, tools, finish_reason, model, id, usage } = gathered
  if (!answered) throw noUse(name, 'it has no choices. Is its url the one of a chat completions API?')
  const filtered = finish_reason === 'content_filter' ? 'its content filter stopped the answer' : undefined
  const reason = refusal === '' ? filtered : refusal
  if (text === '' && tools && reason === undefined) {
    throw noUse(
      name,
      'it calls a tool, and none was offered. Say in the prompt that the answer is text, or use another model.',
    )
  }
  return {
    text,
    ...(reason === undefined ? {} : { refusal: reason }),
    ...(finish_reason === undefined ? {} : { finish_reason }),
    ...(model === undefined ? {} : { model }),
    ...(id === undefined ? {} : { id }),
    usage,
  }
}

function noUse(name: string, why: string) {
  return invalidAnswerFault(name, `Cannot use the answer of provider "${name}": ${why}`)
}

/** `content` is a text, null, or a list of parts of which the texts count. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => asString(memberOf(part, 'text')) ?? '').join('')
}

/** `tool_calls`, or `function_call` of older servers. */
function hasTools(message: unknown): boolean {
  const calls = memberOf(message, 'tool_calls')
  return (Array.isArray(calls) && calls.length > 0) || Boolean(memberOf(message, 'function_call'))
}

function usageOf(usage: unknown): Usage {
  return { tokens_in: memberOf(usage, 'prompt_tokens'), tokens_out: memberOf(usage, 'completion_tokens') }
}

/** Gateways tell some failures inside an answer that began as a success: `{error: {code: 429, message}}`. */
export function throwErrorInAnswer(remote: { readonly name: string }, value: unknown): void {
  const error = memberOf(value, 'error')
  if (error === undefined || error === null) return
  const number = Number(memberOf(error, 'code') ?? memberOf(error, 'status'))
  // One that has no number is taken for a server that broke off.
  const status = Number.isInteger(number) && number >= 400 && number <= 599 ? number : 502
  throw failureFault(remote, { status, told: readReason(JSON.stringify({ error })) })
}
