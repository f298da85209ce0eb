import { changedLines } from './asked-lines.ts'
import type { InboxApproval } from './fetch-approvals.ts'
import { questionLines } from './pending-approvals.ts'
import { cut, oneLine } from './plain-text.ts'
import { count, durationWords } from './words.ts'

/** One approval of the inbox on one line: id, risk or outcome, how long, where, what is asked. */
export function approvalLine(approval: InboxApproval, columns: number): string {
  const { approval_id, status, age_ms, dag_name, block_id, prompt, may_decide, risk } = approval
  const state = status === 'pending' ? `${risk.level} risk` : status
  const mine = status === 'pending' && !may_decide.allowed ? ' (not yours)' : ''
  const other = changedLines(approval).length > 0 ? ' (not as deployed)' : ''
  const what = oneLine(`${dag_name}/${block_id}${other}${mine}`)
  const times = durationWords(age_ms).padStart(11)
  return cut(`${oneLine(approval_id)}  ${oneLine(state).padEnd(11)}  ${times}  ${what}  ${oneLine(prompt)}`, columns)
}

/** All of it: what is asked and shown, at which risk and cost, and whether the caller may decide. */
export function approvalLines(approval: InboxApproval, command: string): readonly string[] {
  const { run_id, dag_name, risk, may_decide, status } = approval
  const mine =
    may_decide.allowed || status !== 'pending' ? [] : [`You may not decide: ${may_decide.reason ?? may_decide.code}`]
  const head = `Approval ${approval.approval_id} of run ${run_id} (${dag_name}): ${status}${outcomeWords(approval)}`
  return [
    head,
    ...changedLines(approval),
    `${status === 'pending' ? 'Waits' : 'Waited'} for ${durationWords(approval.age_ms)}.`,
    `Risk ${risk.level}: ${risk.because.join('; ')}.`,
    costLine(approval),
    ...mine,
  ]
    .map(oneLine)
    .concat(questionLines({ ...approval, reminded: approval.reminders }, 4_000, command))
}

function outcomeWords({ status, decided_by, decided_at, feedback }: InboxApproval): string {
  if (status === 'pending') return ''
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${by}${at}${feedback === undefined ? '' : `: ${feedback}`}`
}

function costLine({ cost }: InboxApproval): string {
  const { spent, to_come } = cost
  const before = `${count(spent.tokens, 'token')}, ${spent.usd === null ? 'at an unknown price' : `$${spent.usd}`}`
  const { tokens, usd } = to_come
  const after = usd === null ? 'at an unknown price' : `$${usd.expected}, $${usd.high} at the most`
  return `Spent so far: ${before}. To come after a yes: about ${tokens.expected} tokens, ${after}.`
}
