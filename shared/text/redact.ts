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
export function redactSecretsIn<T>(value: T): T {
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
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'))
}

const SECRET_NAME =
  /(^|[_.-])(token|tokens|secret|secrets|password|passwd|authorization|cookie|credential|credentials|signature|api[_-]?key|private[_-]?key|access[_-]?key([_-]?id)?)$/i

const REDACTED = '[redacted]'

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

/** Characters that reorder text on a screen, and zero-width marks that hide in it. */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/**
 * Text somebody else may have written, made safe to show on one line: control and bidi characters are gone and what
 * looks like a secret, it is well-formed, and at most `limit` code points long (cut with `…`).
 */
export function safeOneLine(text: string, limit = 300): string {
  // The rest of a huge text is never walked.
  const start = text.length > limit * 4 ? text.slice(0, limit * 4) : text
  const clean = start.toWellFormed().replace(CONTROL, ' ').replace(UNSEEN, '').trim()
  const points = [...redactSecrets(clean)]
  if (points.length <= limit && start === text) return points.join('')
  return `${points.slice(0, limit - 1).join('')}…`
}

/** `"a", "b"`: quoted for people, each at most 80 characters. */
export function quotedList(values: readonly string[]): string {
  return values.map((value) => `"${safeOneLine(value, 80)}"`).join(', ')
}

/**
 * A copy of `value` fit for a log: what a secret is called (key) and what secrets look like (shape) is replaced by
 * `[redacted]`, texts are cut at 4,000 characters, depth at 8. Never throws.
 */
export function redactForLog(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactTextForLog(value)
  if (value instanceof Error) return redactForLog(errorFacts(value), depth)
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (depth >= MAX_DEPTH) return '[deeper]'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactForLog(item, depth + 1))
  const entries = Object.entries(value).slice(0, MAX_ITEMS)
  return Object.fromEntries(
    entries.map(([key, item]) => [key, isSecret(key, item) ? REDACTED : redactForLog(item, depth + 1)]),
  )
}

/** The same for one text, for what leaves a function as an error message. */
export function redactTextForLog(text: string): string {
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
