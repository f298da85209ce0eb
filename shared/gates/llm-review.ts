import * as z from 'zod'
import { reviewPrompt, shown } from '../prompts/review-prompt.ts'
import { askJudge, isSameModel, type JudgeQuestion, type Vote } from './ask-judge.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort } from './read-port.ts'

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
  const chars = Object.values(values).reduce<number>((sum, value) => sum + shown(value).length, 0)
  if (chars > max_chars) {
    const reason = `has ${chars} characters to be judged, a judge is shown at most ${max_chars}`
    return { passed: false, unfit: true, reason, facts: { chars, max_chars } }
  }
  const judge = ports.provider?.(provider)
  if (judge === undefined) return broken(`provider "${oneSentence(provider, 60)}" cannot be asked here`)
  const author = allow_same_model ? undefined : facts.answer?.model
  if (author !== undefined && isSameModel(author, model)) {
    return broken(`${oneSentence(model, 60)} wrote what it would judge: name another model, or set allow_same_model`)
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
  return { ...broken(`no majority of ${samples} answers: ${oneSentence(why, 200)}`), facts }
}

/** The rationale is shown and told to the next attempt; no rule reads it. */
function told(pass: boolean, votes: readonly Vote[], facts: NonNullable<CheckResult['facts']>): CheckResult {
  const agreed = votes.filter((vote) => vote.pass === pass)
  const [said = ''] = agreed.map((vote) => (vote.pass === undefined ? '' : vote.rationale))
  const rationale = oneSentence(said, 160)
  const reason = `the judge says ${pass ? 'yes' : 'no'} (${agreed.length} of ${votes.length}): ${rationale}`
  return { passed: pass, reason, facts: { ...facts, rationale } }
}

function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}
