/**
 * A text that somebody else may have written, with what looks like a secret replaced by `[redacted]`: for everything
 * that is told on (events, answers, logs, messages, exports). Doing it twice changes nothing.
 */
export function redactSecrets(text: string): string {
  return SHAPES.reduce((left, shape) => left.replace(shape, () => REDACTED), text)
}

/**
 * A copy of a JSON value with every text in it like that, and each text below a member whose name says that it is a
 * secret gone; names of members are as they are. Refs, hashes and the types of ports stay: they hold nothing, and who
 * reads a record needs them.
 */
export function redactTexts<T>(value: T): T {
  return redacted(value, false) as T
}

function redacted(value: unknown, isSecret: boolean): unknown {
  if (typeof value === 'string') return isSecret && !HARMLESS.test(value) ? REDACTED : redactSecrets(value)
  if (Array.isArray(value)) return value.map((item) => redacted(item, isSecret))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([name, item]) => [name, redacted(item, isSecret || isSecretName(name))]))
}

/** An empty text, a ref, a sha256, a type of a port (shared/dag/dag.ts). */
const HARMLESS = /^(|objstore:\/\/[\w.:-]+\/[\da-f]{64}|[\da-f]{64}|string|number|boolean|json|file|artifact)$/

/** Whether a member of this name holds a secret: for logs, webhooks and exports alike. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'))
}

const SECRET_NAME =
  /(^|[_.-])(token|tokens|secret|secrets|password|passwd|authorization|cookie|credential|credentials|signature|api[_-]?key|private[_-]?key|access[_-]?key([_-]?id)?)$/i

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
