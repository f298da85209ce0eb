import { Fault } from '../errors.ts'
import type { DispatchAnswer, DispatchRequest, Message, MessageFile, ToolRequest } from '../providers/provider.ts'
import type { ProviderSettings } from '../providers/settings.ts'
import type { Json } from '../text/json.ts'
import type { Attributes, Span } from './otlp-spans.ts'
import { attemptSpanId, runSpanId, runTraceId } from './span-ids.ts'
import type { Asked, CallOrigin, TracedCall } from './telemetry-port.ts'

/** Characters of what a server calls itself and its answer. */
const MOST_TEXT = 200

interface CallSpanOptions {
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly span_id: string
  readonly capture_content: boolean
}

/**
 * The span of one call of a provider, below its attempt, else below its run. Attributes: OpenTelemetry's conventions for
 * generative AI (spans "inference" and "embeddings", status development), ours begin with `sluice.`. No word of prompt
 * or answer is in it unless it was asked for, and no message of an error, which may quote either.
 */
export function callSpan(call: TracedCall, { providers, span_id, capture_content }: CallSpanOptions): Span {
  const { at, asked, began, ended, provider } = call
  const { run_id } = at.run
  const { model } = asked.request
  const who = genAiProvider(providers, provider)
  return {
    trace_id: runTraceId(run_id),
    span_id,
    parent_span_id: at.attempt === undefined ? runSpanId(run_id) : attemptSpanId(run_id, at.attempt),
    name: `${asked.operation} ${model}`,
    kind: who.here ? 'internal' : 'client',
    began,
    ended,
    attributes: {
      'gen_ai.operation.name': asked.operation,
      'gen_ai.provider.name': who.name,
      'gen_ai.request.model': model,
      'server.address': who.address,
      'server.port': who.port,
      ...(asked.operation === 'chat' ? chatAttributes(asked) : embeddingAttributes(asked)),
      ...(capture_content && asked.operation === 'chat' ? contentAttributes(asked) : {}),
      'error.type': asked.answer === undefined ? errorType(call.error) : undefined,
      'sluice.provider': provider,
      ...originAttributes(at),
    },
    failed: asked.answer === undefined,
    links: [],
  }
}

function chatAttributes({ request, answer }: Extract<Asked, { operation: 'chat' }>): Attributes {
  const { params, output_schema } = request
  const given = REQUEST.map(([name, keys]) => [`gen_ai.request.${name}`, firstNumber(params, keys)] as const)
  return {
    ...Object.fromEntries(given),
    'gen_ai.output.type': asksForJson(output_schema) ? 'json' : undefined,
    'gen_ai.response.id': answer?.id?.slice(0, MOST_TEXT),
    'gen_ai.response.model': answer?.model.slice(0, MOST_TEXT),
    'gen_ai.response.finish_reasons': answer === undefined ? undefined : [answer.finish_reason.slice(0, MOST_TEXT)],
    'gen_ai.usage.input_tokens': answer?.tokens_in,
    'gen_ai.usage.output_tokens': answer?.tokens_out,
    'sluice.usage.usd': answer?.usd,
  }
}

/** Whether a form of the answer was asked for: a single text comes as it comes. */
export function asksForJson(ports: DispatchRequest['output_schema']): boolean {
  const types = Object.values(ports).map(({ type }) => type)
  return types.length > 1 || types.some((type) => !TEXTS.has(type))
}

const TEXTS: ReadonlySet<string> = new Set(['string', 'file', 'artifact'])

/** Attribute, and what servers call it. Texts (stop sequences) are content. */
const REQUEST: readonly (readonly [string, readonly string[]])[] = [
  ['temperature', ['temperature']],
  ['top_p', ['top_p']],
  ['top_k', ['top_k']],
  ['max_tokens', ['max_tokens', 'max_completion_tokens', 'num_predict']],
  ['frequency_penalty', ['frequency_penalty']],
  ['presence_penalty', ['presence_penalty']],
  ['seed', ['seed']],
]

function firstNumber(params: Readonly<Record<string, Json>>, keys: readonly string[]): number | undefined {
  return keys.map((key) => params[key]).find((value) => typeof value === 'number')
}

function embeddingAttributes({ request, answer }: Extract<Asked, { operation: 'embeddings' }>): Attributes {
  return {
    'gen_ai.embeddings.dimension.count': answer?.vectors[0]?.length,
    'gen_ai.usage.input_tokens': answer?.tokens_in,
    'sluice.texts': request.texts.length,
    'sluice.usage.usd': answer?.usd,
  }
}

function originAttributes({ run, block_id, stage, attempt }: CallOrigin): Attributes {
  return {
    'sluice.run_id': run.run_id,
    'sluice.tenant': run.tenant,
    'sluice.block': block_id,
    'sluice.stage': stage,
    'sluice.item': attempt?.item,
    'sluice.attempt': attempt?.attempt,
    'sluice.epoch': attempt?.epoch,
  }
}

