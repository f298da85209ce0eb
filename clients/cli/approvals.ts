import type { Command } from 'commander'
import { addApprovalsDecide } from './approvals-decide.ts'
import { addApprovalsExport } from './approvals-export.ts'
import { addApprovalsList } from './approvals-list.ts'
import { addApprovalsShow } from './approvals-show.ts'
import type { Session } from './session.ts'

/** `sluice approvals ..`: the inbox over all runs, and the record of what was decided. */
export function addApprovals(parent: Command, session: Session): void {
  const approvals = parent.command('approvals').description('what people are asked over all runs')
  addApprovalsList(approvals, session)
  addApprovalsShow(approvals, session)
  addApprovalsDecide(approvals, session)
  addApprovalsExport(approvals, session)
}
