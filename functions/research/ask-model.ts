import { repairPrompt } from '../../shared/prompts/research.ts'
import type { DispatchRequest } from '../../shared/providers/provider.ts'
import type { AskedOfGraph, AskingStage } from '../../shared/research/extractive/model.ts'
import type { Decoded } from '../../shared/research/payloads/codec.ts'
import { evidenceForPrompt, promptTokenBudget } from '../../shared/research/prompt-budget.ts'
import type { Json } from '../../shared/text/json.ts'
import { type AskedModel, dispatchOnce, estimateStage, meterCall, type StageRequest } from './metered-call.ts'
import type { StoredEvidence } from './show-evidence.ts'
import { promptRoomFor, type StageCall } from './stage-call.ts'

/** What a stage asks, and how its answer is read. */
interface Question<T> {
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
    prompt = repairPrompt(question.prompt, read.errors)
  }
  return answered(best) ?? { kind: 'invalid', why: 'its answer was not valid, twice' }
}

/** What a reader of one of the chain's payloads makes of an answer. */
export function toReading<T>(decoded: Decoded<T>): Reading<T> {
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

interface EvidenceQuestion<T> {
  readonly stage: AskingStage
  readonly system: string
  readonly output_schema: DispatchRequest['output_schema']
  /** For the extractive model alone. */
  readonly known: AskedOfGraph
  prompt(topic: string, evidence: readonly { readonly text: string }[]): string
  read(text: string): Reading<T>
}

/**
 * Asks about the question and its evidence: as much of it as there is room for in the prompt, in rank order; all of it as
 * data. It is the question as it was asked: a retighten changes what is searched for, not what is answered.
 */
export function askEvidence<T>(
  call: StageCall,
  shown: readonly StoredEvidence[],
  { stage, system, output_schema, known, prompt, read }: EvidenceQuestion<T>,
): Promise<Asked<T>> {
  const { topic } = call.state.intent
  const fixed = Math.ceil((system.length + prompt(topic, []).length) / 4)
  const { answer_tokens, keep, data } = promptTokenBudget(stage, fixed, promptRoomFor(call))
  const evidence = shown.map(({ entity_id, label, aliases, source, text, facts, geo }) => ({
    entity_id,
    label,
    aliases,
    source,
    text,
    facts,
    geo,
  }))
  return askModel(call, {
    system,
    prompt: prompt(topic, evidenceForPrompt(shown, data)),
    // undefined members are those of JSON that are not there.
    inputs: { topic, evidence, ...known } as unknown as Readonly<Record<string, Json>>,
    output_schema,
    answer_tokens,
    keep,
    read,
  })
}

/** `skipped`: it was not made; `failed`: nobody answered. Both say why, as the middle of a sentence. */
type ModelReply =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Asks the place's model for the research chain, or the one the request names. `keep` tokens are left for the calls after it. */
async function callModel(call: StageCall, request: StageRequest, keep: number): Promise<ModelReply> {
  const reply = await meterCall(call, {
    estimate: () => estimateStage(call, request, request.by).estimate,
    keep,
    once: (ms) => dispatchOnce(call, request, ms),
  })
  if (reply.kind === 'answer') return { kind: 'answer', text: reply.value.text }
  if (reply.kind === 'skipped') return reply
  // It answered what nobody can read: no answer either, and worth asking once more.
  if (reply.fault.code === 'provider_invalid') return { kind: 'answer', text: '' }
  return { kind: 'failed', why: `the model did not answer: ${reply.fault.code}` }
}
