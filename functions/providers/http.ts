import * as z from 'zod'
import type { DispatchAnswer, DispatchRequest, MessageFile, Provider } from '../../shared/providers/provider.ts'
import type { Json } from '../../shared/text/json.ts'
import { statusFault } from './faults.ts'
import { asString, invalidAnswerFault, measureUsage, memberOf, parseJsonObject, uncalled } from './model-answers.ts'
import { providerOverHttp, type Remote } from './remote.ts'

/**
 * Any server of one's own: POST {system, prompt, inputs, model, params, output_schema, feedback}, and of an agent that has
 * them files, tools and conversation, to the url as it is configured; it answers {text}, {outputs: {port: value}} or
 * {calls: [..]}, and may add tokens_in, tokens_out, usd, model, finish_reason and opaque. Contract: docs/providers.md.
 */
export function http(remote: Remote): Provider {
  return providerOverHttp(remote, async (call, request) => {
    const answer = await call.post(remote.url, bodyOf(request))
    if (answer.status < 200 || answer.status >= 300) throw await statusFault(remote, answer)
    return answerOf(remote, request, parseJsonObject(remote.name, await answer.body.text()))
  })
}

type Told = Readonly<Record<string, unknown>>

function answerOf(remote: Remote, request: DispatchRequest, told: Told): DispatchAnswer {
  const offered = (request.tools ?? []).length > 0
  const calls = callsIn(remote, told)
  if (calls.length > 0 && !offered) throw uncalled(remote.name)
  const text = answerText(remote, told, calls.length > 0)
  const model = asString(told.model) ?? request.model
  const { tokens_in, tokens_out } = told
  return {
    text,
    ...measureUsage(request, text, { tokens_in, tokens_out }, remote.price(request.model, model)),
    ...priceIn(told),
    model,
    finish_reason: asString(told.finish_reason) ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(calls.length === 0 ? {} : { calls }),
    ...(told.opaque === undefined || !offered ? {} : { opaque: jsonOf(told.opaque) }),
  }
}

function bodyOf(request: DispatchRequest) {
  const {
    system,
    prompt,
    inputs,
    model,
    params,
    output_schema,
    feedback,
    files = [],
    tools = [],
    conversation = [],
  } = request
  return {
    ...(system === undefined ? {} : { system }),
    prompt,
    ...(files.length === 0 ? {} : { files: files.map(encoded) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(conversation.length === 0 ? {} : { conversation }),
    ...{ inputs, model, params, output_schema, feedback },
  }
}

function encoded({ name, media_type, bytes }: MessageFile) {
  return { name, media_type, base64: Buffer.from(bytes).toString('base64') }
}

const CallsSchema = z
  .array(
    z.object({
      id: z.string().min(1),
      tool: z.string(),
      arguments: z.union([z.string(), z.record(z.string(), z.json())]),
    }),
  )
  .max(128)

/** None = it is the last answer. */
function callsIn({ name }: Remote, { calls }: Told): NonNullable<DispatchAnswer['calls']> {
  const read = CallsSchema.safeParse(calls ?? [])
  if (!read.success) {
    const message = `Cannot use the answer of provider "${name}": calls must be a list of {id, tool, arguments}: ${read.error.issues[0]?.message}.`
    throw invalidAnswerFault(name, message)
  }
  return read.data.map(({ arguments: given, ...call }) => ({
    ...call,
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  }))
}

/** It was parsed of JSON. */
function jsonOf(value: unknown): Json {
  return value as Json
}

/** Outputs are read like any answer: as the JSON object that holds the ports. */
function answerText({ name }: Remote, told: Readonly<Record<string, unknown>>, isCalling: boolean): string {
  const outputs = told.outputs
  if (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs)) return JSON.stringify(outputs)
  const text = asString(memberOf(told, 'text'))
  if (text !== undefined) return text
  if (isCalling) return ''
  const keys = Object.keys(told).slice(0, 12).join(', ') || 'no members'
  throw invalidAnswerFault(
    name,
    `Cannot use the answer of provider "${name}": it has ${keys}, but neither "text" (a string) nor "outputs" (an object), nor "calls" of tools that were offered.`,
  )
}

function priceIn({ usd }: Readonly<Record<string, unknown>>): { readonly usd?: number } {
  return typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 ? { usd } : {}
}
