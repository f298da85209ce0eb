import type { Command } from 'commander'
import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import { chooseTarget } from './api.ts'
import { approvalLines } from './approval-lines.ts'
import { commandLine } from './command-line.ts'
import { fetchApproval } from './fetch-approvals.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addApprovalsShow(parent: Command, session: Session): void {
  withTarget(parent.command('show').description('all of one approval: what is asked and shown, risk, cost, votes'))
    .argument('<approval-id>')
    .action((id: string, options: TargetOptions) => show(session, id, options))
}

async function show(session: Session, id: string, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const approval = await fetchApproval(target, id)
  if (json === true) return session.say(jsonText(approval, 2))
  for (const line of approvalLines(approval, session.settings.command)) session.say(line)
  if (approval.status !== 'pending' || !approval.may_decide.allowed) return
  const waive = `run waive ${approval.run_id} --approval ${id} --feedback ".."`
  session.say(`Decide: ${commandLine(session, target, asksWaiver(approval) ? waive : `approvals approve ${id}`)}`)
}
