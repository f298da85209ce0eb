import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import type { Price } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import type { AiSdkSettings, RemoteSettings } from '../../shared/providers/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import { splitLines } from '../../shared/text/split-lines.ts'
import { listProblem } from '../egress/egress.ts'
import { networkFault, silenceFault, timeoutFault } from './network-faults.ts'

/** Reads the key of a provider where this place keeps it; Fault InvalidInput provider_key_missing. */
export type ReadKey = (provider: string, key: KeyRef) => Promise<string>

/** A provider that is reached over HTTP, as the settings have it. */
export interface Remote {
  /** Its name in sluice.yaml. */
  readonly name: string
  /** '' where its package alone knows it. */
  readonly url: string
  readonly timeout_ms: number
  /** Longest silence once an answer has begun; undefined = as long as timeout_ms. */
  readonly idle_ms?: number
  /** Of the model that was asked for, which the server may call otherwise; undefined = unknown. */
  price(asked: string, answered?: string): Price | undefined
  /** Undefined for a provider that needs none. */
  key(): Promise<string | undefined>
}

/** What of a model at a provider is charged. */
export type ReadPrice = (provider: string, asked: string, answered?: string) => Price | undefined

/** What adapters that reach a server need of a place. */
export interface RemotePlace {
  readonly readKey: ReadKey
  readonly price: ReadPrice
}

/** The default of a block; longer ones must be asked for in both. */
export const DEFAULT_TIMEOUT_MS = 300_000

export function openRemote(
  name: string,
  settings: RemoteSettings | AiSdkSettings,
  { readKey, price }: RemotePlace,
): Remote {
  const { url = '', key, timeout_ms = DEFAULT_TIMEOUT_MS } = settings
  const idle_ms = 'idle_ms' in settings ? settings.idle_ms : undefined
  return {
    name,
    url,
    timeout_ms,
    price: (asked, answered) => price(name, asked, answered),
    ...(idle_ms === undefined ? {} : { idle_ms }),
    key: async () => (key === undefined ? undefined : usable(name, await readKey(name, key))),
  }
}

/** The address of one of its paths: below the path of the url, whose query stays. */
export function pathAddress({ url }: Pick<Remote, 'url'>, path: string): string {
  const address = new URL(url)
  const base = address.pathname.replace(/\/+$/, '')
  address.pathname = base.endsWith(path) ? base : `${base}${path}`
  return address.href
}

/** fetch puts a header it refuses into its error, so it is never asked to send one. Files often end in a line break. */
function usable(provider: string, text: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]{1,8192}$/.test(key)) return key
  const message = `Cannot ask provider "${provider}": its key is blank or holds characters no header can carry. Store the bare key, printable ASCII without blanks.`
  throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: LimitedBody
}

/** A request of a package's making, or of ours. */
interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** One dispatch under way: every request of it is bounded by the dispatch's signal and the provider's time. */
export interface HttpCall {
  /** Aborts with the dispatch, the provider's time or its silence, and when all is over. */
  readonly signal: AbortSignal
  /** Undefined for a provider that needs none. */
  readonly key: string | undefined
  /** Something came: it is not silent. */
  heard(): void
  /** Sends JSON. `step` tells requests of one dispatch apart: another body must not come under the same key. */
  post(address: string, body: unknown, step?: number, more?: Readonly<Record<string, string>>): Promise<HttpAnswer>
  /** Sends what a package made, by the same rules; its headers hold the key already. */
  send(address: string, request: Sent, step: number): Promise<HttpAnswer>
}

/**
 * A provider that talks HTTP. An abort of the signal closes the socket at once and its reason is thrown; what else goes
 * wrong on the way is Fault Unavailable (provider_timeout, provider_unavailable). The key is in no fault and no answer.
 */
export function providerOverHttp(
  remote: Remote,
  talk: (call: HttpCall, request: DispatchRequest) => Promise<DispatchAnswer>,
): Provider {
  return {
    dispatch: (request) =>
      exchange(remote, request, async (call) => {
        const { on_text } = request
        // Who was left in the middle may go on speaking: nobody hears it.
        const heard = on_text === undefined ? undefined : (piece: string) => call.signal.aborted || on_text(piece)
        const pieces = piecesWithout(call.key, heard)
        const answer = await talk(call, { ...request, ...(pieces === undefined ? {} : { on_text: pieces.hear }) })
        pieces?.end()
        return answerWithout(call.key, answer)
      }),
  }
}

