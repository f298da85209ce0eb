import type { PortType } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

/**
 * The provider adapter contract (docs/providers.md, "Every dispatch"). One dispatch is
 * one attempt's call; retries belong to the block's policy, never to an adapter.
 */
export interface DispatchRequest {
  readonly system?: string
  readonly prompt: string
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
 * facts.retry_after_ms when the provider said so), Rejected (provider_refused) or InvalidInput (provider_invalid).
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

/** Where under functions/ the adapters lie that need a cloud's own client: a place loads one when its settings name it. */
export const PROVIDER_FILES = { bedrock: 'aws/bedrock.ts' } as const

/** Configured adapters by name; an unknown name is an error at the caller, never a fallback. */
export interface Providers {
  get(name: string): Provider | undefined
  names(): readonly string[]
}
