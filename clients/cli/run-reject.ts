import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval } from './pending-approvals.ts'
import { sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface RejectOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
}

export function addReject(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('reject', hidden).description('reject what a run asks'))
    .argument('<run-id>')
    .option('--feedback <text>', 'why: recorded with the decision')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .action((runId: string, options: RejectOptions) => reject(session, runId, options))
}

async function reject(session: Session, runId: string, options: RejectOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  const decided = await sendDecision(target, runId, {
    approval,
    decision: 'reject',
    via: 'cli',
    ...(options.feedback !== undefined && { feedback: options.feedback }),
  })
  session.say(options.json === true ? jsonText(decided, 2) : `Rejected block ${approval.block_id} of ${runId}.`)
}
