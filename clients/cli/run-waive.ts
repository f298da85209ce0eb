import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { requirePerson } from './ask-person.ts'
import { decideShown } from './decide-shown.ts'
import { decidedLine } from './decided-line.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval, shownLines } from './pending-approvals.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface WaiveOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback: string
  readonly yes?: true
}

export function addWaive(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'show which gates failed, and let the block go on in spite of them'
  withTarget(parent.command('waive', hidden).description(words))
    .argument('<run-id>')
    .requiredOption('--feedback <text>', 'why: recorded with the decision and with each verdict')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((runId: string, options: WaiveOptions) => waive(session, runId, options))
}

async function waive(session: Session, runId: string, options: WaiveOptions): Promise<void> {
  const { feedback, yes = false, json = false } = options
  requirePerson(session, 'waive', yes)
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  const lines = shownLines(approval, 4_000, session.settings.command)
  const more = { feedback }
  const decided = await decideShown(session, target, { runId, approval, decision: 'waive', lines, yes, json, more })
  session.say(json ? jsonText(decided, 2) : decidedLine('waive', decided, `block ${approval.block_id} of ${runId}`))
}