type Keyed = Pick<DispatchRequest, 'signal' | 'idempotency_key'>

/**
 * Any exchange with it, by the same rules; what is answered is as it came. It ends with its signal, whether or not who
 * talks listens to it.
 */
export async function exchange<T>(remote: Remote, request: Keyed, talk: (call: HttpCall) => Promise<T>): Promise<T> {
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
  // While its key was read.
  if (signal.aborted) throw translate(signal.reason)
  const aborted = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => aborted.reject(translate(signal.reason)), { once: true })
  aborted.promise.catch(() => undefined)
  try {
    return await Promise.race([
      talk(openCall({ remote, request, key, signal, translate, heard: silence.heard })),
      aborted.promise,
    ])
  } catch (error) {
    throw faultWithout(key, signal.aborted ? translate(error) : error)
  } finally {
    silence.end()
    // Whatever is still open, an answer that was refused half-way too.
    done.abort()
  }
}

function notListed(provider: string, problem: string): Fault {
  const message = `Cannot ask provider "${provider}": ${problem}. An operator who trusts it adds it there.`
  return new Fault('Rejected', 'egress_refused', message, { facts: { provider } })
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
  const send: HttpCall['send'] = async (address, { method, headers, body }, step) => {
    const own = {
      'idempotency-key': step === 0 ? request.idempotency_key : `${request.idempotency_key}/${step}`,
      'user-agent': 'sluice',
      // A kept socket that died while a sandbox was frozen would cost an attempt; a handshake costs milliseconds.
      connection: 'close',
    }
    const listed = listProblem(new URL(address).hostname)
    if (listed !== undefined) throw notListed(remote.name, listed)
    const init = { method, headers: { ...headers, ...own }, redirect: 'manual', signal } as const
    const response = await fetch(address, body === undefined ? init : { ...init, body }).catch((error: unknown) => {
      throw translate(error)
    })
    heard()
    const limited = limitBody(response.body, { provider: remote.name, translate, heard })
    return { status: response.status, headers: response.headers, body: limited }
  }
  return {
    signal,
    key,
    heard,
    send,
    post(address, body, step = 0, more = {}) {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream, application/x-ndjson',
        ...more,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      }
      return send(address, { method: 'POST', headers, body: JSON.stringify(body) }, step)
    },
  }
}

/** Of one answer, unpacked. The longest model answers are a few hundred kilobytes. */
export const MAX_BODY_BYTES = 8 * 1_024 * 1_024

/** What of a refusal is read to say why. */
const MAX_ERROR_BYTES = 65_536

/** An answer's body, which is read once, in one of these ways. Fault InvalidInput provider_invalid when it is too large. */
interface LimitedBody {
  /** The whole text. */
  text(): Promise<string>
  /** The first 64 KiB as text; '' when it cannot be read. */
  start(): Promise<string>
  /** Lines as they arrive. */
  lines(): AsyncIterable<string>
  /** Bytes as they arrive; `seen` is told of each piece first. */
  stream(seen: (piece: Uint8Array) => void): ReadableStream<Uint8Array<ArrayBuffer>>
}

interface BodyParts {
  readonly provider: string
  /** What an error of reading means. */
  readonly translate: (error: unknown) => unknown
  /** Called with each piece that arrives. */
  readonly heard: () => void
}

function limitBody(stream: ReadableStream<Uint8Array> | null, parts: BodyParts): LimitedBody {
  const pieces = () => decoded(stream, parts)
  return {
    stream: (seen) => streamed(limited(stream, parts), seen),
    async text() {
      let whole = ''
      for await (const piece of pieces()) whole += piece
      return whole
    },
    async start() {
      let read = ''
      try {
        for await (const piece of pieces()) {
          read += piece
          if (read.length >= MAX_ERROR_BYTES) break
        }
      } catch {
        // What could be read says enough: the status is the failure.
      }
      return read.slice(0, MAX_ERROR_BYTES)
    },
    lines: () => splitLines(pieces()),
  }
}

/** Characters cut in two by a chunk's end are put together again; a wrong byte becomes U+FFFD, as everywhere on the web. */
async function* decoded(stream: ReadableStream<Uint8Array> | null, parts: BodyParts): AsyncGenerator<string> {
  if (stream === null) return
  const decoder = new TextDecoder()
  for await (const piece of limited(stream, parts)) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}

