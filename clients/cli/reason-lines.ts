import { plainText } from './plain-text.ts'
import type { Place, Reason } from './refused.ts'

/**
 * An error as lines for stderr: what happened, then each place with its hint. What the first line says already is not
 * said again. Commands named as `sluice ..` are written as a person types them here.
 */
export function reasonLines(reason: Reason, command = 'sluice'): readonly string[] {
  const { code, detail, errors = [] } = reason
  const places = errors.flatMap((issue) =>
    detail.includes(issue.message) ? hintLines(issue, '  ') : placeLines(issue),
  )
  const lines = [`error: ${detail} [${code}]`, ...places]
  return lines.map((line) => plainText(line).replaceAll('`sluice ', `\`${command} `))
}

/** Errors of one document say its name once, above them. */
export function withoutName(message: string): string {
  return message.replace(/^Cannot compile DAG "(?:[^"\\]|\\.)*": /, '')
}

/** One place of a bad input: `line:column path: message`, its hint below. */
function placeLines(issue: Place): readonly string[] {
  const at = typeof issue.line === 'number' ? `${issue.line}:${issue.column ?? 1} ` : ''
  const path = issue.path === '' ? '' : `${issue.path}: `
  // A document's errors carry their hint in the message too, for readers of JSON.
  const hint = issue.hint !== undefined && issue.message.includes(issue.hint) ? [] : hintLines(issue, '    ')
  return [`  ${at}${path}${withoutName(issue.message)}`, ...hint]
}

function hintLines({ hint }: Place, indent: string): readonly string[] {
  return hint === undefined ? [] : [`${indent}${hint}`]
}
