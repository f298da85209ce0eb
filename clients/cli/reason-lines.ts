import { plainText } from './plain-text.ts'
import type { Place, Reason } from './refused.ts'

/** An error as lines for stderr: what happened, then each place with its hint. */
export function reasonLines(reason: Reason): readonly string[] {
  const places = (reason.errors ?? []).flatMap((issue) => placeLines(issue))
  return [`error: ${reason.detail} [${reason.code}]`, ...places].map(plainText)
}

/** One place of a bad input: `line:column path: message`, its hint below. Also used for documents checked offline. */
export function placeLines(issue: Place): readonly string[] {
  const at = typeof issue.line === 'number' ? `${issue.line}:${issue.column ?? 1} ` : ''
  const path = issue.path === '' ? '' : `${issue.path}: `
  // A document's errors carry their hint in the message too, for readers of JSON.
  const hint = issue.hint === undefined || issue.message.includes(issue.hint) ? [] : [`    ${issue.hint}`]
  return [`  ${at}${path}${issue.message}`, ...hint]
}
