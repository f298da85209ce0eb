import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import type { Target } from './api.ts'
import { changedLines, progressLines } from './asked-lines.ts'
import { commandLine } from './command-line.ts'
import type { RunAnswer } from './fetch-run.ts'
import { pendingApprovals } from './pending-approvals.ts'
import type { Session } from './session.ts'

/** Of each open question: in what its run is not as deployed, until when people are asked, how far they are, and how to decide. */
export function waitingLines(session: Session, target: Target, answer: RunAnswer): readonly string[] {
  const { run_id } = answer.run
  const open = pendingApprovals(answer)
  return open.flatMap((approval) => {
    const { block_id, expires_at } = approval
    const which = open.length > 1 ? ` --block ${block_id}` : ''
    const [what, words] = asksWaiver(approval)
      ? ['a waiver of failed gates', `run waive ${run_id}${which} --feedback ".."`]
      : ['approval', `run approve ${run_id}${which}`]
    const line = `Block ${block_id} waits for ${what} until ${expires_at}: ${commandLine(session, target, words)}`
    return [...changedLines(approval), line, ...progressLines(approval)]
  })
}
