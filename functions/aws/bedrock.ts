import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandOutput,
  type ConverseRequest,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { Fault } from '../../shared/errors.ts'
import { answerFormat } from '../../shared/prompts/block.ts'
import { listedPrice } from '../../shared/providers/model-prices.ts'
import type { DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import type { BedrockSettings } from '../../shared/providers/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import { failureFault, readReason, refusedFault, retryAfterMs } from '../providers/faults.ts'
import {
  answerSchema,
  invalidAnswerFault,
  measureUsage,
  needsJsonObject,
  type Usage,
} from '../providers/model-answers.ts'
import { networkFault, silenceFault, timeoutFault } from '../providers/network-faults.ts'
import { DEFAULT_TIMEOUT_MS, type ReadPrice, type SilenceWatch, watchSilence } from '../providers/remote.ts'

/**
 * Models of Amazon Bedrock, by Converse: the answer is read as a stream where the model has one. Credentials are those
 * the place runs with (on AWS the function's own role), never of the settings. A model that knows no stream, no tools or
 * no system text refuses once with ValidationException; it is asked again without, within the same attempt, and its ways
 * are remembered. The SDK never tries again by itself: retries are the block's.
 */
export function openBedrock(name: string, settings: BedrockSettings, price: ReadPrice): Provider {
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
      const { text, usage, stop_reason } = await bounded(talk, request)
      if (REFUSALS.has(stop_reason)) throw refusedFault({ name }, stop_reason.replaceAll('_', ' '))
      const { model } = request
      // Settings without a region are those of the place: only the client knows it.
      const rate =
        price(name, model) ?? listedPrice({ type: 'bedrock', url: '', region: await client.config.region(), model })
      return { text, ...measureUsage(request, text, usage, rate), model, finish_reason: stop_reason }
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
  if (!ways.stream) return readConverse({ name }, await client.send(new ConverseCommand(input), options))
  const { stream } = await client.send(new ConverseStreamCommand(input), options)
  silence.heard()
  return readConverseStream({ name }, stream, silence.heard)
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
  refuseReserved(name, request)
  const { system, prompt, model, output_schema } = request
  const object = needsJsonObject(output_schema)
  // The form is always said in words too: not every model that knows tools uses them.
  const told = [...(system === undefined ? [] : [system]), ...(object ? [answerFormat(output_schema)] : [])].join(
    '\n\n',
  )
  const apart = told !== '' && ways.system
  const text = told === '' || apart ? prompt : `${told}\n\n${prompt}`
  return {
    modelId: model,
    messages: [{ role: 'user', content: [{ text }] }],
    ...(apart ? { system: [{ text: told }] } : {}),
    ...inference(request),
    ...(object && ways.tools ? answerTool(output_schema) : {}),
    // Bedrock knows no idempotency key; this one is found in its invocation logs.
    requestMetadata: { 'idempotency-key': request.idempotency_key.slice(0, 256) },
  }
}

/** The same ways without the feature that a ValidationException speaks of; undefined = it is about something else. */
function giveUp(ways: Ways, { output_schema, system }: DispatchRequest, error: unknown): Ways | undefined {
  if (!(error instanceof Error) || error.name !== 'ValidationException') return undefined
  const object = needsJsonObject(output_schema)
  if (ways.tools && object && /\btools?\b|toolConfig|toolChoice/i.test(error.message)) return { ...ways, tools: false }
  if (ways.stream && /stream/i.test(error.message)) return { ...ways, stream: false }
  if (ways.system && (object || system !== undefined) && /system/i.test(error.message)) {
    return { ...ways, system: false }
  }
  return undefined
}

/** Members of a request that are the adapter's. */
const RESERVED = ['modelId', 'messages', 'system', 'toolConfig', 'inferenceConfig', 'stream', 'tools']

function refuseReserved(name: string, { params }: DispatchRequest): void {
  const taken = RESERVED.filter((key) => Object.hasOwn(params, key))
  if (taken.length === 0) return
  const message = `Cannot ask provider "${name}": model_params has ${taken.join(', ')}, which the adapter writes itself. Remove ${taken.length === 1 ? 'it' : 'them'}.`
  throw invalidAnswerFault(name, message)
}

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
  readonly stop_reason: string
  readonly usage: Usage
}

