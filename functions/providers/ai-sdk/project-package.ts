import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Json } from '../../../shared/text/json.ts'
import { invalidAnswerFault, memberOf } from '../model-answers.ts'
import type { OpenAdapter } from '../registry.ts'
import { openRemote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import type { ModelPackage } from './model-package.ts'

/**
 * A package of the project, or a module of it, whose models have the AI SDK's interface: its export is called with
 * `{ model, apiKey, baseURL, fetch, ...options }` and answers a model, or a provider of models. Only its fetch reaches
 * anything by our rules; what it does beside that is the operator's, who named it.
 */
export const openProjectPackage: OpenAdapter<'ai-sdk'> = (name, settings, place) => {
  const { package: from, export: wanted, options = {} } = settings
  const opened: ModelPackage = {
    forms: ['json_schema', 'words'],
    namespace: namespaceOf(from),
    isStream: (mediaType) => !/\bapplication\/json\b|text\/html/.test(mediaType),
    async open({ model, apiKey, baseURL, fetch }) {
      const make = makerOf(name, from, await place.loadPackage(name, from), wanted)
      const given = { ...options, apiKey, fetch, ...(baseURL === '' ? {} : { baseURL }) }
      return modelOf(name, from, await make({ model, ...given }), model)
    },
  }
  return aiSdkProvider(openRemote(name, settings, place), opened)
}

type Made = Readonly<Record<string, Json | typeof globalThis.fetch>>

/** `@ai-sdk/mistral` reads what is of it under `mistral`. */
function namespaceOf(from: string): string {
  return (from.split('/').at(-1) ?? from).replace(/\.\w+$/, '')
}

function makerOf(name: string, from: string, module: object, wanted: string | undefined): (given: Made) => unknown {
  const names = wanted === undefined ? impliedNames(from, module) : [wanted]
  const [only] = names
  const found = names.length === 1 && only !== undefined ? memberOf({ ...module }, only) : undefined
  // Whatever it takes and answers is looked at when it has been called.
  if (typeof found === 'function') return found as (given: Made) => unknown
  const seen = Object.keys(module).slice(0, 12).join(', ') || 'nothing'
  const message = `Cannot ask provider "${name}": "${from}" exports ${seen}, and ${wanted === undefined ? 'no one function that makes models (create.., or the default export of a module)' : `no function "${wanted}"`}. Write the name of one into export of providers.${name}.`
  throw invalidAnswerFault(name, message)
}

function impliedNames(from: string, module: object): readonly string[] {
  if (from.startsWith('./')) return ['default']
  return Object.keys(module).filter((name) => /^create[A-Z]/.test(name))
}

/** A model, or the model of a provider. */
function modelOf(name: string, from: string, made: unknown, model: string): LanguageModelV4 {
  const found = isModel(made) ? made : providedModel(made, model)
  if (isModel(found)) return found
  const message = `Cannot ask provider "${name}": what "${from}" made is no language model of the AI SDK (specification v4, with doStream and doGenerate), and no provider of one. Install a version of the package that is.`
  throw invalidAnswerFault(name, message)
}

function providedModel(made: unknown, model: string): unknown {
  if (typeof made !== 'function' && (typeof made !== 'object' || made === null)) return undefined
  // A provider of the AI SDK is an object with this method, most of them a function as well.
  const { languageModel } = made as { readonly languageModel?: unknown }
  if (typeof languageModel === 'function') return languageModel.call(made, model)
  return typeof made === 'function' ? made(model) : undefined
}

function isModel(value: unknown): value is LanguageModelV4 {
  if (typeof value !== 'object' || value === null) return false
  const { specificationVersion, doStream, doGenerate } = value as Partial<LanguageModelV4>
  return specificationVersion === 'v4' && typeof doStream === 'function' && typeof doGenerate === 'function'
}
