import type { ConverseRequest } from '@aws-sdk/client-bedrock-runtime'
import type { Json } from '../../../shared/canonical.ts'
import { answerFormat } from '../../../shared/prompts/answer-format.ts'
import type { DispatchRequest } from '../../../shared/provider.ts'
import { answerSchema, asksForObject } from '../../providers/answer-schema.ts'
import { invalidAnswer } from '../../providers/invalid-answer.ts'

/** What one model takes, as far as is known. */
export interface Ways {
  readonly stream: boolean
  /** An object is asked for by a tool whose input it is, besides in words. */
  readonly tools: boolean
  /** The system text has a place of its own; else it stands before the prompt. */
  readonly system: boolean
}

/** Name of the tool whose input is the answer. */
export const ANSWER_TOOL = 'answer'

/** Fault InvalidInput provider_invalid when model_params holds what the adapter writes itself. */
export function converseInput(name: string, request: DispatchRequest, ways: Ways): ConverseRequest {
  refuseReserved(name, request)
  const { system, prompt, model, output_schema } = request
  const object = asksForObject(output_schema)
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
export function giveUp(ways: Ways, { output_schema, system }: DispatchRequest, error: unknown): Ways | undefined {
  if (!(error instanceof Error) || error.name !== 'ValidationException') return undefined
  const object = asksForObject(output_schema)
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
  throw invalidAnswer(name, message)
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
