import { isSecretName, REDACTED, redactSecrets } from './redact-secrets.ts'

/**
 * A copy of `value` fit for a log: what a secret is called (key) and what secrets look like (shape) is replaced by
 * `[redacted]`, texts are cut at 4,000 characters, depth at 8. Never throws.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (value instanceof Error) return redact(errorFacts(value), depth)
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (depth >= MAX_DEPTH) return '[deeper]'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1))
  const entries = Object.entries(value).slice(0, MAX_ITEMS)
  return Object.fromEntries(
    entries.map(([key, item]) => [key, isSecret(key, item) ? REDACTED : redact(item, depth + 1)]),
  )
}

/** The same for one text, for what leaves a function as an error message. */
export function redactText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}[cut]` : text
  return redactSecrets(short).replace(LONG, REDACTED)
}

const MAX_TEXT = 4_000
const MAX_ITEMS = 100
const MAX_DEPTH = 8

/** Numbers stay: `tokens_in` and its like are counts. */
function isSecret(key: string, item: unknown): boolean {
  return typeof item !== 'number' && typeof item !== 'boolean' && isSecretName(key)
}

/** A Step Functions task token, or any key as long; a sha256 in hex has 64. */
const LONG = /[\w+/=-]{160,}/g

function errorFacts(error: Error): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) }
}
