import { type Command, type CommandOptions, Option } from 'commander'
import { RESTART_MODES, type RestartMode } from '../../shared/runs/head.ts'
import { chooseTarget } from './api.ts'
import { requirePerson } from './ask-person.ts'
import { decideShown } from './decide-shown.ts'
import { decidedLine } from './decided-line.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval, shownLines } from './pending-approvals.ts'
import { rejection } from './rejection.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface RejectOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
  readonly yes?: true
  /** Absent: as the document says. */
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
}

export function addReject(parent: Command, session: Session, hidden?: CommandOptions): void {
  const modes = new Option('--restart-mode <mode>', 'what that run is given: results and feedback, or feedback alone')
  withTarget(parent.command('reject', hidden).description('reject what a run asks'))
    .argument('<run-id>')
    .option('--feedback <text>', 'why: recorded with the decision')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .option('--iterate', 'another run takes the place of this one, where on_reject is iterate')
    .option('--no-iterate', 'the block fails all the same')
    .addOption(modes.choices(RESTART_MODES))
    .action((runId: string, options: RejectOptions) => reject(session, runId, options))
}

async function reject(session: Session, runId: string, options: RejectOptions): Promise<void> {
  const { yes = false, json = false } = options
  requirePerson(session, 'reject', yes)
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  const lines = shownLines(approval, 4_000, session.settings.command)
  const more = rejection(options)
  const decided = await decideShown(session, target, { runId, approval, decision: 'reject', lines, yes, json, more })
  const what = `block ${approval.block_id} of ${runId}`
  session.say(options.json === true ? jsonText(decided, 2) : decidedLine('reject', decided, what))
}
