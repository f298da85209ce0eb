import type { PortType } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { answerFormat } from '../../shared/prompts/block.ts'
import type { Price } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, MessageFile, ToolRequest } from '../../shared/providers/provider.ts'
import type { Json } from '../../shared/text/json.ts'
import { jsonTextProblem } from '../../shared/text/strict-json.ts'

/** An answer, or a request, that the adapter cannot work with; the same would come again. */
export function invalidAnswerFault(provider: string, message: string): Fault {
  return new Fault('InvalidInput', 'provider_invalid', message, { facts: { provider } })
}

/** A text that must be a JSON object. */
export function parseJsonObject(provider: string, text: string): Readonly<Record<string, unknown>> {
  const problem = jsonTextProblem(text)
  if (problem !== undefined) {
    throw invalidAnswerFault(
      provider,
      `Cannot use the answer of provider "${provider}": it is not read, since ${problem.text}.`,
    )
  }
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const seen = text.trim() === '' ? 'nothing' : JSON.stringify(text.slice(0, 80).toWellFormed())
  throw invalidAnswerFault(
    provider,
    `Cannot use the answer of provider "${provider}": it is ${seen}, no JSON object. Is its url the one of the API?`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An own member of whatever a server sent; undefined where there is none. */
export function memberOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string | number, unknown>>)[key]
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Counts as a server sent them: any value, or none. */
export interface Usage {
  readonly tokens_in?: unknown
  readonly tokens_out?: unknown
  /** Of tokens_in: what was taken from the server's cache. */
  readonly tokens_cached?: unknown
}

type Sent = Pick<DispatchRequest, 'system' | 'prompt' | 'conversation' | 'tools'>

/**
 * What a call used and cost. Tokens the server did not count are estimated at four characters each, and `note` says so;
 * a price is only given for counted tokens of a model whose price is known.
 */
export function measureUsage(
  request: Sent,
  text: string,
  usage: Usage,
  rate: Price | undefined,
): Pick<DispatchAnswer, 'tokens_in' | 'tokens_out' | 'usd' | 'note'> {
  const counted = { in: count(usage.tokens_in), out: count(usage.tokens_out) }
  const tokens_in = counted.in ?? estimate(sentText(request))
  const tokens_out = counted.out ?? estimate(text)
  if (counted.in === undefined || counted.out === undefined) {
    return {
      tokens_in,
      tokens_out,
      ...free(rate),
      note: 'tokens are estimated, four characters each: the server sent no count',
    }
  }
  if (rate === undefined) return { tokens_in, tokens_out }
  const { usd_per_million_in, usd_per_million_out, usd_per_million_cached_in = usd_per_million_in } = rate
  const cached = Math.min(count(usage.tokens_cached) ?? 0, tokens_in)
  const micros =
    (tokens_in - cached) * usd_per_million_in + cached * usd_per_million_cached_in + tokens_out * usd_per_million_out
  return { tokens_in, tokens_out, usd: micros / 1_000_000 }
}

/** All that a model reads of a request, files aside. */
function sentText({ system = '', prompt, conversation = [], tools = [] }: Sent): string {
  const said = conversation.flatMap((message) => [
    message.text,
    ...(message.role === 'assistant' ? message.calls.map((call) => call.arguments) : []),
  ])
  return [system, prompt, ...said, tools.length === 0 ? '' : JSON.stringify(tools)].join('')
}

/** Nothing times an estimate is still nothing. */
function free(rate: Price | undefined): { readonly usd?: number } {
  return rate?.usd_per_million_in === 0 && rate.usd_per_million_out === 0 ? { usd: 0 } : {}
}

function estimate(text: string): number {
  return Math.ceil(text.length / 4)
}

function count(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : undefined
}

/** Of an adapter that cannot offer tools. Fault InvalidInput provider_no_tools. */
export function refuseTools(provider: string, { tools = [] }: DispatchRequest, why: string): void {
  if (tools.length === 0) return
  const message = `Cannot offer ${tools.length} tools to provider "${provider}": ${why}. Name a provider whose models call tools (docs/providers.md, "Tools"), or leave tools out of the agent.`
  throw new Fault('InvalidInput', 'provider_no_tools', message, { facts: { provider } })
}

/** Of an adapter that cannot send this file. */
export function fileRefused(
  provider: string,
  { name, media_type }: Pick<MessageFile, 'name' | 'media_type'>,
  takes: string,
): Fault {
  const message = `Cannot send file "${name}" (${media_type}) to provider "${provider}": it takes ${takes}. Leave the file out, or name another provider.`
  return invalidAnswerFault(provider, message)
}

/** A file that is text goes as text, to every model. Undefined = it is none. */
export function fileText({ name, media_type, bytes }: MessageFile): string | undefined {
  if (!/^text\/|[/+](json|xml|yaml|x-yaml|csv)$/.test(media_type)) return undefined
  return `File "${name}":\n${new TextDecoder().decode(bytes)}`
}

/** What the model wrote as arguments, as the object that servers want to see again. */
export function argumentsObject(call: Pick<ToolRequest, 'arguments'>): { readonly [name: string]: Json } {
  const value = call.arguments.trim() === '' ? {} : parsed(call.arguments)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  // JSON.parse makes JSON.
  return isObject ? (value as { readonly [name: string]: Json }) : { unreadable: call.arguments }
}

/** Members of a request that an adapter writes itself. Fault InvalidInput provider_invalid. */
export function refuseReserved(name: string, { params }: DispatchRequest, reserved: readonly string[]): void {
  const taken = reserved.filter((key) => Object.hasOwn(params, key))
  if (taken.length === 0) return
  const message = `Cannot ask provider "${name}": model_params has ${taken.join(', ')}, which the adapter writes itself. Remove ${taken.length === 1 ? 'it' : 'them'}.`
  throw invalidAnswerFault(name, message)
}

/** What stands before the prompt: the form of the answer is always said in words too, since not every server that takes a schema obeys it. */
export function systemText({ system, output_schema, tools = [] }: DispatchRequest): string {
  const form = needsJsonObject(output_schema) ? [answerFormat(output_schema)] : []
  const last = tools.length > 0 ? form.map((words) => `When you need no more tools: ${words}`) : form
  return [...(system === undefined ? [] : [system]), ...last].join('\n\n')
}

/** A call of a tool where none was offered. */
export function uncalled(name: string): Fault {
  return invalidAnswerFault(
    name,
    `Cannot use the answer of provider "${name}": it calls a tool, and none was offered. Say in the prompt that the answer is text, or use another model.`,
  )
}

/** An answer that ended before its end. */
export function brokenOff(name: string): Fault {
  const message = `Provider "${name}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider: name } })
}

type Ports = DispatchRequest['output_schema']

/** Whether the answer must be a JSON object: for anything but a single text (shared/providers/provider.ts). */
export function needsJsonObject(ports: Ports): boolean {
  const all = Object.values(ports)
  const [only] = all
  return all.length > 1 || (only !== undefined && JSON_TYPES[only.type] !== 'string')
}

/**
 * The ports as a JSON Schema. All members are required, optional ones may be null (null is `absent` to the output
 * contract): that is the form OpenAI's strict mode takes, and others do not mind. `strict` is false with a port of type
 * json, for whose values no type can be said.
 */
export function answerSchema(ports: Ports): {
  readonly schema: Readonly<Record<string, Json>>
  readonly strict: boolean
} {
  const properties = Object.fromEntries(
    Object.entries(ports).map(([name, { type, required, description }]) => {
      const json = JSON_TYPES[type]
      const typed = json === undefined ? {} : { type: required ? json : [json, 'null'] }
      return [name, { ...typed, ...(description === undefined ? {} : { description }) }]
    }),
  )
  const schema = { type: 'object', properties, required: Object.keys(ports), additionalProperties: false }
  return { schema, strict: Object.values(ports).every(({ type }) => JSON_TYPES[type] !== undefined) }
}

/** Of a file or artifact the model writes the text; the ref is made when it is stored. */
const JSON_TYPES: Readonly<Record<PortType, string | undefined>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  file: 'string',
  artifact: 'string',
  json: undefined,
}
