import { textProblem } from '../../shared/json-problem.ts'
import { redactSecrets } from '../../shared/redact-secrets.ts'

/** The rest of a huge text is never walked. */
const LOOKED_AT = 4_000

/** The reason in the body of a refusal, in any of the usual forms; 300 characters of it, on one line. */
export function reasonIn(text: string): string | undefined {
  const found = memberText(parsed(text)) ?? text
  const line = redactSecrets(found.slice(0, LOOKED_AT).replaceAll(/\s+/g, ' ').trim()).slice(0, 300).toWellFormed()
  return line === '' ? undefined : line
}

function memberText(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth > 2) return undefined
  const { error, message, detail, code } = value as Readonly<Record<string, unknown>>
  const said = memberText(error ?? message ?? detail, depth + 1)
  // `insufficient_quota` stands beside the words.
  return said !== undefined && typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said
}

function parsed(text: string): unknown {
  if (textProblem(text) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
