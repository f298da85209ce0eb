import type { PortType } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

/** A tool as a model is shown it. */
export interface ToolOffer {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among those offered. */
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object. */
  readonly input_schema: Json
}

/** A model asks for a tool to be called. */
export interface ToolRequest {
  /** The provider's own; what comes back names it. */
  readonly id: string
  /** As it was offered, or what the model made of it. */
  readonly tool: string
  /** As the model wrote it: JSON of an object, or what it took for that. */
  readonly arguments: string
}

/** A file that a message carries beside its text. */
export interface MessageFile {
  readonly name: string
  readonly media_type: string
  readonly bytes: Uint8Array
}

/** What came after the first prompt, in order: of an agent that calls tools. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ToolRequest[]
      /** What the same provider wants to see again (signatures of its reasoning); nobody else reads it. */
      readonly opaque?: Json
    }
  /** Answers the call of this id of the assistant's message before it. */
  | {
      readonly role: 'tool'
      readonly id: string
      readonly tool: string
      readonly text: string
      readonly is_error: boolean
    }

/**
 * The provider adapter contract (docs/providers.md, "Every dispatch"). One dispatch is
 * one attempt's call; retries belong to the block's policy, never to an adapter.
 */
export interface DispatchRequest {
  readonly system?: string
  /** The first message of the user. */
  readonly prompt: string
  /** Files that go with the prompt; an adapter that cannot send one refuses: InvalidInput provider_invalid. */
  readonly files?: readonly MessageFile[]
  /** What followed the prompt. */
  readonly conversation?: readonly Message[]
  /** Tools the model may call; one that cannot be offered any refuses: InvalidInput provider_no_tools. */
  readonly tools?: readonly ToolOffer[]
  /** Hears each piece of the answer's text as it comes, where the adapter reads a stream. Throws nothing. */
  readonly on_text?: (piece: string) => void
  /** As written in the document; an adapter that has no models reports it as not used. */
  readonly model: string
  readonly params: Readonly<Record<string, Json>>
  /** The block's resolved inputs, as data: for adapters that compute instead of generating. */
  readonly inputs: Readonly<Record<string, Json>>
  /** Ports the answer must carry; more than one (or any but a single string) asks for a JSON object. */
  readonly output_schema: Readonly<
    Record<string, { readonly type: PortType; readonly description?: string; readonly required: boolean }>
  >
  /** What the previous attempt failed on, one line a gate or contract error. */
  readonly feedback: readonly string[]
  readonly signal: AbortSignal
  /** Same attempt, same key. */
  readonly idempotency_key: string
}

export interface DispatchAnswer {
  readonly text: string
  readonly tokens_in: number
  readonly tokens_out: number
  /** Absent = the price is unknown. */
  readonly usd?: number
  /** The model that answered, as the provider names it. */
  readonly model: string
  readonly finish_reason: string
  /** Tools it wants called before it goes on; none of an answer that is the last. */
  readonly calls?: readonly ToolRequest[]
  /** For the next request's assistant message. */
  readonly opaque?: Json
  /** The answer's own, where the provider gives it one. */
  readonly id?: string
  /** One sentence for the event log when the answer did not come from the model asked for. */
  readonly note?: string
}

/** Texts whose meaning is asked for as vectors. */
export interface EmbedRequest {
  /** At least one, none of them blank. */
  readonly texts: readonly string[]
  readonly model: string
  readonly signal: AbortSignal
  readonly idempotency_key: string
}

export interface EmbedAnswer {
  /** One a text, in its order; all of one length, every number finite. */
  readonly vectors: readonly (readonly number[])[]
  readonly tokens_in: number
  /** Absent = the price is unknown. */
  readonly usd?: number
}

/**
 * Typed failure: Fault Unavailable (code provider_unavailable, provider_timeout or provider_throttled; retryable,
 * facts.retry_after_ms when the provider said so), Rejected (provider_refused) or InvalidInput (provider_invalid,
 * provider_no_tools).
 */
export interface Provider {
  dispatch(request: DispatchRequest): Promise<DispatchAnswer>
  /** Of those that have embeddings (EMBEDDING_TYPES of shared/providers/settings.ts); fails as dispatch does. */
  embed?(request: EmbedRequest): Promise<EmbedAnswer>
}

/** Fact of an Unavailable whose provider was not asked: its circuit breaker is open, so nobody is asked for a while. */
export const NOT_ASKED = 'not_asked'

/** Every place has these without settings: deterministic tools, and the model of the research chain. */
export const PLACE_PROVIDERS = ['local', 'extractive'] as const

/**
 * Where under functions/ the adapters lie that need a package of others, by type, and what opens them: a place loads, and a
 * function on AWS carries, those alone that its settings name.
 */
export const PROVIDER_FILES = {
  bedrock: ['aws/bedrock.ts', 'openBedrock'],
  'openai-compatible': ['providers/ai-sdk/openai-compatible.ts', 'openOpenaiCompatible'],
  openclaw: ['providers/ai-sdk/openclaw.ts', 'openOpenclaw'],
  openai: ['providers/ai-sdk/openai.ts', 'openOpenai'],
  anthropic: ['providers/ai-sdk/anthropic.ts', 'openAnthropic'],
  google: ['providers/ai-sdk/google.ts', 'openGoogle'],
  'ai-sdk': ['providers/ai-sdk/project-package.ts', 'openProjectPackage'],
} as const satisfies Readonly<Record<string, readonly [file: string, opener: string]>>

/** Configured adapters by name; an unknown name is an error at the caller, never a fallback. */
export interface Providers {
  get(name: string): Provider | undefined
  names(): readonly string[]
}
