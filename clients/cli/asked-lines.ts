import { changeLines, NOT_PLAIN } from '../../shared/approvals/run-changes.ts'
import { viaWords } from '../../shared/principal.ts'
import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import type { Approval } from './approval-answer.ts'
import { oneLine } from './plain-text.ts'
import { count } from './words.ts'

/** In what the run is not what is deployed: it comes before the words of the question. Empty = it is a plain start. */
export function changedLines({ changes = {} }: Pick<Approval, 'changes'>): readonly string[] {
  const lines = changeLines(changes)
  return lines.length === 0 ? [] : [`!! ${NOT_PLAIN}:`, ...lines.map((line) => `!! ${oneLine(line)}`)]
}

/** What a person has to know of a question besides its words and values; safe to print. */
export function askedLines(approval: Approval): readonly string[] {
  const { gates = [], raise, edit = [], on_timeout } = approval
  const failed = gates.map(({ name, reason }) => `Failed gate ${name}: ${reason}`)
  const waives = asksWaiver(approval) ? ['A yes waives what failed: it needs `run waive` and a reason.'] : []
  const raises = raise === undefined ? [] : [`A yes raises the budget of the run to ${capWords(raise)}.`]
  const edits = edit.length === 0 ? [] : [`May be changed with \`run approve --edit\`: ${edit.join(', ')}.`]
  const timeout = on_timeout === 'approve' ? ['It is approved by itself if nobody decides in time.'] : []
  return [...failed, ...waives, ...raises, ...edits, ...timeout, ...progressLines(approval)].map(oneLine)
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
