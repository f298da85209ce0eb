import type { Json } from '../../shared/canonical.ts'
import { onceMore } from '../../shared/prompts/once-more.ts'
import type { DispatchRequest } from '../../shared/provider.ts'
import type { Decoded } from '../../shared/research/decode-payload.ts'
import { callModel } from './call-model.ts'
import type { AskedModel, StageRequest } from './dispatch-once.ts'
import type { StageCall } from './stage-call.ts'

/** What a stage asks, and how its answer is read. */
export interface Question<T> {
  readonly system: string
  readonly prompt: string
  /** The same as data, for models that compute (the extractive one). */
  readonly inputs: Readonly<Record<string, Json>>
  readonly output_schema: DispatchRequest['output_schema']
  /** Tokens of one answer at the most. */
  readonly answer_tokens: number
  /** Tokens that are left for the calls after it. */
  readonly keep: number
  /** Another than the place's model, with its own parameters; `name` tells its calls from those of the stage. */
  readonly by?: AskedModel & { readonly params: Readonly<Record<string, Json>>; readonly name: string }
  /** `value`: what the answer says, if it can be read; `errors`: what is wrong with it. */
  read(text: string): Reading<T>
}

export interface Reading<T> {
  readonly value?: T
  readonly errors: readonly string[]
}

/** `errors`: what is still wrong with the answer after it was asked for once more. */
export type Asked<T> =
  | { readonly kind: 'answered'; readonly value: T; readonly errors: readonly string[] }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/**
 * One question of a stage: a single turn at temperature 0, asked once more with what was wrong where the answer does not
 * hold. The better of the two answers is the second, unless it could not be read.
 */
export async function askModel<T>(call: StageCall, question: Question<T>): Promise<Asked<T>> {
  let best: Reading<T> | undefined
  let prompt = question.prompt
  for (const repair of [0, 1]) {
    if (repair > 0) call.meter.retries += 1
    const reply = await callModel(call, requestOf(call, question, prompt, repair), question.keep)
    if (reply.kind !== 'answer') return answered(best) ?? reply
    const read = question.read(reply.text)
    if (read.value !== undefined) best = read
    if (read.errors.length === 0) break
    prompt = onceMore(question.prompt, read.errors)
  }
  return answered(best) ?? { kind: 'invalid', why: 'its answer was not valid, twice' }
}

/** What a reader of one of the chain's payloads makes of an answer. */
export function readingOf<T>(decoded: Decoded<T>): Reading<T> {
  return decoded.ok ? { value: decoded.value, errors: [] } : { errors: decoded.errors.map(({ message }) => message) }
}

function answered<T>(best: Reading<T> | undefined): Asked<T> | undefined {
  return best?.value === undefined ? undefined : { kind: 'answered', value: best.value, errors: best.errors }
}

function requestOf<T>(
  { world, run, lane, step, stage }: StageCall,
  { system, inputs, output_schema, answer_tokens, by }: Question<T>,
  prompt: string,
  repair: number,
): StageRequest {
  const { params } = by ?? world.settings.research
  // Some models take no max_tokens beside it.
  const named = Object.hasOwn(params, 'max_completion_tokens')
  return {
    system,
    prompt,
    params: { temperature: 0, ...(named ? {} : { max_tokens: answer_tokens }), ...params },
    inputs: { ...inputs, stage },
    output_schema,
    // As a block's: run, lane, epoch, attempt, repair.
    idempotency_key: `${run.run_id}/${lane}/0/${step}/${by === undefined ? '' : `${by.name}-`}${repair}`,
    ...(by === undefined ? {} : { by: { provider: by.provider, model: by.model } }),
  }
}
