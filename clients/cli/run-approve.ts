import { createInterface } from 'node:readline/promises'
import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { commandLine } from './command-line.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { chooseApproval, shownLines } from './pending-approvals.ts'
import { Refused } from './refused.ts'
import { sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface ApproveOptions extends TargetOptions {
  readonly block?: string
  readonly approval?: string
  readonly feedback?: string
  readonly yes?: true
}

export function addApprove(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('approve', hidden).description('show what a run asks, and approve it'))
    .argument('<run-id>')
    .option('--block <id>', 'which block, when several wait')
    .option('--approval <id>', 'which approval, when several wait')
    .option('--feedback <text>', 'a remark recorded with the decision')
    .option('--yes', 'do not ask on a terminal')
    .action((runId: string, options: ApproveOptions) => approve(session, runId, options))
}

async function approve(session: Session, runId: string, options: ApproveOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const approval = chooseApproval(await fetchRun(target, runId), options)
  // With --json stdout carries the answer only.
  const show = options.json === true ? session.warn : session.say
  for (const line of shownLines(approval, 4_000, session.settings.command)) show(line)
  if (options.yes !== true && session.asks && !(await saysYes())) {
    const detail = `Nothing was decided. To reject: ${commandLine(session, target, `run reject ${runId} --block ${approval.block_id} --feedback ".."`)}`
    throw new Refused({ code: 'not_confirmed', detail })
  }
  const decided = await sendDecision(target, runId, {
    approval,
    decision: 'approve',
    via: options.yes === true ? 'cli --yes' : 'cli',
    ...(options.feedback !== undefined && { feedback: options.feedback }),
  })
  session.say(options.json === true ? jsonText(decided, 2) : `Approved block ${approval.block_id} of ${runId}.`)
}

async function saysYes(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question('Approve? [y/n] ')).trim())
  } finally {
    terminal.close()
  }
}
