/**
 * A text that somebody else may have written, with what looks like a secret replaced by `[redacted]`: for everything
 * that is told on (events, answers, logs, messages, exports). Doing it twice changes nothing.
 */
export function redactSecrets(text: string): string {
  return SHAPES.reduce((left, shape) => left.replace(shape, () => REDACTED), text)
}

/** A copy of a JSON value with every text in it like that, names of members as they are. */
export function redactTexts<T>(value: T): T {
  return redacted(value) as T
}

function redacted(value: unknown): unknown {
  if (typeof value === 'string') return redactSecrets(value)
  if (Array.isArray(value)) return value.map(redacted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redacted(member)]))
}

export const REDACTED = '[redacted]'

/** Each is linear: no two parts of a pattern can match the same characters in two ways. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  /\b(AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b/g,
  /\bslu_\w+/g,
  /\bwhsec_[\w+/=-]{16,}/g,
  /\bxox[a-z]-[\w-]+/g,
  /\bxapp-[\w-]+/g,
  /\bsk-[\w-]{16,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/:@]{1,200}:[^\s/@]{1,200}(?=@)/g,
  // Of addresses: what a query calls a secret, whatever it looks like.
  /(?<=[?&;](?:X-(?:Amz|Goog)-(?:Security-Token|Signature|Credential)|(?:[a-z]{1,20}[_-])?(?:token|secret|key|password|passwd|sig|signature|auth|code)|AWSAccessKeyId|apikey|pwd)=)(?!\[redacted\])[^&;\s"'`<>#)\]]+/gi,
  // `password: ..`, `"api_key":"..."`, `aws_secret_access_key=..`: the value, as long as nobody chooses by accident.
  /(?<=(?:passw(?:or)?d|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token)\\?["'`]?\s{0,4}[:=]\s{0,4}\\?["'`]?)[^\s"'`\\,;<>(){}[\]$]{8,}/gi,
]
