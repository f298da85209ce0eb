import { Fault } from '../../shared/errors.ts'

interface Named {
  readonly name: string
}

export function timeoutFault({ name }: Named, when: string, cause?: unknown): Fault {
  const message = `Provider "${name}" did not answer ${when}. Raise timeout_ms of the provider and of the block, or ask for less.`
  return new Fault('Unavailable', 'provider_timeout', message, { cause, facts: { provider: name } })
}

/** Silence in the middle of an answer: sooner told than timeout_ms would. */
export function silenceFault({ name }: Named, idleMs: number): Fault {
  const message = `Provider "${name}" sent nothing for ${idleMs} ms in the middle of its answer (idle_ms). It is tried again as the block's retry allows.`
  return new Fault('Unavailable', 'provider_timeout', message, { facts: { provider: name } })
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
