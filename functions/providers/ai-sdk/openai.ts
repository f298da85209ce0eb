import { createOpenAI } from '@ai-sdk/openai'
import type { OpenAdapter } from '../registry.ts'
import { openRemote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import { isEventStream, type ModelPackage } from './model-package.ts'

/** OpenAI's Responses API. Nothing is kept there: what a model reasoned comes back with the answer and is sent with the next. */
const responses: ModelPackage = {
  forms: ['json_schema', 'words'],
  namespace: 'openai',
  options: { store: false },
  isStream: isEventStream,
  open: ({ model, baseURL, apiKey, fetch }) => createOpenAI({ baseURL, apiKey, fetch }).responses(model),
}

export const openOpenai: OpenAdapter<'openai'> = (name, settings, place) =>
  aiSdkProvider(openRemote(name, settings, place), responses)
