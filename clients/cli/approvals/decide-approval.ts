import * as z from 'zod'
import { DECLARED_HEADER } from '../../../shared/auth/declared-client.ts'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RestartMode } from '../../../shared/runs/head.ts'
import type { Json } from '../../../shared/text/json.ts'
import { callApi, commandLine, type Target } from '../server/api.ts'
import type { Approval } from '../server/approval-schema.ts'
import type { View } from '../server/event-stream.ts'
import { fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { count } from '../terminal/format.ts'
import { requireConfirmation } from '../terminal/prompts.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine } from '../terminal/text.ts'
import { changeWarnings, chooseApproval } from './question-lines.ts'

interface Yes {
  readonly runId: string
  readonly approval: Approval
  readonly decision: 'approve' | 'waive' | 'reject'
  /** What a person sees before they answer. */
  readonly lines: readonly string[]
  /** Nobody is asked on a terminal. */
  readonly yes: boolean
  /** stdout carries the answer only. */
  readonly json: boolean
  readonly more: Partial<DecisionToSend>
}

/** Shows what is asked, asks for a yes to the decision on a terminal, and sends it with the digest of what was shown. */
export async function showAndDecide(session: Session, target: Target, given: Yes): Promise<Decided> {
  const { runId, approval, decision, lines, yes, json, more } = given
  const show = json ? session.warn : session.say
  for (const line of lines) show(line)
  const other = (words: string) =>
    commandLine(session, target, `run ${words} ${runId} --block ${approval.block_id} --feedback ".."`)
  if (decision === 'approve' && asksWaiver(approval)) {
    const detail = `Cannot approve what block ${approval.block_id} asks: its gates failed, a yes waives them and needs a reason: ${other('waive')}`
    throw new Refused({ code: 'waive_expected', detail })
  }
  const instead = decision === 'reject' ? 'Nothing was decided.' : `Nothing was decided. To reject: ${other('reject')}`
  await requireConfirmation(session, { question: QUESTION[decision], yes, instead })
  return sendDecision(target, runId, { approval, decision, by: yes ? 'cli --yes' : 'cli', ...more })
}

const QUESTION = { approve: 'Approve?', waive: 'Waive what failed?', reject: 'Reject?' } as const

export interface DecisionToSend {
  readonly approval: Pick<Approval, 'approval_id' | 'digest'>
  /** `waive`: the yes to a question about failed gates. */
  readonly decision: 'approve' | 'reject' | 'waive'
  readonly feedback?: string
  /** New values of inputs, with an approval. */
  readonly edits?: Readonly<Record<string, Json>>
  /** With a rejection: whether another run takes this one's place, and what it is given. */
  readonly iterate?: boolean
  readonly restart_mode?: RestartMode
  /** Of an agent's call, with an approval: later calls of its tool are not asked about. */
  readonly allow_rest?: true
  /** Of an agent's call, with a rejection: the agent does nothing more. */
  readonly stop?: true
  /** Recorded as declared: whether a person or an option said so. */
  readonly by: 'cli' | 'cli --yes'
}

const DecidedSchema = z.looseObject({
  approval: z.looseObject({ status: z.string(), votes: z.array(z.looseObject({})).optional() }),
  run: z.looseObject({ next_run: z.string().optional() }),
})
export type Decided = z.infer<typeof DecidedSchema>

/** Decides one approval, bound to what was shown by its digest; somebody else's earlier decision is a 409. */
export function sendDecision(target: Target, runId: string, sent: DecisionToSend): Promise<Decided> {
  const { approval, by, ...decision } = sent
  const request = {
    params: { path: { run_id: runId } },
    headers: { [DECLARED_HEADER]: by },
    body: { approval_id: approval.approval_id, digest: approval.digest, ...decision },
  }
  return callApi(target, DecidedSchema, (api) => api.POST('/api/dag/runs/{run_id}/approvals', request))
}

/** The type of each value that may be changed: a call of an agent has arguments that no document declares. */
export function editTypes(
  { dag }: RunAnswer,
  { block_id, edit_types }: Approval,
): Readonly<Record<string, { readonly type: string }>> {
  if (edit_types === undefined) return dag.blocks.find(({ id }) => id === block_id)?.inputs ?? {}
  return Object.fromEntries(Object.entries(edit_types).map(([port, type]) => [port, { type }]))
}

interface Said {
  readonly feedback?: string
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
  readonly stop?: true
}

/** What goes with a no. A restart mode alone means that there is to be another run. */
export function rejectionFields({ feedback, iterate, restartMode, stop }: Said): Partial<DecisionToSend> {
  const wanted = iterate ?? (restartMode === undefined ? undefined : true)
  return {
    ...(feedback !== undefined && { feedback }),
    ...(wanted !== undefined && { iterate: wanted }),
    ...(restartMode !== undefined && { restart_mode: restartMode }),
    ...(stop === true && { stop }),
  }
}

/** `Approved block deploy of run_..`; a vote that is not the last is told as one. */
export function decidedLine(decision: DecisionToSend['decision'], { approval }: Decided, what: string): string {
  if (approval.status !== 'pending') return `${DONE[decision]} ${what}.`
  const { votes = [] } = approval
  return `Voted for ${what}: ${votes.length === 1 ? '1 vote' : `${votes.length} votes`} so far, it waits for more.`
}

const DONE = { approve: 'Approved', reject: 'Rejected', waive: 'Waived the failed gates of' } as const

interface How {
  /** Approves, declared as `cli --yes`. */
  readonly yes: boolean
  /** What to say when a person is asked, instead of the usual command line. */
  asks?(runId: string): string
}

/** What a watched run's question gets: the approval of `--yes`, or a line on how to decide. */
export async function approveOrExplain(
  session: Session,
  target: Target,
  how: How,
  event: RunEvent,
  { note }: View,
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
  note: View['note'],
): Promise<void> {
  const approval = chooseApproval(await fetchRun(target, run_id), { approval: data.approval_id })
  const decided = await sendDecision(target, run_id, { approval, decision: 'approve', by: 'cli --yes' })
  for (const line of changeWarnings(approval)) note(line)
  note(`Block ${block_id} asks: ${oneLine(approval.prompt)} Approved because of --yes.`)
  const missing = data.quorum - (decided.approval.votes?.length ?? 0)
  if (decided.approval.status !== 'pending' || missing <= 0) return
  const command = commandLine(session, target, `run approve ${run_id} --block ${block_id}`)
  note(`That is one of ${data.quorum} people it waits for. ${count(missing, 'other')} must approve too: ${command}`)
}
