import {
  BedrockRuntimeClient,
  type ContentBlock,
  type ContentBlockDelta,
  ConverseCommand,
  type ConverseCommandOutput,
  type Message as ConverseMessage,
  type ConverseRequest,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type TokenUsage,
  type Tool,
} from '@aws-sdk/client-bedrock-runtime'
import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { listedPrice } from '../../shared/providers/model-prices.ts'
import type {
  DispatchRequest,
  Message,
  MessageFile,
  Provider,
  ToolOffer,
  ToolRequest,
} from '../../shared/providers/provider.ts'
import type { BedrockSettings } from '../../shared/providers/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import { failureFault, readReason, refusedFault, retryAfterMs } from '../providers/faults.ts'
import {
  answerSchema,
  argumentsObject,
  brokenOff,
  fileRefused,
  fileText,
  invalidAnswerFault,
  measureUsage,
  needsJsonObject,
  refuseReserved,
  refuseTools,
  systemText,
  type Usage,
  uncalled,
} from '../providers/model-answers.ts'
import { networkFault, silenceFault, timeoutFault } from '../providers/network-faults.ts'
import { DEFAULT_TIMEOUT_MS, type ReadPrice, type SilenceWatch, watchSilence } from '../providers/remote.ts'

/**
 * Models of Amazon Bedrock, by Converse: the answer is read as a stream where the model has one. Credentials are those
 * the place runs with (on AWS the function's own role), never of the settings. A model that knows no stream, no tools or
 * no system text refuses once with ValidationException; it is asked again without, within the same attempt, and its ways
 * are remembered. The SDK never tries again by itself: retries are the block's.
 */
