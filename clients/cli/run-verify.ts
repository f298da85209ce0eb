import type { Command, CommandOptions } from 'commander'
import type * as z from 'zod'
import { VERIFY_RUN } from '../../shared/api/verify-run.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { auditProblems } from './check-audit.ts'
import { AuditedRunSchema, auditOf } from './fetch-audit.ts'
import { fetchEvents, runPath } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { oneLine } from './plain-text.ts'
import { readFile } from './read-file.ts'
import { FoldedRunSchema, type Recomputed, recomputeRun } from './recompute-run.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { count } from './words.ts'

const AnswerSchema = VERIFY_RUN.answer.loose()
type Answer = z.infer<typeof AnswerSchema>

export function addVerify(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'check everything stored of a run: its hash chain and its invariants; exit code 100 when one fails'
  withTarget(parent.command('verify', hidden).description(words))
    .argument('<run-id>')
    .option('--audit <file>', 'also an exported record of decisions (`approvals export`), against the run')
    .action((runId: string, options: VerifyOptions) => verify(session, runId, options))
}

interface VerifyOptions extends TargetOptions {
  readonly audit?: string
}

async function verify(session: Session, runId: string, { url, json, audit }: VerifyOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const file = audit === undefined ? undefined : readFile(audit, 'record of decisions')
  const answer = await callApi(target, AnswerSchema, { path: runPath(runId, '/verify') })
  const recomputed = await recompute(target, runId, answer, file)
  const ok = answer.ok && recomputed.every(({ problems }) => problems.length === 0)
  if (json === true) session.say(jsonText({ ...answer, ok, recomputed }, 2))
  else for (const line of linesOf(answer, recomputed, ok)) session.say(line)
  if (!ok) process.exitCode = 100
}

/** What cannot be read at all is found, too. */
async function recompute(
  target: Target,
  runId: string,
  { seal }: Answer,
  audit: string | undefined,
): Promise<readonly Recomputed[]> {
  try {
    const run = await callApi(target, FoldedRunSchema.and(AuditedRunSchema), { path: runPath(runId) })
    const events = await fetchEvents(target, runId)
    const own = recomputeRun({ events, run, seal })
    if (audit === undefined) return own
    return [...own, { title: 'record of decisions', problems: auditProblems(audit, runId, auditOf(run, events)) }]
  } catch (error) {
    if (!(error instanceof Refused) || error.status === undefined || error.status < 500) throw error
    return [{ title: 'replay: every event once, in order', problems: [error.reason.detail] }]
  }
}

function linesOf(answer: Answer, recomputed: readonly Recomputed[], ok: boolean): readonly string[] {
  const server = answer.checks.flatMap(({ n, title, problems, left_out }) => {
    const number = String(n).padStart(2)
    if (left_out !== undefined) return [`left out  ${number} ${oneLine(`${title} (${left_out})`)}`]
    return checkLines(number, title, problems)
  })
  const own = recomputed.flatMap(({ title, problems }) => checkLines('  ', `${title}, computed here`, problems))
  const asked = answer.checks.filter(({ left_out }) => left_out === undefined).length + recomputed.length
  const failed = [...answer.checks, ...recomputed].filter(({ problems }) => problems.length > 0).length
  const verdict = ok ? `all ${asked} checks hold` : `${count(failed, 'check')} of ${asked} failed`
  return [...server, ...own, `${answer.run_id}: ${count(answer.seq, 'event')}, ${verdict}.`]
}

function checkLines(number: string, title: string, problems: readonly string[]): readonly string[] {
  if (problems.length === 0) return [`ok        ${number} ${oneLine(title)}`]
  const lines = problems.map((problem) => `             - ${oneLine(problem)}`)
  return [`FAILED    ${number} ${oneLine(title)}`, ...lines]
}
