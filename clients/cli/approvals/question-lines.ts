import { changeLines, NOT_PLAIN } from '../../../shared/approvals/run-change-lines.ts'
import { viaWords } from '../../../shared/auth/principal.ts'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import { agentItemWords, questionItem } from '../../../shared/runs/turns-and-calls.ts'
import type { Approval } from '../server/approval-schema.ts'
import type { RunAnswer } from '../server/fetch-run.ts'
import { count } from '../terminal/format.ts'
import { Refused } from '../terminal/refused.ts'
import { oneLine, plainText } from '../terminal/text.ts'

interface Choice {
  readonly block?: string
  readonly approval?: string
}

export function pendingApprovals(answer: RunAnswer): readonly Approval[] {
  return answer.approvals.filter(({ status }) => status === 'pending')
}

/**
 * The pending approval a person means: the only one, or the one named by block or approval id. Exit code 2 when
 * several are pending and none is named, 1 when there is none.
 */
export function chooseApproval(answer: RunAnswer, { block, approval }: Choice): Approval {
  const pending = pendingApprovals(answer)
  const named = block !== undefined || approval !== undefined
  const fitting = pending.filter(
    (one) => (block ?? one.block_id) === one.block_id && (approval ?? one.approval_id) === one.approval_id,
  )
  const [first, second] = fitting
  if (first !== undefined && second === undefined) return first
  if (first !== undefined) throw severalPending(answer, fitting)
  throw nothingPending(answer, named ? pending : [])
}

/** `Block deploy`, `Call 2 of turn 3 (crm.refund) of block solve`. */
export function askedWords({
  approval_id,
  block_id,
  tool,
}: Pick<Approval, 'approval_id' | 'block_id' | 'tool'>): string {
  const item = questionItem(approval_id)
  if (item === undefined) return `Block ${block_id}`
  const words = agentItemWords(item, tool)
  return oneLine(`${words.slice(0, 1).toUpperCase()}${words.slice(1)} of block ${block_id}`)
}

function severalPending(answer: RunAnswer, fitting: readonly Approval[]): Refused {
  const errors = fitting.map((one) => ({
    path: one.block_id,
    message: oneLine(one.prompt),
    hint:
      fitting.filter(({ block_id }) => block_id === one.block_id).length > 1
        ? `--approval ${one.approval_id}`
        : `--block ${one.block_id}, or --approval ${one.approval_id}`,
  }))
  const detail = `Cannot tell which approval of ${answer.run.run_id} is meant: ${fitting.length} are pending. Name one with --block or --approval.`
  return new Refused({ code: 'several_pending', detail, errors }, { exitCode: 2 })
}

function nothingPending(answer: RunAnswer, others: readonly Approval[]): Refused {
  const { run_id, state } = answer.run
  const decided = answer.approvals.filter(({ status }) => status !== 'pending').map(decidedWords)
  const seen =
    others.length > 0
      ? `that approval of ${run_id} is not pending. Pending: ${others.map(({ block_id }) => block_id).join(', ')}.`
      : `no approval of ${run_id} is pending, the run is ${state}.`
  const detail = [`Cannot decide: ${seen}`, ...decided]
  return new Refused({ code: 'nothing_pending', detail: detail.join(' ') })
}

function decidedWords(approval: Approval): string {
  const { block_id, decided_by, decided_at } = approval
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  return `Block ${block_id} was ${outcomeWord(approval)}${by}${decided_at === undefined ? '' : ` at ${decided_at}`}.`
}

/** What a person is asked to approve: first in what the run is not as deployed, then the question itself. */
export function questionWithWarnings(approval: Approval, most = 4_000, command = 'sluice'): readonly string[] {
  return [...changeWarnings(approval), ...questionLines(approval, most, command)]
}

/**
 * The question: the prompt, then every shown value whole up to `most` characters, indented, so that
 * no line of a value looks like the name of another one.
 */
export function questionLines(approval: Approval, most = 4_000, command = 'sluice'): readonly string[] {
  const values = Object.entries(approval.shown).flatMap(([port, value]) => [
    `--- ${port}`,
    ...valueLines(value, most, command).map((line) => `  ${line}`),
  ])
  const head = [`${askedWords(approval)} asks: ${oneLine(approval.prompt)}`, `Expires ${approval.expires_at}.`]
  return [...head, ...askedLines(approval), ...values, '---'].map(plainText)
}

function valueLines(value: unknown, most: number, command: string): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  if (text.length <= most) return text.split('\n')
  const rest = `… ${text.length - most} more characters: ${command} run status --json shows all of it`
  return [...text.slice(0, most).split('\n'), rest]
}

/** In what the run is not what is deployed: it comes before the words of the question. Empty = it is a plain start. */
export function changeWarnings({ changes = {} }: Pick<Approval, 'changes'>): readonly string[] {
  const lines = changeLines(changes)
  return lines.length === 0 ? [] : [`!! ${NOT_PLAIN}:`, ...lines.map((line) => `!! ${oneLine(line)}`)]
}

/** What a person has to know of a question besides its words and values; safe to print. */
function askedLines(approval: Approval): readonly string[] {
  const { gates = [], raise, edit = [], edit_types = {}, allow_rest, on_timeout } = approval
  const failed = gates.map(({ name, reason }) => `Failed gate ${name}: ${reason}`)
  const waives = asksWaiver(approval) ? ['A yes waives what failed: it needs `run waive` and a reason.'] : []
  const raises = raise === undefined ? [] : [`A yes raises the budget of the run to ${capWords(raise)}.`]
  const fields = edit.map((port) => (edit_types[port] === undefined ? port : `${port} (${edit_types[port]})`))
  const edits = fields.length === 0 ? [] : [`May be changed with \`run approve --edit\`: ${fields.join(', ')}.`]
  const rest =
    allow_rest === true ? ['`run approve --allow-rest`: later calls of it in this run are not asked about.'] : []
  const timeout = on_timeout === 'approve' ? ['It is approved by itself if nobody decides in time.'] : []
  return [...failed, ...waives, ...raises, ...edits, ...rest, ...timeout, ...progressLines(approval)].map(oneLine)
}

/** How far it is: votes, reminders, who else may decide. */
export function progressLines({
  quorum = 1,
  votes = [],
  reminded = 0,
  escalated_to = [],
}: Approval): readonly string[] {
  const voted = votes.map(({ by, via, declared, at }) => `${by} ${viaWords(via, declared)} at ${at}`).join(', ')
  const lines = [
    ...(quorum > 1 ? [`${votes.length} of ${quorum} approved${voted === '' ? '' : `: ${voted}`}.`] : []),
    ...(reminded > 0 ? [`Reminded ${count(reminded, 'time')}.`] : []),
    ...(escalated_to.length > 0 ? [`Escalated: ${escalated_to.join(', ')} may decide too.`] : []),
  ]
  return lines.map(oneLine)
}

/** What became of it: a yes to gates that failed is a waiver. */
export function outcomeWord(approval: Pick<Approval, 'about' | 'status'>): string {
  return approval.status === 'approved' && asksWaiver(approval) ? 'waived' : approval.status
}

function capWords({ tokens, usd }: NonNullable<Approval['raise']>): string {
  const words = [...(tokens === undefined ? [] : [`${tokens} tokens`]), ...(usd === undefined ? [] : [`$${usd}`])]
  return words.join(' and ')
}
