/**
 * A copy of `value` fit for a log: what a secret is called (key) and what secrets look like (shape) is replaced by
 * `[redacted]`, texts are cut at 4,000 characters, depth at 8. Never throws. Source: spec security, "AWS".
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
  return SHAPES.reduce((left, shape) => left.replace(shape, () => REDACTED), short)
}

const REDACTED = '[redacted]'
const MAX_TEXT = 4_000
const MAX_ITEMS = 100
const MAX_DEPTH = 8

/** Numbers stay: `tokens_in` and its like are counts. */
function isSecret(key: string, item: unknown): boolean {
  return (
    typeof item !== 'number' && typeof item !== 'boolean' && SECRET_KEY.test(key.replaceAll(/([a-z])([A-Z])/g, '$1_$2'))
  )
}

const SECRET_KEY =
  /(^|[_.-])(token|tokens|secret|secrets|password|passwd|authorization|cookie|credential|credentials|signature|api[_-]?key|private[_-]?key|access[_-]?key([_-]?id)?)$/i

/** Each is linear: no two parts of a pattern can match the same characters in two ways. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  /\b(AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b/g,
  /\bslu_\w+/g,
  /\bxox[a-z]-[\w-]+/g,
  /\bxapp-[\w-]+/g,
  /\bsk-[\w-]{16,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/:@]{1,200}:[^\s/@]{1,200}(?=@)/g,
  /(?<=[?&](X-Amz-Security-Token|X-Amz-Signature|X-Amz-Credential)=)[^&\s"]+/gi,
  // A Step Functions task token, or any key as long; a sha256 in hex has 64.
  /[\w+/=-]{160,}/g,
]

function errorFacts(error: Error): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) }
}