export function openBedrock(
  name: string,
  settings: BedrockSettings,
  { price }: { readonly price: ReadPrice },
): Provider {
  const { region, endpoint, timeout_ms = DEFAULT_TIMEOUT_MS, idle_ms } = settings
  const client = new BedrockRuntimeClient({
    maxAttempts: 1,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  const known = new Map<string, Ways>()
  const talk: Talk = { name, client, known, limits: { timeout_ms, ...(idle_ms === undefined ? {} : { idle_ms }) } }
  return {
    async dispatch(request) {
      request.signal.throwIfAborted()
      const { text, usage, stop_reason, calls, opaque } = await bounded(talk, request)
      if (REFUSALS.has(stop_reason)) throw refusedFault({ name }, stop_reason.replaceAll('_', ' '))
      const { model } = request
      // Settings without a region are those of the place: only the client knows it.
      const rate =
        price(name, model) ?? listedPrice({ type: 'bedrock', url: '', region: await client.config.region(), model })
      const said = text + calls.map((call) => call.arguments).join('')
      const own = opaque === undefined ? {} : { opaque: { by: ownName(name, request), blocks: opaque } }
      return {
        text,
        ...measureUsage(request, said, usage, rate),
        model,
        finish_reason: stop_reason,
        ...(calls.length === 0 ? {} : { calls }),
        ...own,
      }
    },
  }
}

/** Bedrock's words for an answer that a filter of the model, or a guardrail, put in the place of the model's own. */
const REFUSALS: ReadonlySet<string> = new Set(['content_filtered', 'guardrail_intervened'])

interface Talk {
  readonly name: string
  readonly client: BedrockRuntimeClient
  /** By model. */
  readonly known: Map<string, Ways>
  readonly limits: { readonly timeout_ms: number; readonly idle_ms?: number }
}

/** One dispatch, which its signal, the provider's time and its silence end at once: the stream is closed with it. */
async function bounded(talk: Talk, request: DispatchRequest): Promise<Conversed> {
  const { name, limits } = talk
  const done = new AbortController()
  const silence = watchSilence(limits.idle_ms)
  const late = AbortSignal.timeout(limits.timeout_ms)
  const signal = AbortSignal.any([request.signal, late, silence.signal, done.signal])
  const aborted = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
  try {
    return await Promise.race([converse(talk, request, signal, silence), aborted.promise])
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason
    throw converseFault({ name, ...limits }, { error, late: late.aborted, silent: silence.signal.aborted })
  } finally {
    silence.end()
    aborted.promise.catch(() => undefined)
    done.abort()
  }
}

/** Each refusal of a feature gives it up, so this ends. */
async function converse(
  talk: Talk,
  request: DispatchRequest,
  signal: AbortSignal,
  silence: SilenceWatch,
): Promise<Conversed> {
  for (;;) {
    const ways = talk.known.get(request.model) ?? { stream: true, tools: true, system: true }
    try {
      return await ask(talk, request, ways, { signal, silence })
    } catch (error) {
      const less = giveUp(ways, request, error)
      if (less === undefined || signal.aborted) throw error
      talk.known.set(request.model, less)
    }
  }
}

async function ask(
  { name, client }: Talk,
  request: DispatchRequest,
  ways: Ways,
  { signal, silence }: { readonly signal: AbortSignal; readonly silence: SilenceWatch },
): Promise<Conversed> {
  const input = converseInput(name, request, ways)
  const options = { abortSignal: signal }
  if (!ways.stream) return readConverse({ name }, request, await client.send(new ConverseCommand(input), options))
  const { stream } = await client.send(new ConverseStreamCommand(input), options)
  silence.heard()
  return readConverseStream({ name }, request, stream, silence.heard)
}

/** What one model takes, as far as is known. */
interface Ways {
  readonly stream: boolean
  /** An object is asked for by a tool whose input it is, besides in words. */
  readonly tools: boolean
  /** The system text has a place of its own; else it stands before the prompt. */
  readonly system: boolean
}

/** Name of the tool whose input is the answer. */
const ANSWER_TOOL = 'answer'

/** Fault InvalidInput provider_invalid when model_params holds what the adapter writes itself. */
function converseInput(name: string, request: DispatchRequest, ways: Ways): ConverseRequest {
  refuseReserved(name, request, RESERVED)
  const { prompt, model, output_schema, files = [], conversation = [], tools = [] } = request
  if (!ways.tools) refuseTools(name, request, `"${model}" takes none`)
  // The form is always said in words too: not every model that knows tools uses them.
  const told = systemText(request)
  const apart = told !== '' && ways.system
  const text = told === '' || apart ? prompt : `${told}\n\n${prompt}`
  const asksForm = needsJsonObject(output_schema) && tools.length === 0 && ways.tools
  return {
    modelId: model,
    messages: [
      { role: 'user', content: [{ text }, ...files.map((file, at) => fileBlock(name, file, at))] },
      ...converseMessages(conversation, ownName(name, request)),
    ],
    ...(apart ? { system: [{ text: told }] } : {}),
    ...inference(request),
    ...(asksForm ? answerTool(output_schema) : {}),
    ...(tools.length === 0 ? {} : { toolConfig: { tools: tools.map(offered) } }),
    // Bedrock knows no idempotency key; this one is found in its invocation logs.
    requestMetadata: { 'idempotency-key': request.idempotency_key.slice(0, 256) },
  }
}

/** Whose reasoning it is: another model is not shown it. */
function ownName(name: string, { model }: DispatchRequest): string {
  return `${name}/${model}`
}

function fileBlock(name: string, file: MessageFile, at: number): ContentBlock {
  const text = fileText(file)
  if (text !== undefined) return { text }
  const { media_type, bytes } = file
  const image = IMAGES.find((format) => media_type === `image/${format}`)
  if (image !== undefined) return { image: { format: image, source: { bytes } } }
  // A document's name may hold few characters, and is read by the model: its place says enough.
  if (media_type === 'application/pdf')
    return { document: { format: 'pdf', name: `file-${at + 1}`, source: { bytes } } }
  throw fileRefused(name, file, 'images (png, jpeg, gif, webp), PDF and texts')
}

const IMAGES = ['png', 'jpeg', 'gif', 'webp'] as const

function offered({ name, description, input_schema }: ToolOffer): Tool {
  return { toolSpec: { name, description, inputSchema: { json: structuredClone(input_schema) as Document } } }
}

/** Results of calls that were made at once stand in one message, and nobody speaks twice in a row. */
function converseMessages(conversation: readonly Message[], own: string): ConverseMessage[] {
  const all: { role: 'user' | 'assistant'; content: ContentBlock[] }[] = []
  for (const message of conversation) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = converseContent(message, own)
    const last = all.at(-1)
    if (last?.role === role) last.content.push(...content)
    else all.push({ role, content })
  }
  return all
}

function converseContent(message: Message, own: string): ContentBlock[] {
  if (message.role === 'user') return [{ text: message.text }]
  if (message.role === 'tool') {
    const { id, text, is_error } = message
    return [{ toolResult: { toolUseId: id, content: [{ text }], status: is_error ? 'error' : 'success' } }]
  }
  const uses = message.calls.map((call) => ({
    toolUse: { toolUseId: call.id, name: call.tool, input: structuredClone(argumentsObject(call)) as Document },
  }))
  return [...reasoningOf(message.opaque, own), ...(message.text === '' ? [] : [{ text: message.text }]), ...uses]
}

const OpaqueSchema = z.strictObject({
  by: z.string(),
  blocks: z.array(
    z.union([z.strictObject({ text: z.string(), signature: z.string() }), z.strictObject({ redacted: z.string() })]),
  ),
})
type Reasoning = z.infer<typeof OpaqueSchema>['blocks'][number]

/** What a model thought stands before what it said of it; the same model refuses it changed. */
function reasoningOf(opaque: Json | undefined, own: string): ContentBlock[] {
  const read = OpaqueSchema.safeParse(opaque)
  if (!read.success || read.data.by !== own) return []
  return read.data.blocks.map((block) =>
    'redacted' in block
      ? { reasoningContent: { redactedContent: Buffer.from(block.redacted, 'base64') } }
      : { reasoningContent: { reasoningText: block.signature === '' ? { text: block.text } : block } },
  )
}

/** The same ways without the feature that a ValidationException speaks of; undefined = it is about something else. */
function giveUp(ways: Ways, request: DispatchRequest, error: unknown): Ways | undefined {
  if (!(error instanceof Error) || error.name !== 'ValidationException') return undefined
  const { output_schema, system, tools = [] } = request
  const object = needsJsonObject(output_schema)
  if (ways.tools && object && tools.length === 0 && /\btools?\b|toolConfig|toolChoice/i.test(error.message))
    return { ...ways, tools: false }
  if (ways.stream && /stream/i.test(error.message)) return { ...ways, stream: false }
  if (ways.system && (object || system !== undefined) && /system/i.test(error.message)) {
    return { ...ways, system: false }
  }
  return undefined
}

/** Members of a request that are the adapter's. */
const RESERVED = ['modelId', 'messages', 'system', 'toolConfig', 'inferenceConfig', 'stream', 'tools']

/** The four that every model knows have a place of their own, under either spelling; the others are the model's. */
function inference({
  params,
}: DispatchRequest): Pick<ConverseRequest, 'inferenceConfig' | 'additionalModelRequestFields'> {
  const { max_tokens, maxTokens = max_tokens, temperature, top_p, topP = top_p, stop, ...more } = params
  const { stop_sequences = stop, stopSequences = stop_sequences, ...own } = more
  const config = {
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { topP } : {}),
    ...(stopSequences === undefined ? {} : { stopSequences: texts(stopSequences) }),
  }
  return {
    ...(Object.keys(config).length === 0 ? {} : { inferenceConfig: config }),
    // The SDK's type of a document is JSON that may be changed; nobody changes this.
    ...(Object.keys(own).length === 0 ? {} : { additionalModelRequestFields: structuredClone(own) as Document }),
  }
}

