import { createAnthropic } from '@ai-sdk/anthropic'
import type { OpenAdapter } from '../registry.ts'
import { openRemote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import { isEventStream, type ModelPackage } from './model-package.ts'

/** Anthropic's Messages API. */
const messages: ModelPackage = {
  forms: ['json_schema', 'words'],
  namespace: 'anthropic',
  isStream: isEventStream,
  open: ({ model, baseURL, apiKey, fetch }) => createAnthropic({ baseURL, apiKey, fetch }).languageModel(model),
}

export const openAnthropic: OpenAdapter<'anthropic'> = (name, settings, place) =>
  aiSdkProvider(openRemote(name, settings, place), messages)
