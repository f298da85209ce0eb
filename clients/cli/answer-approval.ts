import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Target } from './api.ts'
import { changedLines } from './asked-lines.ts'
import { commandLine } from './command-line.ts'
import { fetchRun } from './fetch-run.ts'
import { chooseApproval } from './pending-approvals.ts'
import { oneLine } from './plain-text.ts'
import { Refused } from './refused.ts'
import { sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'
import { count } from './words.ts'

interface How {
  /** Approves, declared as `cli --yes`. */
  readonly yes: boolean
  /** What to say when a person is asked, instead of the usual command line. */
  asks?(runId: string): string
}

/** What a watched run's question gets: the approval of `--yes`, or a line on how to decide. */
export async function answerApproval(
  session: Session,
  target: Target,
  how: How,
  { event, note }: { readonly event: RunEvent; readonly note: (text: string) => void },
): Promise<void> {
  if (event.type !== 'approval:requested') return
  const { run_id, block_id, data } = event
  if (asksWaiver(data)) {
    // A waiver has a reason, and an option gives none.
    const command = commandLine(session, target, `run waive ${run_id} --block ${block_id} --feedback ".."`)
    note(`Gates of block ${block_id} failed, and it waits for a person to waive them: ${command}`)
    return
  }
  if (!how.yes) {
    const command = commandLine(session, target, `run approve ${run_id}`)
    note(how.asks?.(run_id) ?? `Block ${block_id} waits for a person: ${command}`)
    return
  }
  try {
    await approveByOption(session, target, event, note)
  } catch (error) {
    // Somebody else was faster, or the run has ended: the next events say so.
    if (!(error instanceof Refused) || !(error.status === 409 || error.reason.code === 'nothing_pending')) throw error
  }
}

/** As `--yes` says, with what the run is not as deployed told first. */
async function approveByOption(
  session: Session,
  target: Target,
  { run_id, block_id, data }: Extract<RunEvent, { readonly type: 'approval:requested' }>,
  note: (text: string) => void,
): Promise<void> {
  const approval = chooseApproval(await fetchRun(target, run_id), { approval: data.approval_id })
  const decided = await sendDecision(target, run_id, { approval, decision: 'approve', by: 'cli --yes' })
  for (const line of changedLines(approval)) note(line)
  note(`Block ${block_id} asks: ${oneLine(approval.prompt)} Approved because of --yes.`)
  const missing = data.quorum - (decided.approval.votes?.length ?? 0)
  if (decided.approval.status !== 'pending' || missing <= 0) return
  const command = commandLine(session, target, `run approve ${run_id} --block ${block_id}`)
  note(`That is one of ${data.quorum} people it waits for. ${count(missing, 'other')} must approve too: ${command}`)
}