interface Named {
  readonly name: string
}

/** As of other providers: the longest model answers are a few hundred kilobytes. */
const MAX_CHARACTERS = 8 * 1_024 * 1_024

/** An answer in one piece. Fault InvalidInput provider_invalid. */
function readConverse(remote: Named, { output, stopReason, usage }: ConverseCommandOutput): Conversed {
  const blocks = output?.message?.content
  if (blocks === undefined) throw noUse(remote, 'it has no message. Is its endpoint the one of Bedrock?')
  const tool = blocks.find((block) => block.toolUse?.name === ANSWER_TOOL)?.toolUse
  const text = tool === undefined ? blocks.map(textIn).join('') : JSON.stringify(tool.input ?? {})
  return conversed(remote, { text, tools: blocks.some(({ toolUse }) => toolUse !== undefined), stopReason, usage })
}

function textIn({ text }: ContentBlock): string {
  return text ?? ''
}

/**
 * A stream of events; reasoning and other blocks are left out. One that ends without saying why it stopped was cut: Fault
 * Unavailable provider_unavailable. `heard` is called with each event.
 */
async function readConverseStream(
  remote: Named,
  stream: AsyncIterable<ConverseStreamOutput> | undefined,
  heard: () => void,
): Promise<Conversed> {
  const gathered: Gathered = { text: [], tool: [], characters: 0, inTool: false, tools: false }
  for await (const event of stream ?? []) {
    heard()
    take(gathered, event)
    if (gathered.characters > MAX_CHARACTERS) {
      throw noUse(
        remote,
        `it is larger than ${MAX_CHARACTERS} characters. Ask for less, or limit it with model_params.`,
      )
    }
  }
  const { text, tool, tools, stopReason, usage } = gathered
  if (stopReason === undefined) throw cut(remote)
  const said = tool.length > 0 ? tool.join('') : text.join('')
  return conversed(remote, { text: said, tools, stopReason, usage })
}

interface Gathered {
  readonly text: string[]
  /** Input of the answer's tool, in pieces of JSON. */
  readonly tool: string[]
  characters: number
  inTool: boolean
  tools: boolean
  stopReason?: string | undefined
  usage?: TokenUsage | undefined
}

function take(gathered: Gathered, event: ConverseStreamOutput): void {
  const started = event.contentBlockStart?.start?.toolUse
  if (event.contentBlockStart !== undefined) {
    gathered.inTool = started?.name === ANSWER_TOOL
    gathered.tools ||= started !== undefined
  }
  const { text = '', toolUse } = event.contentBlockDelta?.delta ?? {}
  const input = gathered.inTool ? (toolUse?.input ?? '') : ''
  if (text !== '') gathered.text.push(text)
  if (input !== '') gathered.tool.push(input)
  gathered.characters += text.length + input.length
  gathered.stopReason = event.messageStop?.stopReason ?? gathered.stopReason
  gathered.usage = event.metadata?.usage ?? gathered.usage
}

interface Said {
  readonly text: string
  readonly tools: boolean
  readonly stopReason: string | undefined
  readonly usage: TokenUsage | undefined
}

function conversed(remote: Named, { text, tools, stopReason = 'unknown', usage }: Said): Conversed {
  if (text === '' && tools) {
    throw noUse(
      remote,
      'it calls a tool that was not offered. Say in the prompt that the answer is text, or use another model.',
    )
  }
  return { text, stop_reason: stopReason, usage: { tokens_in: usage?.inputTokens, tokens_out: usage?.outputTokens } }
}

function noUse({ name }: Named, why: string): Fault {
  return invalidAnswerFault(name, `Cannot use the answer of provider "${name}": ${why}`)
}

function cut({ name }: Named): Fault {
  const message = `Provider "${name}" broke off in the middle of its answer. It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_unavailable', message, { facts: { provider: name } })
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
