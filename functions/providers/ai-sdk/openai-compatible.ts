import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { OpenAdapter } from '../registry.ts'
import { openRemote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import { isEventStream, type ModelPackage, type ModelParts } from './model-package.ts'

/**
 * Chat completions as OpenAI defined them, which vLLM, LM Studio, llama.cpp and most gateways speak too. model_params are
 * members of the request as they are.
 */
export const chatCompletions: ModelPackage = {
  forms: ['json_schema', 'json_object', 'words'],
  isStream: isEventStream,
  open({ model, baseURL, apiKey, fetch, headers, ways, strict, params }: ModelParts) {
    const opened = createOpenAICompatible({
      name: 'server',
      // The whole path may be written.
      baseURL: baseURL.replace(/\/chat\/completions$/, ''),
      apiKey,
      fetch,
      headers,
      includeUsage: ways.usage,
      supportsStructuredOutputs: ways.form === 'json_schema',
      transformRequestBody: (body) => requestBody(body, { params, strict, stream: ways.stream }),
    })
    return opened.chatModel(model)
  },
}

type Body = Readonly<Record<string, unknown>>

function requestBody(
  { response_format, ...body }: Body,
  { params, strict, stream }: Pick<ModelParts, 'params' | 'strict'> & { readonly stream: boolean },
): Record<string, unknown> {
  const format = response_format === undefined ? {} : { response_format: strictAs(response_format as Body, strict) }
  // A response_format of the author stands: theirs is the prompt that goes with it.
  return { ...format, ...body, ...params, ...(stream ? {} : { stream: false }) }
}

/** Strict mode takes no value without a type, as ports of type json are. */
function strictAs(format: Body, strict: boolean): Body {
  return format.type === 'json_schema'
    ? { ...format, json_schema: { ...(format.json_schema as Body), strict } }
    : format
}

export const openOpenaiCompatible: OpenAdapter<'openai-compatible'> = (name, settings, place) =>
  aiSdkProvider(openRemote(name, settings, place), chatCompletions)
