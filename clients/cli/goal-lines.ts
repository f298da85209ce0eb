import * as z from 'zod'
import { evaluateCompletion } from '../../shared/goals/evaluate-completion.ts'
import { readGoalContract } from '../../shared/goals/read-contract.ts'
import { readClaim } from '../../shared/goals/read-verdicts.ts'
import { judgeTrust } from '../../shared/goals/trust-gate.ts'
import { decideTwoGates } from '../../shared/goals/two-gates.ts'
import { AskingLineSchema, answerEachLine, idOfLine } from './asking-line.ts'
import type { Session } from './session.ts'

/**
 * `sluice goal evaluate|validate|decide --ndjson`: a JSON object a line in, one a line out, in the same order and at
 * once (docs/goal-gates.md has the members). A line that cannot be read is answered with code malformed_line; the rest
 * goes on.
 */
export async function goalLines(session: Session, answer: LineAnswer): Promise<void> {
  await answerEachLine(session, answer)
}

/** What one line is answered with; `value` is undefined where it is no JSON. */
export type LineAnswer = (value: unknown, number: number) => object

const AttemptSchema = z.object({ fingerprint: z.string().nullish(), unmet: z.array(z.string()) })

/** null is the same as a member that is left out, as programs in other languages write it. */
const EvaluateSchema = AskingLineSchema.extend({
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

const DecideSchema = AskingLineSchema.extend({
  trust_score: z.unknown().optional(),
  quality_passed: z.unknown().optional(),
  goal_status: z.enum(['MET', 'NOT_MET', 'BLOCKED', 'NO_CONTRACT']),
  claimed_status: z.unknown().optional(),
})

export const GOAL_ANSWERS: Readonly<Record<'evaluate' | 'validate' | 'decide', LineAnswer>> = {
  evaluate(value, number) {
    const line = EvaluateSchema.safeParse(value)
    if (!line.success) return { id: idOfLine(value), error: malformed(number, line.error, EVALUATE_FORM) }
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
    const line = AskingLineSchema.safeParse(value)
    if (!line.success) return { id: null, valid: false, errors: [malformed(number, line.error, VALIDATE_FORM)] }
    const { id, contract } = line.data
    const read = readGoalContract(contract ?? null)
    return { id, valid: read.ok, errors: read.ok ? [] : read.errors }
  },
  decide(value, number) {
    const line = DecideSchema.safeParse(value)
    if (!line.success) return { id: idOfLine(value), error: malformed(number, line.error, DECIDE_FORM) }
    const { id, trust_score, quality_passed, goal_status, claimed_status } = line.data
    const decision = decideTwoGates({
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
