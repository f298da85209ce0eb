import { createGoogle } from '@ai-sdk/google'
import type { OpenAdapter } from '../registry.ts'
import { openRemote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import { isEventStream, type ModelPackage } from './model-package.ts'

/** The Gemini API. */
const gemini: ModelPackage = {
  forms: ['json_schema', 'json_object', 'words'],
  namespace: 'google',
  isStream: isEventStream,
  open: ({ model, baseURL, apiKey, fetch }) => createGoogle({ baseURL, apiKey, fetch }).languageModel(model),
}

export const openGoogle: OpenAdapter<'google'> = (name, settings, place) =>
  aiSdkProvider(openRemote(name, settings, place), gemini)
