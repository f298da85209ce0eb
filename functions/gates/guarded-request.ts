import type { GuardedAnswer, GuardedRequest } from '../../shared/gates/gate-ports.ts'
import { oneSentence } from '../../shared/gates/one-sentence.ts'
import { checkTarget, type TargetPolicy } from './check-target.ts'
import { Refusal, type Resolve, systemResolve } from './guarded-lookup.ts'
import { type Reply, sendOnce } from './send-once.ts'

/** However much time a gate asks for. */
const MAX_MS = 30_000
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface Guard {
  readonly policy: TargetPolicy
  /** How names become addresses; default: the system's way. */
  readonly resolve?: Resolve
  /** Of the function that runs this. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Carries out one request of a gate against anything a document or a model wrote (docs/operate.md, "Gates"). Every
 * target is checked as text, its addresses when they are connected to, and each redirect again; one time limit covers
 * everything. Never throws for what the network does.
 */
export async function guardedRequest(request: GuardedRequest, guard: Guard): Promise<GuardedAnswer> {
  const ms = Math.min(request.timeout_ms, MAX_MS)
  const time = AbortSignal.timeout(ms)
  const signal = guard.signal === undefined ? time : AbortSignal.any([time, guard.signal])
  try {
    return await follow(request, { ...guard, signal })
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', reason: error.message }
    if (time.aborted) return { kind: 'failed', reason: `no whole answer within ${ms} ms` }
    return { kind: 'failed', reason: wordsOf(error) }
  }
}

async function follow(
  request: GuardedRequest,
  guard: Guard & { readonly signal: AbortSignal },
): Promise<GuardedAnswer> {
  const { policy, resolve = systemResolve, signal } = guard
  let url = allowed(request.url, policy)
  for (let redirects = 0; ; redirects += 1) {
    const reply = await sendOnce(url, request, { policy, resolve, signal })
    const next = request.follow === false || request.method === 'POST' ? undefined : nextOf(url, reply)
    if (next === undefined) return answered(url, reply, request)
    reply.leave()
    if (redirects === MAX_REDIRECTS) throw new Refusal(`more than ${MAX_REDIRECTS} redirects`)
    const target = afterRedirect(next, policy)
    if (url.protocol === 'https:' && target.protocol === 'http:') throw new Refusal('a redirect from https to http')
    url = target
  }
}

function allowed(text: string, policy: TargetPolicy): URL {
  const target = checkTarget(text, policy)
  if (target.ok) return target.url
  throw new Refusal(target.reason)
}

function afterRedirect(text: string, policy: TargetPolicy): URL {
  const target = checkTarget(text, policy)
  if (target.ok) return target.url
  throw new Refusal(`a redirect: ${target.reason}`)
}

/** Where a redirect leads, as it is written where it is absolute; undefined when the reply is none. */
function nextOf(url: URL, { status, location }: Reply): string | undefined {
  if (location === undefined || !REDIRECTS.has(status)) return undefined
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  // The parser takes a backslash for a slash: two of them would begin a host.
  if (/^[\\/]{2}/.test(location)) return `${url.protocol}${location}`
  return URL.parse(location, url.href)?.href ?? location
}

async function answered(url: URL, reply: Reply, { signed }: GuardedRequest): Promise<GuardedAnswer> {
  const { href } = url
  if (signed !== undefined) return taken(url, reply)
  const { body, cut } = await reply.read()
  return { kind: 'answered', status: reply.status, url: href, body, ...(cut ? { body_cut: true as const } : {}) }
}

/** What a receiver answers to a message is its status: a body that never ends makes no delivery undone. */
function taken({ href }: URL, { status, retry_after, leave }: Reply): GuardedAnswer {
  leave()
  const later = retry_after === undefined ? {} : { retry_after: retry_after.slice(0, 100) }
  return { kind: 'answered', status, url: href, body: '', ...later }
}

/** A code says enough; the words of TLS errors quote what the server sent. */
function wordsOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const said = typeof code === 'string' ? code : oneSentence(String(message), 100)
  return MEANING[said] ?? `the connection failed (${said})`
}

const MEANING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused (ECONNREFUSED)',
  ECONNRESET: 'the server broke off (ECONNRESET)',
  ENOTFOUND: 'there is no host of that name (ENOTFOUND)',
}
