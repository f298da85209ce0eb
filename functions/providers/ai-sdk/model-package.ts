import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { Remote } from '../remote.ts'

/** How a server is asked for an object, best first: a schema, any JSON, words alone. */
export type AnswerForm = 'json_schema' | 'json_object' | 'words'

/** What a server was found to take; of all that is asked of it at the beginning each is given up at its first refusal. */
export interface Ways {
  readonly form: AnswerForm
  readonly stream: boolean
  /** Usage inside streams. */
  readonly usage: boolean
}

/** What a package opens one model for one request with. */
export interface ModelParts {
  readonly remote: Remote
  readonly model: string
  /** Without query and without a slash at its end; '' where the package knows it. */
  readonly baseURL: string
  /** Some text where the provider needs no key: a package that is given none looks for one in the environment. */
  readonly apiKey: string
  /** By it alone the model reaches anything. */
  readonly fetch: typeof globalThis.fetch
  readonly headers: Readonly<Record<string, string>>
  readonly ways: Ways
  /** Of the schema of the answer (functions/providers/model-answers.ts). */
  readonly strict: boolean
  readonly params: Readonly<Record<string, Json>>
}

/** One adapter package of the AI SDK, or one of a project, as functions/providers/ai-sdk.ts uses it. */
export interface ModelPackage {
  /** Forms it is asked for, best first; the last is `words`. */
  readonly forms: readonly AnswerForm[]
  /** Where model_params beyond those that every model knows go among providerOptions; absent = the package writes all of them itself. */
  readonly namespace?: string
  /** Beside those, unless a document says otherwise. */
  readonly options?: Readonly<Record<string, Json>>
  /** What its server answers a stream with; of anything else the whole body is the answer. */
  isStream(mediaType: string): boolean
  /** Of servers that want more than their protocol. */
  prepare?(
    remote: Remote,
    request: DispatchRequest,
  ): { readonly request: DispatchRequest; readonly headers: Readonly<Record<string, string>> }
  open(parts: ModelParts): LanguageModelV4 | Promise<LanguageModelV4>
}

export function isEventStream(mediaType: string): boolean {
  return mediaType.includes('text/event-stream')
}