type Document = NonNullable<ConverseRequest['additionalModelRequestFields']>

function texts(given: Json): string[] {
  return [given].flat().map(String)
}

function answerTool(ports: DispatchRequest['output_schema']): Pick<ConverseRequest, 'toolConfig'> {
  const inputSchema = { json: structuredClone(answerSchema(ports).schema) as Document }
  const toolSpec = { name: ANSWER_TOOL, description: 'Gives the answer.', inputSchema }
  return { toolConfig: { tools: [{ toolSpec }], toolChoice: { tool: { name: ANSWER_TOOL } } } }
}

/** What a model said, however it came. */
interface Conversed {
  readonly text: string
  readonly calls: readonly ToolRequest[]
  /** What it thought, with what proves that it did. */
  readonly opaque?: readonly Reasoning[]
  readonly stop_reason: string
  readonly usage: Usage
}

interface Named {
  readonly name: string
}

/** As of other providers: the longest model answers are a few hundred kilobytes. */
const MAX_CHARACTERS = 8 * 1_024 * 1_024

/** One block of an answer, as far as it has come. */
type Block =
  | { readonly kind: 'text'; text: string }
  | { readonly kind: 'call'; readonly id: string; readonly tool: string; text: string }
  | { readonly kind: 'reasoning'; text: string; signature: string; redacted?: string }

