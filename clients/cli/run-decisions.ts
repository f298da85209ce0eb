import type { Command, CommandOptions } from 'commander'
import { addApprove } from './run-approve.ts'
import { addReject } from './run-reject.ts'
import { addWaive } from './run-waive.ts'
import type { Session } from './session.ts'

/** The answers to an approval. */
export function addDecisions(parent: Command, session: Session, hidden?: CommandOptions): void {
  addApprove(parent, session, hidden)
  addReject(parent, session, hidden)
  addWaive(parent, session, hidden)
}
