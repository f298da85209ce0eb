import type { Command, CommandOptions } from 'commander'
import type * as z from 'zod'
import { VERIFY_RUN } from '../../shared/api/verify-run.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { oneLine } from './plain-text.ts'
import { readFile } from './read-file.ts'
import { recomputeHere } from './recompute-here.ts'
import type { Recomputed } from './recompute-run.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { count } from './words.ts'

/** A server of before there were anchors says nothing of them. */
const AnswerSchema = VERIFY_RUN.answer.extend({ anchor: VERIFY_RUN.answer.shape.anchor.default(null) }).loose()
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
  const answer = await callApi(target, AnswerSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/verify', { params: { path: { run_id: runId } } }),
  )
  const recomputed = await recomputeHere(target, runId, answer, file)
  const ok = answer.ok && recomputed.every(({ problems }) => problems.length === 0)
  if (json === true) session.say(jsonText({ ...answer, ok, recomputed }, 2))
  else for (const line of linesOf(answer, recomputed, ok)) session.say(line)
  if (!ok) process.exitCode = 100
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
  return [
    ...server,
    ...own,
    ...anchorLines(answer.anchor),
    `${answer.run_id}: ${count(answer.seq, 'event')}, ${verdict}.`,
  ]
}

/** What anybody who may read the bucket can look up without us. */
function anchorLines(anchor: Answer['anchor']): readonly string[] {
  if (anchor === null) return []
  const { seq, hash, written_at, locked_until = 'nothing, it is not locked', key, version_id } = anchor
  return [
    `anchored at event ${seq}: ${hash}`,
    oneLine(`  in ${key} (version ${version_id}), written ${written_at}, locked until ${locked_until}`),
  ]
}

function checkLines(number: string, title: string, problems: readonly string[]): readonly string[] {
  if (problems.length === 0) return [`ok        ${number} ${oneLine(title)}`]
  const lines = problems.map((problem) => `             - ${oneLine(problem)}`)
  return [`FAILED    ${number} ${oneLine(title)}`, ...lines]
}
