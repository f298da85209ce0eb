import * as z from 'zod'
import { type EvaluatedCompletion, evaluateCompletion } from '../../../shared/goals/completion.ts'
import type { FinalStatus } from '../../../shared/goals/decision-table.ts'
import { decideFinalStatus, readClaim } from '../../../shared/goals/decision-table.ts'
import type { QualityProfile } from '../../../shared/goals/quality-gate.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { judgeTrust } from '../../../shared/goals/trust-gate.ts'
import { answerEachLine, lineId, NdjsonLineSchema } from '../terminal/answer-ndjson-lines.ts'
import { type ExitCode, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { goalSources, type SourceOptions } from './sources.ts'

export interface EvaluateOptions extends SourceOptions {
  readonly trust?: readonly string[]
  readonly claimed?: FinalStatus
  readonly quality?: QualityProfile
  readonly failedAttempts?: number
  readonly blockers?: readonly string[]
  readonly json?: true
}

/** The gates over files; the exit code is that of a run that ended so. */
export function goalEvaluate(session: Session, options: EvaluateOptions): void {
  const { trust = [], claimed, quality = 'standard', failedAttempts = 0 } = options
  const evaluated = evaluateCompletion({
    ...goalSources(options),
    trust_scores: trust.map(scoreOf),
    claimed_status: claimed,
    prior_attempts: Array.from({ length: failedAttempts }, () => ({ unmet: [] })),
    quality,
    blockers: options.blockers,
  })
  if (options.json === true) session.say(jsonText(evaluated.completion, 2))
  else for (const line of lines(evaluated)) session.say(plainText(line))
  process.exitCode = EXIT_CODES[evaluated.completion.final_status]
}

const EXIT_CODES: Readonly<Record<FinalStatus, ExitCode>> = {
  SUCCESS: 0,
  PARTIAL: 3,
  BLOCKED: 3,
  FAILED: 1,
  ABORTED: 1,
}

function scoreOf(text: string): number {
  const score = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(score)) return score
  throw usageError(`Cannot use --trust ${text}: a number from 0 to 100 is needed.`)
}

function lines({ completion, trust }: EvaluatedCompletion): readonly string[] {
  const { final_status, row, action, met_count, total_count, quality, criteria, warnings, pivot } = completion
  const goal = total_count === 0 ? completion.goal_status : `${completion.goal_status} (${met_count}/${total_count})`
  return [
    `${final_status}  ${row}  next: ${action}`,
    `goal     ${goal}`,
    `trust    ${trust.passed ? 'PASS' : 'FAIL'}: ${trust.message}`,
    `quality  ${quality.passed ? 'passed' : 'failed'}: score ${quality.score}`,
    ...criteria.map(({ id, status, message }) => `  ${status.padEnd(7)}  ${id ?? '-'}  ${message}`),
    ...quality.violations.map(({ code, message }) => `  ${code}  ${message}`),
    ...warnings.map(({ code, message, severity }) => `${severity}: ${message} [${code}]`),
    ...(pivot.shouldPivot ? [`attempt ${pivot.attemptNumber} of ${pivot.maxAttempts}; for the next:`] : []),
    ...(pivot.shouldPivot ? pivot.suggestions.map((suggestion) => `  ${suggestion}`) : []),
  ]
}

/**
 * `sluice goal evaluate|validate|decide --ndjson`: a JSON object a line in, one a line out, in the same order and at
 * once (docs/goal-gates.md has the members). A line that cannot be read is answered with code malformed_line; the rest
 * goes on.
 */
export async function answerGoalLines(session: Session, answer: LineAnswer): Promise<void> {
  await answerEachLine(session, answer)
}

/** What one line is answered with; `value` is undefined where it is no JSON. */
type LineAnswer = (value: unknown, number: number) => object

const AttemptSchema = z.object({ fingerprint: z.string().nullish(), unmet: z.array(z.string()) })