/** A code of docs/errors.md, else the name of what was thrown. */
function errorType(error: unknown): string {
  if (error instanceof Fault) return error.code
  return error instanceof Error ? error.name : '_OTHER'
}

/** Characters of one text: collectors refuse requests of some megabytes whole. */
export const MOST_CONTENT = 32_768

/**
 * What was asked and answered, in the convention's form (JSON of messages of parts), and the tools that were offered.
 * Only for who asked for it: prompts hold whatever runs work with. Of files only what they are goes along.
 */
function contentAttributes({ request, answer }: Extract<Asked, { operation: 'chat' }>): Attributes {
  const { system, prompt, files = [], conversation = [], tools = [] } = request
  const first = { role: 'user', parts: [textPart(prompt), ...files.map(filePart)] }
  const definitions = tools.map(({ name }) => ({ type: 'function', name }))
  return {
    'gen_ai.system_instructions': system === undefined ? undefined : JSON.stringify([textPart(system)]),
    'gen_ai.input.messages': JSON.stringify([first, ...conversation.map(messageOf)]),
    'gen_ai.output.messages': answer === undefined ? undefined : JSON.stringify([outputMessage(answer)]),
    'gen_ai.tool.definitions': definitions.length === 0 ? undefined : JSON.stringify(definitions),
  }
}

function outputMessage({ text, calls = [], finish_reason }: DispatchAnswer) {
  return { role: 'assistant', parts: saidParts(text, calls), finish_reason }
}

function messageOf(message: Message) {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: [textPart(message.text)] }
    case 'assistant':
      return { role: 'assistant', parts: saidParts(message.text, message.calls) }
    case 'tool':
      return { role: 'tool', parts: [{ type: 'tool_call_response', id: message.id, response: cut(message.text) }] }
  }
}

/** A model that asks for tools often says nothing besides. */
function saidParts(text: string, calls: readonly ToolRequest[]) {
  const asked = calls.map(({ id, tool, arguments: given }) => ({
    type: 'tool_call',
    id,
    name: tool,
    arguments: cut(given),
  }))
  return text === '' && asked.length > 0 ? asked : [textPart(text), ...asked]
}

/** A part of a type of our own, as the convention allows: its bytes stay here. */
function filePart({ name, media_type, bytes }: MessageFile) {
  return { type: 'file_omitted', name, mime_type: media_type, bytes: bytes.byteLength }
}

function textPart(text: string) {
  return { type: 'text', content: cut(text) }
}

function cut(text: string): string {
  return text.length > MOST_CONTENT ? `${text.slice(0, MOST_CONTENT)}[cut]` : text
}

/** Who is asked, in the words of the convention. */
interface GenAiProvider {
  readonly name: string
  /** It computes in this process. */
  readonly here: boolean
  readonly address?: string
  readonly port?: number
}

/**
 * `gen_ai.provider.name` and the server of a configured provider. The well-known names are OpenTelemetry's (semantic
 * conventions for generative AI); servers that speak OpenAI's protocol and are not in the list are `openai`, since the
 * name says the form of what is asked; what the list has no name for goes by the type of sluice.yaml.
 */
export function genAiProvider(providers: Readonly<Record<string, ProviderSettings>>, name: string): GenAiProvider {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  if (settings === undefined || settings.type === 'local' || settings.type === 'replay') {
    return { name: `sluice.${settings?.type ?? name}`, here: true }
  }
  if (settings.type === 'bedrock') return { name: 'aws.bedrock', here: false, ...serverOf(bedrockUrl(settings)) }
  const server = serverOf(settings.url)
  const known = wellKnown(server.address) ?? NAMES[settings.type] ?? settings.type
  return { name: known, here: false, ...server }
}

/** What the form of a request says where the server does not. */
const NAMES: Readonly<Record<string, string>> = { 'openai-compatible': 'openai', google: 'gcp.gemini' }

function bedrockUrl({
  endpoint,
  region,
}: {
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
}) {
  return endpoint ?? (region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`)
}

function serverOf(url: string | undefined): Pick<GenAiProvider, 'address' | 'port'> {
  if (url === undefined) return {}
  const { hostname, port, protocol } = new URL(url)
  const usual = protocol === 'http:' ? 80 : 443
  return { address: hostname, port: port === '' ? usual : Number(port) }
}

function wellKnown(host = ''): string | undefined {
  return HOSTS.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1]
}

const HOSTS: readonly (readonly [string, string])[] = [
  ['openai.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['api.openai.com', 'openai'],
  ['api.anthropic.com', 'anthropic'],
  ['api.cohere.ai', 'cohere'],
  ['api.cohere.com', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.moonshot.ai', 'moonshot_ai'],
  ['api.moonshot.cn', 'moonshot_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
  ['ml.cloud.ibm.com', 'ibm.watsonx.ai'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
]
