import type { Price } from '../providers/model-prices.ts'
import type { Message, MessageFile, ToolOffer } from '../providers/provider.ts'
import { canonicalJson, type Json } from '../text/json.ts'

/** What one call of a provider may use. */
export interface Estimate {
  readonly tokens_in: number
  readonly tokens_out: number
  /** undefined = the price is unknown. */
  readonly usd_micros?: number
}

/** Tokens of an answer whose length nothing limits: what providers allow by default, or less than they do. */
const ANSWER_TOKENS = 4_096

/** How providers call the most an answer may have: OpenAI and most, newer OpenAI, Ollama, Bedrock, text generation servers. */
const MOST_TOKENS = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'maxTokens',
  'num_predict',
] as const

/**
 * Four characters a token of all that is sent (of an agent the conversation so far and the tools it is offered as well),
 * files besides, and the answer at its longest: what is reserved before the call.
 */
export function estimateCall(
  { system = '', prompt, params, files = [], conversation = [], tools = [] }: CallShape,
  price: Price | undefined,
): Estimate {
  const shown = files.reduce((sum, file) => sum + fileTokens(file), 0)
  const said = conversation.reduce((sum, message) => sum + messageCharacters(message), 0)
  const offered = tools.reduce((sum, tool) => sum + offerCharacters(tool), 0)
  const tokens_in = Math.ceil((system.length + prompt.length + said + offered) / 4) + shown
  const tokens_out = maxOutputTokens(params)
  const usd_micros = costMicros({ tokens_in, tokens_out }, price)
  return { tokens_in, tokens_out, ...(usd_micros === undefined ? {} : { usd_micros }) }
}

function messageCharacters(message: Message): number {
  if (message.role === 'user') return message.text.length
  if (message.role === 'tool') return message.id.length + message.tool.length + message.text.length
  const asked = message.calls.reduce(
    (sum, { id, tool, arguments: args }) => sum + id.length + tool.length + args.length,
    0,
  )
  const { opaque } = message
  return message.text.length + asked + (opaque === undefined ? 0 : canonicalJson(opaque).length)
}

function offerCharacters({ name, description, input_schema }: ToolOffer): number {
  return name.length + description.length + canonicalJson(input_schema).length
}

/** An image is shrunk to what a model looks at, whatever its bytes; of anything else four bytes are a token, as of text. */
function fileTokens({ media_type, bytes }: Pick<MessageFile, 'media_type' | 'bytes'>): number {
  const most = Math.ceil(bytes.byteLength / 4)
  return media_type.startsWith('image/') ? Math.min(most, IMAGE_TOKENS) : most
}

/** No provider's price list of 2026 counts more for one image at its usual detail. */
const IMAGE_TOKENS = 3_000

interface CallShape {
  readonly files?: readonly Pick<MessageFile, 'media_type' | 'bytes'>[]
  readonly system?: string
  readonly prompt: string
  readonly conversation?: readonly Message[]
  readonly tools?: readonly ToolOffer[]
  readonly params: Readonly<Record<string, Json>>
}

/** A price a million tokens in dollars is one a token in millionths of a dollar. */
export function costMicros(
  { tokens_in, tokens_out }: Pick<Estimate, 'tokens_in' | 'tokens_out'>,
  price: Price | undefined,
): number | undefined {
  if (price === undefined) return undefined
  return Math.ceil(tokens_in * price.usd_per_million_in + tokens_out * price.usd_per_million_out)
}

/** What the parameters allow an answer; the usual default where they do not say. */
export function maxOutputTokens(params: Readonly<Record<string, Json>>): number {
  const said = MOST_TOKENS.map((name) => (Object.hasOwn(params, name) ? params[name] : undefined))
  const limits = said.filter((value): value is number => typeof value === 'number' && value > 0)
  return limits.length === 0 ? ANSWER_TOKENS : Math.ceil(Math.max(...limits))
}