/** null is the same as a member that is left out, as programs in other languages write it. */
const EvaluateSchema = NdjsonLineSchema.extend({
  contract: z.unknown().optional(),
  output: z.string().nullish(),
  artifacts: z.array(z.string()).nullish(),
  trust_score: z.unknown().optional(),
  claimed_status: z.unknown().optional(),
  prior_attempts: z.array(AttemptSchema).nullish(),
  prior_failed_attempts: z.int().min(0).max(1_000_000).nullish(),
  quality: z.enum(['standard', 'ml']).nullish(),
  blockers: z.unknown().optional(),
})

const DecideSchema = NdjsonLineSchema.extend({
  trust_score: z.unknown().optional(),
  quality_passed: z.unknown().optional(),
  goal_status: z.enum(['MET', 'NOT_MET', 'BLOCKED', 'NO_CONTRACT']),
  claimed_status: z.unknown().optional(),
})

export const GOAL_ANSWERS: Readonly<Record<'evaluate' | 'validate' | 'decide', LineAnswer>> = {
  evaluate(value, number) {
    const line = EvaluateSchema.safeParse(value)
    if (!line.success) return { id: lineId(value), error: malformed(number, line.error, EVALUATE_FORM) }
    const { id, contract, output, artifacts, trust_score, claimed_status, quality, blockers } = line.data
    const { completion } = evaluateCompletion({
      contract: contract ?? undefined,
      texts: [{ text: output ?? '' }],
      artifacts: (artifacts ?? []).map((name) => ({ name })),
      trust_scores: isNothing(trust_score) ? [] : [trust_score],
      claimed_status,
      prior_attempts: attemptsOf(line.data),
      quality: quality ?? 'standard',
      blockers,
    })
    return { id, ...completion }
  },
  validate(value, number) {
    const line = NdjsonLineSchema.safeParse(value)
    if (!line.success) return { id: null, valid: false, errors: [malformed(number, line.error, VALIDATE_FORM)] }
    const { id, contract } = line.data
    const read = readGoalContract(contract ?? null)
    return { id, valid: read.ok, errors: read.ok ? [] : read.errors }
  },
  decide(value, number) {
    const line = DecideSchema.safeParse(value)
    if (!line.success) return { id: lineId(value), error: malformed(number, line.error, DECIDE_FORM) }
    const { id, trust_score, quality_passed, goal_status, claimed_status } = line.data
    const decision = decideFinalStatus({
      trust_passed: judgeTrust([trust_score]).passed,
      quality_passed: quality_passed === true,
      goal_status,
      claimed_status: readClaim(claimed_status).status,
    })
    return { id, ...decision }
  },
}

const EVALUATE_FORM =
  '{"id", "contract", "output": text, "artifacts": [paths], "trust_score", "claimed_status", "prior_attempts": [{"fingerprint", "unmet": [ids]}] or "prior_failed_attempts": number, "quality": "standard" or "ml", "blockers": [texts]}'
const VALIDATE_FORM = '{"id": string or number, "contract": YAML text or object}'
const DECIDE_FORM =
  '{"id", "trust_score", "quality_passed": true or false, "goal_status": "MET", "NOT_MET", "BLOCKED" or "NO_CONTRACT", "claimed_status"}'

/** The list says more than the count; where both are there, the longer history counts. */
function attemptsOf({ prior_attempts, prior_failed_attempts }: z.infer<typeof EvaluateSchema>) {
  const told = (prior_attempts ?? []).map(({ fingerprint, unmet }) => ({
    unmet,
    ...(typeof fingerprint === 'string' && { fingerprint }),
  }))
  const missing = Math.max(0, (prior_failed_attempts ?? 0) - told.length)
  return [...told, ...Array.from({ length: missing }, () => ({ unmet: [] }))]
}

function malformed(number: number, error: z.ZodError, form: string) {
  const at = error.issues[0]?.path.join('.') ?? ''
  const where = at === '' ? '' : ` (see "${at}")`
  const message = `Cannot read line ${number} of stdin${where}: one JSON object ${form} is needed.`
  return { code: 'malformed_line', path: at, message }
}

function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined
}
