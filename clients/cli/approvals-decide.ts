import { type Command, Option } from 'commander'
import { RESTART_MODES, type RestartMode } from '../../shared/runs/head.ts'
import { chooseTarget, type Target } from './api.ts'
import { approvalLines } from './approval-lines.ts'
import { decideShown } from './decide-shown.ts'
import { decidedLine } from './decided-line.ts'
import { fetchApproval, type InboxApproval } from './fetch-approvals.ts'
import { jsonText } from './json-text.ts'
import { Refused } from './refused.ts'
import { rejection } from './rejection.ts'
import { type Decided, sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface DecideOptions extends TargetOptions {
  readonly feedback?: string
  readonly yes?: true
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
}

export function addApprovalsDecide(parent: Command, session: Session): void {
  withTarget(parent.command('approve').description('show what is asked, and approve: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'a remark recorded with each decision')
    .option('--yes', 'do not ask on a terminal')
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'approve', ids, options))
  const modes = new Option('--restart-mode <mode>', 'what that run is given: results and feedback, or feedback alone')
  withTarget(parent.command('reject').description('reject what is asked: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'why: recorded with each decision')
    .option('--iterate', 'another run takes the place of the run, where on_reject is iterate')
    .option('--no-iterate', 'the block fails all the same')
    .addOption(modes.choices(RESTART_MODES))
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'reject', ids, options))
}

type Result = { readonly approval_id: string } & (
  | { readonly decided: true; readonly run_id: string; readonly status: string }
  | { readonly decided: false; readonly code: string; readonly detail: string }
)

/** One that cannot be decided is reported and hides no other; the exit code is 1 then. */
async function decideEach(
  session: Session,
  decision: 'approve' | 'reject',
  ids: readonly string[],
  options: DecideOptions,
): Promise<void> {
  const target = chooseTarget(session, options.url)
  const results: Result[] = []
  for (const id of new Set(ids)) {
    const result = await decideOne(session, target, decision, id, options)
    results.push(result)
    if (options.json !== true && !result.decided) session.warn(`${id}: NOT decided [${result.code}] ${result.detail}`)
  }
  if (options.json === true) session.say(jsonText({ results }, 2))
  if (results.some(({ decided }) => !decided)) process.exitCode = 1
}

async function decideOne(
  session: Session,
  target: Target,
  decision: 'approve' | 'reject',
  id: string,
  options: DecideOptions,
): Promise<Result> {
  try {
    const approval = await fetchApproval(target, id)
    const decided =
      decision === 'approve' ? approveOne(session, target, approval, options) : rejectOne(target, approval, options)
    const answer = await decided
    const what = `block ${approval.block_id} of ${approval.run_id}`
    if (options.json !== true) session.say(`${id}: ${decidedLine(decision, answer, what)}`)
    return { approval_id: id, decided: true, run_id: approval.run_id, status: answer.approval.status }
  } catch (error) {
    // Without a server nothing else will work either.
    if (!(error instanceof Refused) || (error.status === undefined && !OF_ONE.has(error.reason.code))) throw error
    return { approval_id: id, decided: false, code: error.reason.code, detail: error.reason.detail }
  }
}

/** What the CLI itself says of one approval. */
const OF_ONE: ReadonlySet<string> = new Set(['unknown_approval', 'not_confirmed', 'waive_expected', 'already_decided'])

function approveOne(
  session: Session,
  target: Target,
  approval: InboxApproval,
  options: DecideOptions,
): Promise<Decided> {
  const { feedback, yes = false, json = false } = options
  const lines = approvalLines(approval, session.settings.command)
  const more = feedback === undefined ? {} : { feedback }
  requirePending(approval)
  return decideShown(session, target, { runId: approval.run_id, approval, decision: 'approve', lines, yes, json, more })
}

function rejectOne(target: Target, approval: InboxApproval, options: DecideOptions): Promise<Decided> {
  requirePending(approval)
  return sendDecision(target, approval.run_id, { approval, decision: 'reject', via: 'cli', ...rejection(options) })
}

/** Nobody is asked about what is over. */
function requirePending({ approval_id, status, decided_by, decided_at }: InboxApproval): void {
  if (status === 'pending') return
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  const detail = `Cannot decide approval "${approval_id}": it is already ${status}${by}${at}.`
  throw new Refused({ code: 'already_decided', detail })
}
