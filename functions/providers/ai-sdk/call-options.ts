import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider'
import type { DispatchRequest, Message, MessageFile } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'
import { answerSchema, argumentsObject, fileText, needsJsonObject, systemText } from '../model-answers.ts'
import type { ModelPackage, Ways } from './model-package.ts'
import { readOpaque } from './opaque.ts'

type Prompt = LanguageModelV4CallOptions['prompt']

/** What a model of the AI SDK is asked; `own`: whose `opaque` is handed back. */
export function callOptions(
  request: DispatchRequest,
  { namespace, options = {} }: Pick<ModelPackage, 'namespace' | 'options'>,
  { form }: Ways,
  own: string,
): LanguageModelV4CallOptions {
  const { output_schema, tools = [], params } = request
  const asksForm = asksForJson(request) && form !== 'words'
  const { schema } = answerSchema(output_schema)
  const { standard, others } = split(params)
  return {
    prompt: promptOf(request, own),
    ...(namespace === undefined ? {} : standard),
    ...(namespace === undefined ? {} : { providerOptions: { [namespace]: { ...options, ...others } } }),
    ...(asksForm
      ? {
          responseFormat: {
            type: 'json',
            name: 'answer',
            ...(form === 'json_schema' ? { schema: mutable(schema) } : {}),
          },
        }
      : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, input_schema }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema: mutable(input_schema),
          })),
          toolChoice: { type: 'auto' as const },
        }),
  }
}

/**
 * Whether the server itself is asked for JSON. Not beside tools: servers that hold a model to a schema let it call none.
 * A response_format of the author stands: theirs is the prompt that goes with it.
 */
export function asksForJson({ output_schema, tools = [], params }: DispatchRequest): boolean {
  return needsJsonObject(output_schema) && tools.length === 0 && !Object.hasOwn(params, 'response_format')
}

type Schema = NonNullable<Extract<LanguageModelV4CallOptions['responseFormat'], { type: 'json' }>['schema']>

/** The AI SDK's type of a schema is JSON that may be changed; nobody changes this. */
function mutable(schema: Json): Schema {
  return structuredClone(schema) as Schema
}

function promptOf(request: DispatchRequest, own: string): Prompt {
  const { prompt, files = [], conversation = [] } = request
  const system = systemText(request)
  return [
    ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
    { role: 'user', content: [{ type: 'text', text: prompt }, ...files.map(filePart)] },
    ...merged(conversation.map((message) => messageOf(message, own))),
  ]
}

function filePart(file: MessageFile): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const text = fileText(file)
  if (text !== undefined) return { type: 'text', text }
  const { name, media_type, bytes } = file
  return { type: 'file', filename: name, mediaType: media_type, data: { type: 'data', data: bytes } }
}

function messageOf(message: Message, own: string): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] }
    case 'assistant':
      return { role: 'assistant', content: assistantParts(message, own) }
    case 'tool': {
      const { id, tool, text, is_error } = message
      const output = { type: is_error ? ('error-text' as const) : ('text' as const), value: text }
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: tool, output }] }
    }
  }
}

/** In the order the model wrote them, each with what its provider wants to see again. */
function assistantParts(message: Extract<Message, { role: 'assistant' }>, own: string) {
  const kept = readOpaque(message, own)
  return kept.map((part) => {
    const options = part.meta === undefined ? {} : { providerOptions: part.meta }
    if (part.kind !== 'call') return { type: part.kind, text: part.text, ...options }
    const { id, tool } = part.call
    return { type: 'tool-call' as const, toolCallId: id, toolName: tool, input: argumentsObject(part.call), ...options }
  })
}

/** Results of calls that were made at once stand in one message: some servers take no other. */
function merged(messages: readonly LanguageModelV4Message[]): Prompt {
  const all: Prompt = []
  for (const message of messages) {
    const last = all.at(-1)
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(...message.content)
    else all.push(message)
  }
  return all
}

type Standard = Pick<
  LanguageModelV4CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
>

/** The names that every model's parameters go by, in each of the spellings people know. */
const NUMBERS: Readonly<Record<string, Exclude<keyof Standard, 'stopSequences'>>> = {
  maxTokens: 'maxOutputTokens',
  maxOutputTokens: 'maxOutputTokens',
  maxCompletionTokens: 'maxOutputTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  seed: 'seed',
}

/** model_params as the AI SDK has them, and the others, which are its package's own. */
function split(params: DispatchRequest['params']): {
  readonly standard: Standard
  readonly others: Record<string, Json>
} {
  const standard: { -readonly [K in keyof Standard]: Standard[K] } = {}
  const others: Record<string, Json> = {}
  for (const [key, value] of Object.entries(params)) {
    const name = camelCase(key)
    const number = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined
    if (number !== undefined && typeof value === 'number') standard[number] = value
    else if (name === 'stop' || name === 'stopSequences') standard.stopSequences = [value].flat().map(String)
    else others[name] = value
  }
  return { standard, others }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
