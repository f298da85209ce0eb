import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { MAX_SAFETY_BYTES, PortNameSchema, readPort, textsIn, tooLargeResult } from '../read-facts.ts'

const NoSecretsSchema = z.strictObject({ port: PortNameSchema })
type NoSecrets = z.infer<typeof NoSecretsSchema>

export const noSecrets: Gate<NoSecrets> = {
  type: 'no_secrets',
  summary:
    'Passes when the port (a text, or every text in a list or object) holds no private key block, no key or token of a well-known shape, no password in a URL and no random-looking value given to a name such as `api_key`; the verdict names kind and line, never the secret.',
  params: NoSecretsSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'patch' }, outputs: { patch: 'const key = settings.api_key' }, passes: true },
    { check: { port: 'patch' }, outputs: { patch: 'x\n-----BEGIN PRIVATE KEY-----\n' }, passes: false },
  ],
  check,
}

function check({ port }: NoSecrets, facts: GateFacts): CheckResult {
  const texts = textsIn(readPort(facts, port))
  if (texts === undefined) return tooLargeResult(port, MAX_SAFETY_BYTES)
  const found = texts.flatMap((text, i) => secretsIn(text).map(({ kind, line }) => ({ kind, text: i + 1, line })))
  if (found.length === 0) return { passed: true, reason: 'holds no secrets of a known shape', facts: { port } }
  const places = found.slice(0, 5).map(({ kind, text, line }) => {
    return texts.length === 1 ? `${kind} in line ${line}` : `${kind} in text ${text}, line ${line}`
  })
  const more = found.length > 5 ? ` and ${found.length - 5} more` : ''
  const reason = `must hold no secrets: take out ${places.join('; ')}${more}`
  return { passed: false, reason, facts: { port, found: found.slice(0, 10), count: found.length } }
}

/** A secret somebody would have to take back; never the secret itself. */
interface FoundSecret {
  readonly kind: string
  /** Counted from 1. */
  readonly line: number
}

/** Bits a character below which a value is a word or a placeholder. */
const MIN_ENTROPY = 3

/**
 * Secrets in a text by the published shapes of keys and tokens, private key blocks, passwords in URLs, and values of
 * high entropy given to a secret-looking name. Invisible characters are taken out first, so they hide nothing. Every
 * quantifier is bounded or starts only where its run starts: linear.
 */
function secretsIn(text: string): readonly FoundSecret[] {
  const seen = text.replace(INVISIBLE, '')
  const places = SHAPES.flatMap(([kind, shape]) => [...seen.matchAll(shape)].map(({ index }) => ({ kind, index })))
  const assigned = [...seen.matchAll(ASSIGNMENT)]
    .filter(({ groups }) => isRandom(groups?.value ?? ''))
    .map(({ index }) => ({ kind: 'secret_assignment', index }))
  const all = [...places, ...assigned].sort((a, b) => a.index - b.index)
  return withLines(seen, all)
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Sources: the issuers' own documentation of their prefixes. */
const SHAPES: readonly (readonly [kind: string, shape: RegExp])[] = [
  ['private_key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/g],
  ['aws_access_key_id', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ['github_token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})/g],
  ['gitlab_token', /(?<![A-Za-z0-9])gl(?:pat|dt|ptt|rt|cbt|agent)-[A-Za-z0-9_-]{20,255}/g],
  ['slack_token', /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}|(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{20,255}/g],
  ['slack_webhook', /hooks\.slack\.com\/services\/T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{16,40}/g],
  ['stripe_key', /(?<![A-Za-z0-9])(?:sk|rk|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{24,255}/g],
  [
    'model_provider_key',
    /(?<![A-Za-z0-9])(?:sk-(?:proj-|ant-|or-|svcacct-)?[A-Za-z0-9_-]{32,255}|hf_[A-Za-z0-9]{34}|gsk_[A-Za-z0-9]{40,80}|r8_[A-Za-z0-9]{37})/g,
  ],
  ['google_api_key', /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,255})/g],
  [
    'mail_service_key',
    /(?<![A-Za-z0-9])(?:SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|key-[0-9a-f]{32}|xkeysib-[0-9a-f]{64})/g,
  ],
  [
    'registry_token',
    /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,255}|dckr_pat_[A-Za-z0-9_-]{20,60}|rubygems_[0-9a-f]{48})/g,
  ],
  [
    'cloud_token',
    /(?<![A-Za-z0-9])(?:do[opr]_v1_[0-9a-f]{64}|hvs\.[A-Za-z0-9_-]{24,255}|dapi[0-9a-f]{32}|shpat_[0-9a-fA-F]{32}|AGE-SECRET-KEY-1[0-9A-Z]{58})/g,
  ],
  ['bot_token', /(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g],
  ['json_web_token', /(?<![\w-])eyJ[\w-]{10,4000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g],
  ['url_password', /(?<=:\/\/)[^\s/?#@:"'<>]{0,100}:[^\s/?#@"'<>]{3,200}@(?=[A-Za-z0-9[])/g],
  ['bearer_token', /(?<![A-Za-z])(?:Bearer|Basic) (?=[A-Za-z._~+/-]{0,60}\d)[A-Za-z0-9._~+/-]{20,2000}/gi],
]

const ASSIGNMENT =
  /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credential)[\w-]{0,30}["'`]?\s{0,4}(?::=|=>|[:=])\s{0,4}["'`]?(?<value>[^\s"'`,;<>(){}[\]$]{16,200})/gi

/** Letters and digits mixed, as nobody writes words: `a-long-hyphenated-name` is no secret. */
function isRandom(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value) && entropy(value) >= MIN_ENTROPY
}

/** Shannon's (1948), in bits a character. */
function entropy(value: string): number {
  const counts = new Map<string, number>()
  for (const letter of value) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  const shares = [...counts.values()].map((count) => count / value.length)
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0)
}

function withLines(text: string, places: readonly { readonly kind: string; readonly index: number }[]): FoundSecret[] {
  let line = 1
  let from = 0
  return places.map(({ kind, index }) => {
    for (let at = text.indexOf('\n', from); at !== -1 && at < index; at = text.indexOf('\n', from)) {
      line += 1
      from = at + 1
    }
    return { kind, line }
  })
}
