import * as z from 'zod'
import { REVIEW_SYSTEM, reviewPrompt, shownValue } from '../../prompts/block.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../providers/provider.ts'
import { bedrockModel } from '../../providers/settings.ts'
import { sha256 } from '../../text/hash.ts'
import { safeOneLine } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import type { GatePorts } from '../gate-ports.ts'
import { PortNameSchema, readPort } from '../read-facts.ts'

/** Of the samples that confirm a FAIL: several opinions of one model need some spread, the first has none. */
const CONFIRM_TEMPERATURE = 0.7

const LlmReviewSchema = z
  .strictObject({
    port: PortNameSchema.optional(),
    ports: z.array(PortNameSchema).min(1).max(10).optional(),
    criteria: z.string().max(4_000).regex(/\S/, 'criteria are not blank'),
    provider: z.string().min(1).max(100),
    model: z.string().min(1).max(200),
    samples: z
      .int()
      .min(1)
      .max(9)
      .refine((samples) => samples % 2 === 1, 'an odd number, so that there is a majority')
      .default(3),
    allow_same_model: z.boolean().default(false),
    max_chars: z.int().min(1).max(200_000).default(20_000),
    timeout_ms: z.int().min(1).max(300_000).default(60_000),
  })
  .refine(({ port, ports }) => (port === undefined) !== (ports === undefined), {
    message: 'needs either port or ports (one of them, not both)',
  })
type LlmReview = z.infer<typeof LlmReviewSchema>

/**
 * A second model's opinion. A FAIL counts only when the majority of `samples` says so; whatever is
 * not exactly an answer is no vote, and without a majority of votes there is no pass and no fail: `error`.
 */
export const llmReview: Gate<LlmReview> = {
  type: 'llm_review',
  summary:
    'Passes when another model, asked at temperature 0 whether the ports meet `criteria`, says yes; a no is confirmed by the majority of `samples` before it counts.',
  params: LlmReviewSchema,
  reads: portsOf,
  sees: (_, { answer }) => (answer === undefined ? null : { provider: answer.provider, model: answer.model }),
  asks: ({ provider, model }) => ({ provider, model }),
  examples: [
    {
      check: { port: 'plan', criteria: 'Names at least one risk.', provider: 'judge', model: 'm-large' },
      outputs: { plan: 'Costs may grow.' },
      passes: true,
      needs: 'provider',
    },
    {
      check: { port: 'plan', criteria: 'Names at least one risk.', provider: 'judge', model: 'm-large', samples: 5 },
      outputs: { plan: 'All is well.' },
      passes: false,
      needs: 'provider',
    },
  ],
  check,
}

function portsOf({ port, ports }: LlmReview): readonly string[] {
  return ports ?? (port === undefined ? [] : [port])
}

async function check(params: LlmReview, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const { criteria, provider, model, allow_same_model, max_chars, timeout_ms } = params
  const values = Object.fromEntries(portsOf(params).map((port) => [port, readPort(facts, port) ?? null]))
  const chars = Object.values(values).reduce<number>((sum, value) => sum + shownValue(value).length, 0)
  if (chars > max_chars) {
    const reason = `has ${chars} characters to be judged, a judge is shown at most ${max_chars}`
    return { passed: false, unfit: true, reason, facts: { chars, max_chars } }
  }
  const judge = ports.provider?.(provider)
  if (judge === undefined) return broken(`provider "${safeOneLine(provider, 60)}" cannot be asked here`)
  const author = allow_same_model ? undefined : facts.answer?.model
  if (author !== undefined && isSameModel(author, model)) {
    return broken(`${safeOneLine(model, 60)} wrote what it would judge: name another model, or set allow_same_model`)
  }
  const prompt = reviewPrompt(criteria, values)
  const question = { provider: judge, model, prompt, timeout_ms, ...(author === undefined ? {} : { author }) }
  return verdict(params, await votesOf(params, question))
}

/** The first vote, and all others at once if it is a FAIL. */
async function votesOf(
  { samples }: LlmReview,
  question: Omit<JudgeQuestion, 'sample' | 'temperature'>,
): Promise<readonly Vote[]> {
  const first = await askJudge({ ...question, sample: 0, temperature: 0 })
  if (first.pass !== false || samples === 1) return [first]
  const further = Array.from({ length: samples - 1 }, (_, at) =>
    askJudge({ ...question, sample: at + 1, temperature: CONFIRM_TEMPERATURE }),
  )
  return [first, ...(await Promise.all(further))]
}

function verdict({ provider, model, samples }: LlmReview, votes: readonly Vote[]): CheckResult {
  const count = (pass: boolean | undefined) => votes.filter((vote) => vote.pass === pass).length
  const usd = votes.reduce<number | null>((sum, vote) => (sum === null || vote.usd === null ? null : sum + vote.usd), 0)
  const tokens = votes.reduce((sum, vote) => sum + vote.tokens, 0)
  const tally = { pass: count(true), fail: count(false), none: count(undefined) }
  const facts = { judge: `${provider}/${model}`, samples: votes.length, votes: tally, tokens, usd }
  const [first] = votes
  const majority = Math.floor(samples / 2) + 1
  if (first?.pass === true || tally.pass >= majority) return told(true, votes, facts)
  if (tally.fail >= majority) return told(false, votes, facts)
  const why = votes.find((vote) => vote.pass === undefined)?.why ?? ''
  return { ...broken(`no majority of ${samples} answers: ${safeOneLine(why, 200)}`), facts }
}

/** The rationale is shown and told to the next attempt; no rule reads it. */
function told(pass: boolean, votes: readonly Vote[], facts: NonNullable<CheckResult['facts']>): CheckResult {
  const agreed = votes.filter((vote) => vote.pass === pass)
  const [said = ''] = agreed.map((vote) => (vote.pass === undefined ? '' : vote.rationale))
  const rationale = safeOneLine(said, 160)
  const reason = `the judge says ${pass ? 'yes' : 'no'} (${agreed.length} of ${votes.length}): ${rationale}`
  return { passed: pass, reason, facts: { ...facts, rationale } }
}

function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

/** One opinion asked of a second model. */
interface JudgeQuestion {
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
type Vote = {
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
async function askJudge(question: JudgeQuestion): Promise<Vote> {
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
    return { why: `the judge answered as ${safeOneLine(model, 60)}, the model that wrote what it judges` }
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
  return safeOneLine(cause instanceof Error ? cause.message : String(cause), 200)
}
