import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { Head, HeadApproval } from '../../../shared/runs/head.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const waivedUndecided: Mutant = {
  name: 'waived-undecided',
  what: 'a block goes on as if the gates it asks about were waived already',
  world(world, name) {
    if (name !== 'run-block') return world
    const { runs } = world
    const head: typeof runs.head = async (...asked) => {
      const real = await runs.head(...asked)
      return real === undefined ? undefined : waived(real)
    }
    return withPorts(world, { runs: { ...runs, head } })
  },
}

function waived(head: Head): Head {
  const approvals = Object.entries(head.approvals).map(([id, approval]) => [id, answered(approval)])
  return { ...head, approvals: Object.fromEntries(approvals) }
}

function answered(approval: HeadApproval): HeadApproval {
  const { status, expires_at } = approval
  if (status !== 'pending' || !asksWaiver(approval)) return approval
  return { ...approval, status: 'approved', decided_by: 'user:ana', decided_at: expires_at, via: 'api' }
}
