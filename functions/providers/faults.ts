import { Fault } from '../../shared/errors.ts'
import { redactSecrets } from '../../shared/text/redact.ts'
import { jsonTextProblem } from '../../shared/text/strict-json.ts'
import { memberOf } from './model-answers.ts'
import type { HttpAnswer } from './remote.ts'

interface Named {
  readonly name: string
}

/** The fault of an answer whose status is no success; reads the start of its body for the reason it gives. */
export async function statusFault(remote: Named, { status, headers, body }: HttpAnswer): Promise<Fault> {
  // What is said of a key may quote it.
  const told = [401, 403, 407].includes(status) ? undefined : readReason(await body.start())
  const wait = retryAfterMs(headers, Date.now())
  return failureFault(remote, { status, told, ...(wait === undefined ? {} : { retry_after_ms: wait }) })
}

interface Told {
  readonly status: number
  /** The server's own words. */
  readonly told: string | undefined
  readonly retry_after_ms?: number
}

/** The same for a failure that a server tells inside an answer that began as a success. */
export function failureFault({ name }: Named, { status, told, retry_after_ms }: Told): Fault {
  const [fault, code, advice] = kindOf(status, told)
  const words = told === undefined ? '' : `: ${JSON.stringify(told)}`
  const wait = retry_after_ms === undefined ? {} : { retry_after_ms }
  const message = `Provider "${name}" answered ${status}${words}. ${advice}`
  return new Fault(fault, code, message, { facts: { provider: name, status, ...wait } })
}

/** Gateways tell some failures inside an answer that began as a success: `{error: {code: 429, message}}`. */
export function throwErrorInAnswer(remote: Named, value: unknown): void {
  const error = memberOf(value, 'error')
  if (error === undefined || error === null) return
  const number = Number(memberOf(error, 'code') ?? memberOf(error, 'status'))
  // One that has no number is taken for a server that broke off.
  const status = Number.isInteger(number) && number >= 400 && number <= 599 ? number : 502
  throw failureFault(remote, { status, told: readReason(JSON.stringify({ error })) })
}

/** A refusal in words: the model's own, or a filter's. */
export function refusedFault({ name }: Named, reason: string): Fault {
  const message = `Provider "${name}" refused to answer: ${JSON.stringify(reason.slice(0, 300).toWellFormed())}. Change the prompt or the model.`
  return new Fault('Rejected', 'provider_refused', message, { facts: { provider: name } })
}

type Kind = readonly [name: 'Unavailable' | 'Rejected' | 'InvalidInput', code: string, advice: string]

const AGAIN = "It is tried again as the block's retry allows."
const STATUSES: Readonly<Record<number, Kind>> = {
  401: ['Rejected', 'provider_refused', 'Its key is missing or wrong: check providers in sluice.yaml.'],
  403: ['Rejected', 'provider_refused', 'Its key may not do this: check the key and the model.'],
  404: ['Rejected', 'provider_refused', 'Check its url in sluice.yaml, and the name of the model.'],
  408: ['Unavailable', 'provider_timeout', AGAIN],
  425: ['Unavailable', 'provider_unavailable', AGAIN],
  429: ['Unavailable', 'provider_throttled', AGAIN],
  504: ['Unavailable', 'provider_timeout', AGAIN],
}

function kindOf(status: number, told = ''): Kind {
  // An empty account is told as a rate limit, but waiting does not fill it.
  if (status === 429 && /insufficient_quota|exceeded your current quota/i.test(told)) {
    return ['Rejected', 'provider_refused', 'Its account has nothing left: fill it, or use another provider.']
  }
  const known = STATUSES[status]
  if (known !== undefined) return known
  if (status >= 500) return ['Unavailable', 'provider_unavailable', AGAIN]
  if (status >= 400) return ['Rejected', 'provider_refused', 'The same request would be refused again: mend it.']
  if (status < 300) return ['InvalidInput', 'provider_invalid', 'An answer with a body is needed.']
  return ['InvalidInput', 'provider_invalid', 'Redirects are not followed: write the final url into sluice.yaml.']
}

/** The rest of a huge text is never walked. */
const LOOKED_AT = 4_000

/** The reason in the body of a refusal, in any of the usual forms; 300 characters of it, on one line. */
export function readReason(text: string): string | undefined {
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
  if (jsonTextProblem(text) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * How long a server asks to be left alone, in milliseconds: `retry-after-ms`, or Retry-After in seconds or as a date,
 * which is read against the server's own clock when it tells it. Undefined when nothing usable is said.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = amount(headers.get('retry-after-ms'))
  if (exact !== undefined) return positive(exact)
  const text = headers.get('retry-after')
  const seconds = amount(text)
  if (seconds !== undefined) return positive(seconds * 1_000)
  const at = date(text)
  return at === undefined ? undefined : positive(at - (date(headers.get('date')) ?? now))
}

function amount(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,9}(\.\d{1,6})?\s*$/.test(text) ? Number(text) : undefined
}

/** HTTP dates name their zone, GMT; Date.parse alone would take "7" for a year. */
function date(text: string | null): number | undefined {
  const at = text !== null && /GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

function positive(ms: number): number | undefined {
  return ms > 0 ? Math.ceil(ms) : undefined
}