/** An answer in one piece. Fault InvalidInput provider_invalid. */
function readConverse(
  remote: Named,
  request: DispatchRequest,
  { output, stopReason, usage }: ConverseCommandOutput,
): Conversed {
  const content = output?.message?.content
  if (content === undefined) throw noUse(remote, 'it has no message. Is its endpoint the one of Bedrock?')
  const blocks = content.flatMap(wholeBlock)
  const asked = conversed(remote, request, { blocks, stopReason, usage })
  if (asked.text !== '') request.on_text?.(asked.text)
  return asked
}

function wholeBlock({ text, toolUse, reasoningContent }: ContentBlock): readonly Block[] {
  if (text !== undefined) return [{ kind: 'text', text }]
  if (toolUse !== undefined) {
    const { toolUseId: id = '', name: tool = '', input = {} } = toolUse
    return [{ kind: 'call', id, tool, text: JSON.stringify(input) }]
  }
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  if (redactedContent !== undefined)
    return [{ kind: 'reasoning', text: '', signature: '', redacted: base64(redactedContent) }]
  if (reasoningText === undefined) return []
  const { text: thought = '', signature = '' } = reasoningText
  return [{ kind: 'reasoning', text: thought, signature }]
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/**
 * A stream of events. One that ends without saying why it stopped was cut: Fault Unavailable provider_unavailable. `heard`
 * is called with each event.
 */
async function readConverseStream(
  remote: Named,
  request: DispatchRequest,
  stream: AsyncIterable<ConverseStreamOutput> | undefined,
  heard: () => void,
): Promise<Conversed> {
  const gathered: Gathered = { blocks: new Map(), characters: 0 }
  for await (const event of stream ?? []) {
    heard()
    take(gathered, event, request)
    if (gathered.characters > MAX_CHARACTERS) {
      throw noUse(
        remote,
        `it is larger than ${MAX_CHARACTERS} characters. Ask for less, or limit it with model_params.`,
      )
    }
  }
  const { blocks, stopReason, usage } = gathered
  if (stopReason === undefined) throw brokenOff(remote.name)
  return conversed(remote, request, { blocks: [...blocks.values()], stopReason, usage })
}

interface Gathered {
  /** By their number. */
  readonly blocks: Map<number, Block>
  characters: number
  stopReason?: string | undefined
  usage?: TokenUsage | undefined
}

function take(gathered: Gathered, event: ConverseStreamOutput, request: DispatchRequest): void {
  const { contentBlockStart: begun, contentBlockDelta: grown } = event
  const use = begun?.start?.toolUse
  if (begun !== undefined && use !== undefined) {
    const { toolUseId: id = '', name: tool = '' } = use
    gathered.blocks.set(begun.contentBlockIndex ?? 0, { kind: 'call', id, tool, text: '' })
  }
  if (grown?.delta !== undefined) grow(gathered, grown.contentBlockIndex ?? 0, grown.delta, request)
  gathered.stopReason = event.messageStop?.stopReason ?? gathered.stopReason
  gathered.usage = event.metadata?.usage ?? gathered.usage
}

function grow(gathered: Gathered, index: number, delta: ContentBlockDelta, request: DispatchRequest): void {
  const { text, toolUse, reasoningContent } = delta
  const block = gathered.blocks.get(index) ?? beginning(delta)
  gathered.blocks.set(index, block)
  const piece = text ?? toolUse?.input ?? reasoningContent?.text ?? ''
  block.text += piece
  gathered.characters += piece.length
  if (block.kind === 'reasoning') {
    block.signature += reasoningContent?.signature ?? ''
    if (reasoningContent?.redactedContent !== undefined) block.redacted = base64(reasoningContent.redactedContent)
  }
  // The input of the tool that holds the answer is no text yet.
  if (block.kind === 'text' && piece !== '') request.on_text?.(piece)
}

/** Only calls are begun with a word; the others by their first piece. */
function beginning({ toolUse, reasoningContent }: ContentBlockDelta): Block {
  if (toolUse !== undefined) return { kind: 'call', id: '', tool: '', text: '' }
  return reasoningContent === undefined ? { kind: 'text', text: '' } : { kind: 'reasoning', text: '', signature: '' }
}

interface Said {
  readonly blocks: readonly Block[]
  readonly stopReason: string | undefined
  readonly usage: TokenUsage | undefined
}

/** The tool that was offered to hold the answer is the answer; others are called, where any were offered. */
function conversed(
  remote: Named,
  { tools = [] }: DispatchRequest,
  { blocks, stopReason = 'unknown', usage }: Said,
): Conversed {
  const uses = blocks.filter((block) => block.kind === 'call')
  const answer = tools.length === 0 ? uses.find(({ tool }) => tool === ANSWER_TOOL) : undefined
  const texts = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
  const text = answer === undefined ? texts.join('') : answer.text
  if (text === '' && uses.length > 0 && tools.length === 0) throw uncalled(remote.name)
  const calls = tools.length === 0 ? [] : uses.map(({ id, tool, text: args }) => ({ id, tool, arguments: args }))
  const thoughts = blocks.flatMap((block) => (block.kind === 'reasoning' ? [thoughtOf(block)] : []))
  return {
    text,
    calls,
    ...(thoughts.length === 0 || tools.length === 0 ? {} : { opaque: thoughts }),
    stop_reason: stopReason,
    usage: { tokens_in: usage?.inputTokens, tokens_out: usage?.outputTokens },
  }
}

function thoughtOf({ text, signature, redacted }: Extract<Block, { kind: 'reasoning' }>): Reasoning {
  if (redacted !== undefined) return { redacted }
  return { text, signature }
}

function noUse({ name }: Named, why: string): Fault {
  return invalidAnswerFault(name, `Cannot use the answer of provider "${name}": ${why}`)
}

interface Asked {
  readonly name: string
  readonly timeout_ms: number
  readonly idle_ms?: number
}

interface Thrown {
  readonly error: unknown
  /** The provider's time was over. */
  readonly late: boolean
  readonly silent: boolean
}

/**
 * What a call of Bedrock ended with, as one of a provider's typed failures. Names come before statuses, since an error
 * inside a stream has no status. What is said of an account's rights holds its ARNs and is not repeated.
 */
function converseFault(asked: Asked, { error, late, silent }: Thrown): unknown {
  if (silent) return silenceFault(asked, asked.idle_ms ?? 0)
  if (late) return timeoutFault(asked, `within ${asked.timeout_ms} ms (timeout_ms)`)
  if (error instanceof Fault || !(error instanceof Error)) return error
  if (NO_WAY.test(`${error.name} ${error.message}`)) return noCredentials(asked, error)
  if (error.name === 'TimeoutError') return timeoutFault(asked, 'for too long', error)
  const { status, headers } = answered(error)
  const known = Object.hasOwn(STATUSES, error.name) ? STATUSES[error.name] : status
  // 200: a stream that cannot be read.
  if (known === undefined || known < 300) return networkFault(asked, error)
  const told = [401, 403].includes(known) ? undefined : readReason(error.message)
  const wait = retryAfterMs(headers, Date.now())
  return failureFault(asked, { status: known, told, ...(wait === undefined ? {} : { retry_after_ms: wait }) })
}

/** The status each error of Converse stands for, whatever it came with. */
const STATUSES: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  ExpiredTokenException: 403,
  InternalServerException: 500,
  InvalidSignatureException: 403,
  ModelErrorException: 500,
  ModelNotReadyException: 503,
  ModelStreamErrorException: 500,
  ModelTimeoutException: 408,
  ResourceNotFoundException: 404,
  // A quota of an account that fills again by the minute or day.
  ServiceQuotaExceededException: 429,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  UnrecognizedClientException: 403,
  ValidationException: 400,
}

const NO_WAY = /CredentialsProviderError|Region is missing|Could not load credentials/i

function noCredentials({ name }: Asked, cause: Error): Fault {
  const message = `Cannot ask provider "${name}": this place has no AWS credentials or no region. Give them as for any AWS tool (AWS_PROFILE, AWS_ACCESS_KEY_ID, a role), and region in providers.${name} of sluice.yaml.`
  return new Fault('InvalidInput', 'provider_key_missing', message, { cause, facts: { provider: name } })
}

/** The fields errors of SDK clients carry; an error of the network has none of them. */
interface Loose {
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

function answered({ $metadata, $response }: Error & Loose) {
  // HTTP/2 has names with a colon too, which Headers does not take.
  const headers = Object.entries($response?.headers ?? {}).filter(([name]) => !name.startsWith(':'))
  return { status: $metadata?.httpStatusCode, headers: new Headers(headers) }
}
