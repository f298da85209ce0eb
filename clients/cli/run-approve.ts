import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { requirePerson } from './ask-person.ts'
import { decideShown } from './decide-shown.ts'
import { decidedLine } from './decided-line.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval, shownLines } from './pending-approvals.ts'
import { readEdits } from './read-edits.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface ApproveOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
  readonly edit?: readonly string[]
  readonly yes?: true
}

export function addApprove(parent: Command, session: Session, hidden?: CommandOptions): void {
  const edit = 'change an input that may be changed; repeat it'
  withTarget(parent.command('approve', hidden).description('show what a run asks, and approve it'))
    .argument('<run-id>')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--feedback <text>', 'a remark recorded with the decision')
    .option('--edit <port=value>', edit, (pair, pairs: string[] = []) => [...pairs, pair])
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((runId: string, options: ApproveOptions) => approve(session, runId, options))
}

async function approve(session: Session, runId: string, options: ApproveOptions): Promise<void> {
  const { feedback, edit = [], yes = false, json = false } = options
  requirePerson(session, 'approve', yes)
  const target = chooseTarget(session, options.url)
  const answer = await fetchRun(target, runId)
  const approval = chooseApproval(answer, options)
  const { block_id } = approval
  const edits = readEdits(edit, answer.dag.blocks.find(({ id }) => id === block_id)?.inputs ?? {})
  const lines = shownLines(approval, 4_000, session.settings.command)
  const more = { ...(feedback !== undefined && { feedback }), ...(edit.length > 0 && { edits }) }
  const decided = await decideShown(session, target, { runId, approval, decision: 'approve', lines, yes, json, more })
  session.say(json ? jsonText(decided, 2) : decidedLine('approve', decided, `block ${block_id} of ${runId}`))
}