async function* limited(
  stream: ReadableStream<Uint8Array> | null,
  parts: BodyParts,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (stream === null) return
  const reader = stream.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw parts.translate(error)
      })
      if (done) break
      parts.heard()
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge(parts.provider)
      yield new Uint8Array(value)
    }
  } finally {
    // Left early, too: nothing more is read. An error here changes nothing any more.
    reader.cancel().catch(() => undefined)
  }
}

function streamed(
  pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  seen: (piece: Uint8Array) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done === true) return controller.close()
      seen(value)
      controller.enqueue(value)
    },
    cancel: () => void pieces.return(undefined),
  })
}

export function tooLarge(provider: string): Fault {
  const message = `Cannot use the answer of provider "${provider}": it is larger than ${MAX_BODY_BYTES} bytes. Ask for less, or limit it with model_params.`
  return new Fault('InvalidInput', 'provider_invalid', message, { facts: { provider } })
}

/** A server that sends back what it was sent must not put the key into an output. */
function answerWithout(key: string | undefined, answer: DispatchAnswer): DispatchAnswer {
  if (key === undefined) return answer
  const { text, model, finish_reason, id, calls, opaque } = answer
  const said = { text: hidden(text, key), model: hidden(model, key), finish_reason: hidden(finish_reason, key) }
  return {
    ...answer,
    ...said,
    ...(id === undefined ? {} : { id: hidden(id, key) }),
    ...(calls === undefined
      ? {}
      : {
          calls: calls.map((call) => ({
            id: hidden(call.id, key),
            tool: hidden(call.tool, key),
            arguments: hidden(call.arguments, key),
          })),
        }),
    ...(opaque === undefined ? {} : { opaque: JSON.parse(hidden(JSON.stringify(opaque), key)) as Json }),
  }
}

/** The same of pieces as they come: one that ends as a key begins is kept back until the next says whether it is one. */
export function piecesWithout(key: string | undefined, hear: ((piece: string) => unknown) | undefined) {
  if (hear === undefined) return undefined
  if (key === undefined || key.length < SHORTEST_KEY)
    return { hear: (piece: string) => void hear(piece), end: () => undefined }
  let kept = ''
  return {
    hear(piece: string): void {
      const text = hidden(kept + piece, key)
      kept = beginningOf(key, text)
      const said = text.slice(0, text.length - kept.length)
      if (said !== '') hear(said)
    },
    end(): void {
      if (kept !== '') hear(kept)
      kept = ''
    },
  }
}

/** The longest end of a text with which the key, as it is or as JSON quotes it, could begin. */
function beginningOf(key: string, text: string): string {
  const quoted = JSON.stringify(key).slice(1, -1)
  for (let length = Math.min(text.length, quoted.length - 1); length > 0; length -= 1) {
    const end = text.slice(-length)
    if (key.startsWith(end) || quoted.startsWith(end)) return end
  }
  return ''
}

/** Nor into a message that quotes it; its cause is left out then. */
function faultWithout(key: string | undefined, error: unknown): unknown {
  if (key === undefined || !(error instanceof Fault)) return error
  const message = hidden(error.message, key)
  if (message === error.message) return error
  return new Fault(error.name, error.code, message, { facts: error.facts, status: error.status })
}

/** A shorter key is a word that a text may hold by chance. */
const SHORTEST_KEY = 8

function hidden(text: string, key: string): string {
  if (key.length < SHORTEST_KEY) return text
  // As it is, and as JSON quotes it.
  return text.replaceAll(key, '[key]').replaceAll(JSON.stringify(key).slice(1, -1), '[key]')
}

/** Aborts `signal` when nothing was heard for so long; it begins with the first `heard`. */
export interface SilenceWatch {
  readonly signal: AbortSignal
  heard(): void
  end(): void
}

/** Without a limit nothing is ever too quiet. */
export function watchSilence(idleMs: number | undefined): SilenceWatch {
  const quiet = new AbortController()
  if (idleMs === undefined) return { signal: quiet.signal, heard: () => undefined, end: () => undefined }
  let timer: NodeJS.Timeout | undefined
  return {
    signal: quiet.signal,
    heard() {
      timer ??= setTimeout(() => quiet.abort(), idleMs)
      timer.refresh()
    },
    end: () => clearTimeout(timer),
  }
}
