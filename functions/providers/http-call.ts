import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/provider.ts'
import { answerWithout, faultWithout } from './hide-key.ts'
import { type LimitedBody, limitBody } from './limit-body.ts'
import { networkFault, silenceFault, timeoutFault } from './network-fault.ts'
import type { Remote } from './remote.ts'
import { watchSilence } from './watch-silence.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: LimitedBody
}

/** One dispatch under way: every request of it is bounded by the dispatch's signal and the provider's time. */
export interface HttpCall {
  /** Sends JSON. `step` tells requests of one dispatch apart: another body must not come under the same key. */
  post(address: string, body: unknown, step?: number, more?: Readonly<Record<string, string>>): Promise<HttpAnswer>
}

/**
 * A provider that talks HTTP. An abort of the signal closes the socket at once and its reason is thrown; what else goes
 * wrong on the way is Fault Unavailable (provider_timeout, provider_unavailable). The key is in no fault and no answer.
 */
export function overHttp(
  remote: Remote,
  talk: (call: HttpCall, request: DispatchRequest) => Promise<DispatchAnswer>,
): Provider {
  return {
    dispatch: (request) =>
      exchange(remote, request, async (call, key) => answerWithout(key, await talk(call, request))),
  }
}

type Keyed = Pick<DispatchRequest, 'signal' | 'idempotency_key'>

/** Any exchange with it, by the same rules; what is answered is as it came. */
export async function exchange<T>(
  remote: Remote,
  request: Keyed,
  talk: (call: HttpCall, key: string | undefined) => Promise<T>,
): Promise<T> {
  request.signal.throwIfAborted()
  const key = await remote.key()
  const done = new AbortController()
  const silence = watchSilence(remote.idle_ms)
  const late = AbortSignal.timeout(remote.timeout_ms)
  const signal = AbortSignal.any([request.signal, late, silence.signal, done.signal])
  const translate = (error: unknown): unknown => {
    if (request.signal.aborted) return request.signal.reason
    if (silence.signal.aborted) return silenceFault(remote, remote.idle_ms ?? 0)
    return late.aborted
      ? timeoutFault(remote, `within ${remote.timeout_ms} ms (timeout_ms)`)
      : networkFault(remote, error)
  }
  try {
    return await talk(openCall({ remote, request, key, signal, translate, heard: silence.heard }), key)
  } catch (error) {
    throw faultWithout(key, error)
  } finally {
    silence.end()
    // Whatever is still open, an answer that was refused half-way too.
    done.abort()
  }
}

interface CallParts {
  readonly remote: Remote
  readonly request: Keyed
  readonly key: string | undefined
  readonly signal: AbortSignal
  /** What an error of fetch means. */
  readonly translate: (error: unknown) => unknown
  /** Called with each piece of an answer. */
  readonly heard: () => void
}

function openCall({ remote, request, key, signal, translate, heard }: CallParts): HttpCall {
  return {
    async post(address, body, step = 0, more = {}) {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream, application/x-ndjson',
        'idempotency-key': step === 0 ? request.idempotency_key : `${request.idempotency_key}/${step}`,
        'user-agent': 'sluice',
        // A kept socket that died while a sandbox was frozen would cost an attempt; a handshake costs milliseconds.
        connection: 'close',
        ...more,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      }
      const init = { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual', signal } as const
      const response = await fetch(address, init).catch((error: unknown) => {
        throw translate(error)
      })
      heard()
      const limited = limitBody(response.body, { provider: remote.name, translate, heard })
      return { status: response.status, headers: response.headers, body: limited }
    },
  }
}
