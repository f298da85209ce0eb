import type { Approval } from './approval-answer.ts'
import { oneLine } from './plain-text.ts'
import { count } from './words.ts'

/** What a person has to know of a question besides its words and values; safe to print. */
export function askedLines(approval: Approval): readonly string[] {
  const { gates = [], raise, edit = [], on_timeout } = approval
  const failed = gates.map(({ name, reason }) => `Failed gate ${name}: ${reason}`)
  const waives = isWaiver(approval) ? ['A yes waives what failed: it needs `run waive` and a reason.'] : []
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
  const voted = votes.map(({ by, via, at }) => `${by} via ${via} at ${at}`).join(', ')
  const lines = [
    ...(quorum > 1 ? [`${votes.length} of ${quorum} approved${voted === '' ? '' : `: ${voted}`}.`] : []),
    ...(reminded > 0 ? [`Reminded ${count(reminded, 'time')}.`] : []),
    ...(escalated_to.length > 0 ? [`Escalated: ${escalated_to.join(', ')} may decide too.`] : []),
  ]
  return lines.map(oneLine)
}

/** Asked about gates that failed: the yes to it is a waiver. */
export function isWaiver({ about }: Pick<Approval, 'about'>): boolean {
  return about === 'pre_gates' || about === 'post_gates'
}

function capWords({ tokens, usd }: NonNullable<Approval['raise']>): string {
  const words = [...(tokens === undefined ? [] : [`${tokens} tokens`]), ...(usd === undefined ? [] : [`$${usd}`])]
  return words.join(' and ')
}
