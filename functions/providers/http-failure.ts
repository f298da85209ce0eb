import { Fault } from '../../shared/errors.ts'
import type { HttpAnswer } from './http-call.ts'
import { retryAfterMs } from './retry-after.ts'

interface Named {
  readonly name: string
}

/** The fault of an answer whose status is no success; reads the start of its body for the reason it gives. */
export async function statusFault(remote: Named, { status, headers, body }: HttpAnswer): Promise<Fault> {
  // What is said of a key may quote it.
  const told = [401, 403, 407].includes(status) ? undefined : reasonIn(await body.start())
  const wait = retryAfterMs(headers, Date.now())
  return failureOf(remote, { status, told, ...(wait === undefined ? {} : { retry_after_ms: wait }) })
}

interface Told {
  readonly status: number
  /** The server's own words. */
  readonly told: string | undefined
  readonly retry_after_ms?: number
}

/** The same for a failure that a server tells inside an answer that began as a success. */
export function failureOf({ name }: Named, { status, told, retry_after_ms }: Told): Fault {
  const [fault, code, advice] = kindOf(status, told)
  const words = told === undefined ? '' : `: ${JSON.stringify(told)}`
  const wait = retry_after_ms === undefined ? {} : { retry_after_ms }
  const message = `Provider "${name}" answered ${status}${words}. ${advice}`
  return new Fault(fault, code, message, { facts: { provider: name, status, ...wait } })
}

export function timeoutFault({ name }: Named, when: string, cause?: unknown): Fault {
  const message = `Provider "${name}" did not answer ${when}. Raise timeout_ms of the provider and of the block, or ask for less.`
  return new Fault('Unavailable', 'provider_timeout', message, { cause, facts: { provider: name } })
}

/** An error of fetch: no connection, or one that broke. Faults of ours pass. */
export function networkFault(remote: Named, error: unknown): unknown {
  if (error instanceof Fault) return error
  const code = codeOf(error)
  if (code !== undefined && TIMEOUTS.has(code)) return timeoutFault(remote, 'for too long', error)
  const message = `Provider "${remote.name}" cannot be reached or broke off (${code ?? rootOf(error)}). Is its server running, and its url in sluice.yaml right?`
  return new Fault('Unavailable', 'provider_unavailable', message, { cause: error, facts: { provider: remote.name } })
}

/** fetch's own limits: 10 s for a connection, 300 s without a header, 300 s without a byte. */
const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])

/** fetch has no code for what it refuses itself, such as a port that belongs to another protocol: `bad port`. */
function rootOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return 'no reason given'
  return error.cause instanceof Error && depth < 3 ? rootOf(error.cause, depth + 1) : error.message.slice(0, 200)
}

function codeOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 3) return undefined
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause, depth + 1)
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

/** The reason in the body of a refusal, in any of the usual forms; 300 characters of it, on one line. */
export function reasonIn(text: string): string | undefined {
  const found = memberText(parsed(text)) ?? text
  const line = found.replaceAll(/\s+/g, ' ').trim().slice(0, 300).toWellFormed()
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
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
