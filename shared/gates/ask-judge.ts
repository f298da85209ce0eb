import * as z from 'zod'
import { bedrockModel } from '../bedrock-models.ts'
import { sha256 } from '../canonical.ts'
import { REVIEW_SYSTEM } from '../prompts/review-prompt.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../provider.ts'
import { oneSentence } from './one-sentence.ts'

/** One opinion asked of a second model. */
export interface JudgeQuestion {
  readonly provider: Provider
  readonly model: string
  readonly prompt: string
  readonly timeout_ms: number
  /** No two of a verdict are the same, so that none is answered from a cache. */
  readonly sample: number
  readonly temperature: number
  /** The model that wrote what is judged, unless it may judge itself. */
  readonly author?: string
}

/** `pass` absent = no vote: the judge failed, refused, or did not answer in the form that was asked for. */
export type Vote = {
  readonly tokens: number
  /** null = unknown. */
  readonly usd: number | null
} & ({ readonly pass: boolean; readonly rationale: string } | { readonly pass?: undefined; readonly why: string })

/** Nothing may stand beside the two members: what is not exactly an answer is none. */
const AnswerSchema = z.strictObject({ pass: z.boolean(), rationale: z.string() })

const PORTS: DispatchRequest['output_schema'] = {
  pass: { type: 'boolean', required: true, description: 'whether the data meets the criteria' },
  rationale: { type: 'string', required: true, description: 'one or two sentences that say why' },
}

const REPAIR =
  'The last answer was not of that form. Answer with exactly {"pass": true or false, "rationale": "text"}, one JSON object and nothing else.'

/** One vote; a malformed answer is asked for once more. Never throws. */
export async function askJudge(question: JudgeQuestion): Promise<Vote> {
  const first = await ask(question, question.prompt, 0)
  if (typeof first === 'string') return { tokens: 0, usd: 0, why: first }
  const vote = voteOf(first, question)
  if (vote !== 'malformed') return { ...vote, ...spent([first]) }
  const second = await ask(question, `${question.prompt}\n\n${REPAIR}`, 1)
  if (typeof second === 'string') return { ...spent([first]), why: second }
  const repaired = voteOf(second, question)
  const none = { why: 'the judge did not answer {"pass": true or false, "rationale": text}, asked twice' }
  return { ...(repaired === 'malformed' ? none : repaired), ...spent([first, second]) }
}

/** The answer, or why there is none. A model that knows no temperature is asked without one. */
async function ask(question: JudgeQuestion, prompt: string, attempt: number): Promise<DispatchAnswer | string> {
  try {
    return await dispatch(question, prompt, attempt, { temperature: question.temperature })
  } catch (cause) {
    if (!/temperature/i.test(messageOf(cause))) return whyNone(question, cause)
  }
  try {
    return await dispatch(question, prompt, attempt, {})
  } catch (cause) {
    return whyNone(question, cause)
  }
}

function dispatch(
  { provider, model, timeout_ms, sample }: JudgeQuestion,
  prompt: string,
  attempt: number,
  params: DispatchRequest['params'],
): Promise<DispatchAnswer> {
  return provider.dispatch({
    system: REVIEW_SYSTEM,
    prompt,
    model,
    params,
    inputs: {},
    output_schema: PORTS,
    feedback: [],
    signal: AbortSignal.timeout(timeout_ms),
    idempotency_key: sha256(`review ${sample} ${attempt} ${Object.keys(params).length} ${model} ${prompt}`),
  })
}

function voteOf({ text, model, finish_reason }: DispatchAnswer, { author }: JudgeQuestion) {
  if (finish_reason === 'local') return { why: 'provider "local" is a set of text tools, not a model that can judge' }
  if (author !== undefined && isSameModel(model, author)) {
    return { why: `the judge answered as ${oneSentence(model, 60)}, the model that wrote what it judges` }
  }
  try {
    const read = AnswerSchema.safeParse(JSON.parse(text))
    return read.success ? read.data : ('malformed' as const)
  } catch {
    return 'malformed' as const
  }
}

/**
 * The same model under a dated version, a vendor's prefix, another case, the tag `latest` or a profile of Bedrock is the
 * same model.
 */
export function isSameModel(one: string, other: string): boolean {
  return plain(one) === plain(other)
}

function plain(model: string): string {
  const asked = bedrockModel(model.toLowerCase())
  const name = (asked.kind === 'profile' ? asked.model : model.toLowerCase()).replace(/^.*\//, '')
  return name.replace(/:latest$/, '').replace(/-\d{4}-\d{2}-\d{2}$/, '')
}

function spent(answers: readonly DispatchAnswer[]): Pick<Vote, 'tokens' | 'usd'> {
  const tokens = answers.reduce((sum, { tokens_in, tokens_out }) => sum + tokens_in + tokens_out, 0)
  const prices = answers.map(({ usd }) => usd)
  const usd = prices.includes(undefined) ? null : prices.reduce<number>((sum, price) => sum + (price ?? 0), 0)
  return { tokens, usd }
}

function whyNone({ timeout_ms }: JudgeQuestion, cause: unknown): string {
  const isLate = cause instanceof Error && cause.name === 'TimeoutError'
  return isLate ? `the judge did not answer within ${timeout_ms} ms` : `the judge failed: ${messageOf(cause)}`
}

function messageOf(cause: unknown): string {
  return oneSentence(cause instanceof Error ? cause.message : String(cause), 200)
}
