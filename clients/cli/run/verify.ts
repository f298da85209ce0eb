import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { VERIFY_RUN } from '../../../shared/api/verify-routes.ts'
import { proofOf } from '../../../shared/runs/erasure.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'
import { SHOWN_STATES } from '../../../shared/runs/head.ts'
import type { RunFold } from '../../../shared/runs/run-fold.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { AuditedRunSchema, auditProblems, auditRun } from '../approvals/audit.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { fetchEvents } from '../server/fetch-run.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

/** A server of before there were anchors says nothing of them. */
const AnswerSchema = VERIFY_RUN.answer.extend({ anchor: VERIFY_RUN.answer.shape.anchor.default(null) }).loose()
type Answer = z.infer<typeof AnswerSchema>

export function addVerify(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'check everything stored of a run: its hash chain and its invariants; exit code 100 when one fails'
  withReadingOptions(parent.command('verify', hidden).description(words))
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
  const recomputed =
    answer.erasure === undefined
      ? await recomputeHere(target, runId, answer, file)
      : [recomputeErasure(runId, answer.erasure)]
  const ok = answer.ok && recomputed.every(({ problems }) => problems.length === 0)
  if (json === true) session.say(jsonText({ ...answer, ok, recomputed }, 2))
  else for (const line of linesOf(answer, recomputed, ok)) session.say(line)
  if (!ok) process.exitCode = 100
}

/** The record alone: there is nothing else left to compute it of. */
function recomputeErasure(runId: string, erasure: NonNullable<Answer['erasure']>): Recomputed {
  const isClosed = erasure.step === 'erased' && proofOf(runId, erasure) === erasure.proof
  return {
    title: 'record of the erasure',
    problems: isClosed
      ? []
      : [`the record of run ${runId} is at "${erasure.step}", or it was changed after it was closed`],
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

type ChainEnds = Pick<Parameters<typeof recomputeRun>[0], 'seal' | 'anchor'>

/** What this command works out by itself; what cannot be read at all is found, too. `audit`: an exported record. */
async function recomputeHere(
  target: Target,
  runId: string,
  { seal, anchor }: ChainEnds,
  audit: string | undefined,
): Promise<readonly Recomputed[]> {
  try {
    const run = await callApi(target, FoldedRunSchema.and(AuditedRunSchema), (api) =>
      api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
    )
    const events = await fetchEvents(target, runId)
    const own = recomputeRun({ events, run, seal, anchor })
    if (audit === undefined) return own
    return [...own, { title: 'record of decisions', problems: auditProblems(audit, runId, auditRun(run, events)) }]
  } catch (error) {
    if (!(error instanceof Refused) || error.status === undefined || error.status < 500) throw error
    return [{ title: 'replay: every event once, in order', problems: [error.reason.detail] }]
  }
}

const text = z.string()

/** What is compared of GET run; a newer server may say more. */
const FoldedRunSchema = z.looseObject({
  run: z.looseObject({ state: text, last_seq: z.int(), tokens: z.number() }),
  blocks: z.record(text, z.looseObject({ state: text, attempt: z.int(), epoch: z.int() })),
  steps: z.array(z.looseObject({ block_id: text })),
})
type FoldedRun = z.infer<typeof FoldedRunSchema>

interface Answers {
  readonly events: readonly RunEvent[]
  readonly run: FoldedRun
  readonly seal: ChainEnd | null
  readonly anchor: ChainEnd | null
}

interface ChainEnd {
  readonly seq: number
  readonly hash: string
}

/** One thing this command worked out by itself, and what was wrong with the server's answer. */
interface Recomputed {
  readonly title: string
  readonly problems: readonly string[]
}

/** The chain and the fold, from the replayed events alone: whoever changed the store cannot also have told us so. */
function recomputeRun({ events, run, seal, anchor }: Answers): readonly Recomputed[] {
  return [
    { title: 'replay: every event once, in order', problems: orderProblems(events) },
    { title: 'hash chain of the replay', problems: seal === null ? [] : chainProblems(events, seal) },
    ...(anchor === null ? [] : [{ title: 'anchor of the replay', problems: anchorProblems(events, anchor) }]),
    { title: 'fold of the replay = GET run', problems: foldProblems(events, run) },
  ]
}

function orderProblems(events: readonly RunEvent[]): readonly string[] {
  const at = events.findIndex(({ seq }, i) => seq !== i + 1)
  return at < 0 ? [] : [`event ${events[at]?.seq} came where event ${at + 1} was due`]
}

function chainProblems(events: readonly RunEvent[], { seq, hash }: ChainEnd): readonly string[] {
  if (events.length < seq) return [`the chain is closed at event ${seq}, the replay has ${events.length} events`]
  const own = hashAfter(events.slice(0, seq))
  return own === hash ? [] : [`at event ${seq} the chain is ${own}, the server says ${hash}`]
}

function anchorProblems(events: readonly RunEvent[], { seq, hash }: ChainEnd): readonly string[] {
  if (events.length !== seq) return [`the run was anchored at event ${seq}, the replay has ${events.length} events`]
  const own = hashAfter(events)
  return own === hash ? [] : [`at event ${seq} the chain is ${own}, the anchor says ${hash}`]
}

/** GET run was asked first: what happened since is not in it. */
function foldProblems(events: readonly RunEvent[], { run, blocks, steps }: FoldedRun): readonly string[] {
  if (orderProblems(events).length > 0) return ['the replay has gaps: there is nothing to fold']
  const fold = foldRun(events.slice(0, run.last_seq))
  const wrong: string[] = []
  if (stateOf(run.state) !== fold.state) wrong.push(`GET run says ${run.state}, the fold ${fold.state}`)
  if (run.tokens !== fold.tokens) wrong.push(`GET run says ${run.tokens} tokens, the fold ${fold.tokens}`)
  if (run.last_seq !== fold.seq) wrong.push(`GET run is of event ${run.last_seq}, the replay ends at ${fold.seq}`)
  if (canonicalJson(steps) !== canonicalJson(fold.steps)) wrong.push('the steps differ')
  return [...wrong, ...Object.entries(blocks).flatMap(([id, block]) => blockProblems(id, block, fold))]
}

/** These are derived from what is stored: to a fold each is a running run. */
const LIVE: ReadonlySet<string> = new Set(SHOWN_STATES)

function stateOf(shown: string): string {
  return LIVE.has(shown) ? 'running' : shown
}

function blockProblems(id: string, block: FoldedRun['blocks'][string], fold: RunFold): readonly string[] {
  const unseen = fold.state === 'running' ? 'pending' : 'cancelled'
  const told = Object.hasOwn(fold.blocks, id) ? fold.blocks[id] : undefined
  const { state, attempt, epoch } = told ?? { state: unseen, attempt: 0, epoch: 0 }
  if (block.state === state && block.attempt === attempt && block.epoch === epoch) return []
  return [`block "${id}" is ${block.state} (attempt ${block.attempt}), the fold says ${state} (attempt ${attempt})`]
}
