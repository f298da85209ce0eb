import { type Command, type CommandOptions, Option } from 'commander'
import { RESTART_MODES, type RestartMode } from '../../../shared/runs/head.ts'
import { chooseTarget } from '../server/api.ts'
import { fetchRun } from '../server/fetch-run.ts'
import { readEdits } from '../terminal/input-values.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { requireTerminalOrYes } from '../terminal/prompts.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { decidedLine, editTypes, rejectionFields, showAndDecide } from './decide-approval.ts'
import { chooseApproval, questionWithWarnings } from './question-lines.ts'

/** The answers to an approval. */
export function addDecisionCommands(parent: Command, session: Session, hidden?: CommandOptions): void {
  addApprove(parent, session, hidden)
  addReject(parent, session, hidden)
  addWaive(parent, session, hidden)
}

interface ApproveOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
  readonly edit?: readonly string[]
  readonly allowRest?: true
  readonly yes?: true
}

function addApprove(parent: Command, session: Session, hidden?: CommandOptions): void {
  const edit = 'change an input that may be changed; repeat it'
  withTargetOptions(parent.command('approve', hidden).description('show what a run asks, and approve it'))
    .argument('<run-id>')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--feedback <text>', 'a remark recorded with the decision')
    .option('--edit <port=value>', edit, (pair, pairs: string[] = []) => [...pairs, pair])
    .option('--allow-rest', "of an agent's call: later calls of the tool in this run are not asked about")
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((runId: string, options: ApproveOptions) => approve(session, runId, options))
}

async function approve(session: Session, runId: string, options: ApproveOptions): Promise<void> {
  const { feedback, edit = [], allowRest, yes = false, json = false } = options
  requireTerminalOrYes(session, 'approve', yes)
  const target = chooseTarget(session, options.url)
  const answer = await fetchRun(target, runId)
  const approval = chooseApproval(answer, options)
  const { block_id } = approval
  const edits = readEdits(edit, editTypes(answer, approval))
  const lines = questionWithWarnings(approval, 4_000, session.settings.command)
  const more = {
    ...(feedback !== undefined && { feedback }),
    ...(edit.length > 0 && { edits }),
    ...(allowRest && { allow_rest: allowRest }),
  }
  const decided = await showAndDecide(session, target, { runId, approval, decision: 'approve', lines, yes, json, more })
  session.say(json ? jsonText(decided, 2) : decidedLine('approve', decided, `block ${block_id} of ${runId}`))
}

interface RejectOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
  readonly yes?: true
  /** Absent: as the document says. */
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
  readonly stop?: true
}

function addReject(parent: Command, session: Session, hidden?: CommandOptions): void {
  const modes = new Option('--restart-mode <mode>', 'what that run is given: results and feedback, or feedback alone')
  withTargetOptions(parent.command('reject', hidden).description('reject what a run asks'))
    .argument('<run-id>')
    .option('--feedback <text>', 'why: recorded with the decision')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .option('--iterate', 'another run takes the place of this one, where on_reject is iterate')
    .option('--no-iterate', 'the block fails all the same')
    .option('--stop', "of an agent's call: the agent does nothing more, and its block fails")
    .addOption(modes.choices(RESTART_MODES))
    .action((runId: string, options: RejectOptions) => reject(session, runId, options))
}

async function reject(session: Session, runId: string, options: RejectOptions): Promise<void> {
  const { yes = false, json = false } = options
  requireTerminalOrYes(session, 'reject', yes)
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  const lines = questionWithWarnings(approval, 4_000, session.settings.command)
  const more = rejectionFields(options)
  const decided = await showAndDecide(session, target, { runId, approval, decision: 'reject', lines, yes, json, more })
  const what = `block ${approval.block_id} of ${runId}`
  session.say(options.json === true ? jsonText(decided, 2) : decidedLine('reject', decided, what))
}

interface WaiveOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback: string
  readonly yes?: true
}

function addWaive(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'show which gates failed, and let the block go on in spite of them'
  withTargetOptions(parent.command('waive', hidden).description(words))
    .argument('<run-id>')
    .requiredOption('--feedback <text>', 'why: recorded with the decision and with each verdict')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((runId: string, options: WaiveOptions) => waive(session, runId, options))
}

async function waive(session: Session, runId: string, options: WaiveOptions): Promise<void> {
  const { feedback, yes = false, json = false } = options
  requireTerminalOrYes(session, 'waive', yes)
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  const lines = questionWithWarnings(approval, 4_000, session.settings.command)
  const more = { feedback }
  const decided = await showAndDecide(session, target, { runId, approval, decision: 'waive', lines, yes, json, more })
  session.say(json ? jsonText(decided, 2) : decidedLine('waive', decided, `block ${approval.block_id} of ${runId}`))
}
