import { type EvaluatedCompletion, evaluateCompletion } from '../../shared/goals/evaluate-completion.ts'
import type { QualityProfile } from '../../shared/goals/quality/quality-rule.ts'
import type { FinalStatus } from '../../shared/goals/two-gates.ts'
import { goalSources, type SourceOptions } from './goal-sources.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { type ExitCode, usage } from './refused.ts'
import type { Session } from './session.ts'

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
  throw usage(`Cannot use --trust ${text}: a number from 0 to 100 is needed.`)
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
