import type { Fault } from '../../../shared/errors.ts'
import { readReason, statusFault, throwErrorInAnswer } from '../faults.ts'
import { invalidAnswerFault, parseJsonObject } from '../model-answers.ts'
import type { HttpAnswer, HttpCall, Remote } from '../remote.ts'

/** A server refused the form of a request, 400 or 422: there may be a form that it takes. */
export class FormRefused extends Error {
  readonly status: number
  readonly told: string | undefined

  constructor(status: number, told: string | undefined) {
    super(`refused with ${status}`)
    this.status = status
    this.told = told
  }
}

/** A server that was asked for a stream and answered at once: its body is read by who reads whole answers. */
export class AnsweredWhole extends Error {
  readonly answer: Response

  constructor(answer: Response) {
    super('answered whole')
    this.answer = answer
  }
}

/** One way of a package to its server, for one dispatch. */
export interface PackageFetch {
  readonly fetch: typeof globalThis.fetch
  /** What went wrong on the way: a package may wrap it, or swallow it. */
  failure(): unknown
  /** What was answered so far. */
  came(): 'nothing' | 'stream' | 'whole'
  /** It answered whole, and that is no failure. */
  settled(): void
  /** The stream said in its own words that it is over. */
  done(): boolean
}

interface Rules {
  readonly remote: Remote
  readonly call: HttpCall
  /** Requests of the dispatch so far. */
  readonly step: () => number
  readonly isStream: (mediaType: string) => boolean
  readonly wantsStream: boolean
}

/**
 * The fetch that a package is given, and its only way out: time, silence, size, redirects, keys and the key of the attempt
 * are as for every provider. A status that is no success is a failure here, before the package sees it.
 */
export function openPackageFetch(rules: Rules): PackageFetch {
  const seen: { failure?: unknown; came: 'nothing' | 'stream' | 'whole'; tail: string } = { came: 'nothing', tail: '' }
  const ask = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { remote, call } = rules
    const address = addressOf(remote, input)
    const headers = headersOf(init.headers, call.key)
    const request = { method: init.method ?? 'GET', headers, ...bodyOf(remote, init) }
    const answer = await call.send(address, request, rules.step())
    await refuse(remote, answer)
    const isStream = rules.isStream(answer.headers.get('content-type') ?? '')
    seen.came = isStream ? 'stream' : 'whole'
    if (!isStream) return whole(remote, answer, rules.wantsStream && asksStream(address, request.body))
    const body = noting(answer, (text) => {
      seen.tail = (seen.tail + text).slice(-END.length - 8)
    })
    return new Response(body, { status: answer.status, headers: answer.headers })
  }
  return {
    fetch: (input, init) =>
      ask(input, init).catch((error: unknown) => {
        seen.failure = error
        throw error
      }),
    failure: () => seen.failure,
    came: () => seen.came,
    settled() {
      seen.failure = undefined
    },
    done: () => seen.tail.includes(END),
  }

  /** The body of a stream; what breaks it is kept as what went wrong. */
  function noting({ body }: HttpAnswer, tail: (text: string) => void): ReadableStream<Uint8Array<ArrayBuffer>> {
    const decoder = new TextDecoder()
    const reader = body.stream((piece) => tail(decoder.decode(piece, { stream: true }))).getReader()
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          seen.failure = error
          throw error
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }
}

const END = '[DONE]'

/** Other requests of a package, for a token or a file, are answered whole and meant so. */
function asksStream(address: string, body: string | Uint8Array | undefined): boolean {
  return /stream/i.test(new URL(address).pathname) || (typeof body === 'string' && /"stream":\s*true/.test(body))
}

/** Only the server of the settings is asked, with what its url has for a query. Without one: public servers, over TLS. */
function addressOf(remote: Remote, input: string | URL | Request): string {
  const address = new URL(input instanceof Request ? input.url : input)
  if (remote.url === '') {
    if (address.protocol === 'https:' && !/^(localhost|[\d.]+|\[.*\]|.*\.(local|internal))$/.test(address.hostname))
      return address.href
    throw elsewhere(remote, address, 'servers of the internet over https; for any other write its url into sluice.yaml')
  }
  const own = new URL(remote.url)
  if (address.origin !== own.origin) throw elsewhere(remote, address, `${own.origin}, the url in sluice.yaml`)
  for (const [name, value] of own.searchParams)
    if (!address.searchParams.has(name)) address.searchParams.set(name, value)
  return address.href
}

function elsewhere({ name }: Remote, { origin }: URL, allowed: string): Fault {
  return invalidAnswerFault(name, `Cannot ask provider "${name}": its package asks ${origin}; allowed are ${allowed}.`)
}

/** Headers that carry a key; a provider without one sends none, whatever its package was given for it. */
const OF_KEYS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']

function headersOf(given: RequestInit['headers'], key: string | undefined): Readonly<Record<string, string>> {
  const headers = new Headers(given)
  if (key === undefined) for (const name of OF_KEYS) headers.delete(name)
  return Object.fromEntries(headers)
}

function bodyOf({ name }: Remote, { body }: RequestInit): { readonly body?: string | Uint8Array<ArrayBuffer> } {
  if (body === undefined || body === null) return {}
  if (typeof body === 'string') return { body }
  if (body instanceof Uint8Array) return { body: new Uint8Array(body) }
  throw invalidAnswerFault(
    name,
    `Cannot ask provider "${name}": its package sends a body that is neither text nor bytes.`,
  )
}

async function refuse(remote: Remote, answer: HttpAnswer): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return
  if (answer.status !== 400 && answer.status !== 422) throw await statusFault(remote, answer)
  throw new FormRefused(answer.status, readReason(await answer.body.start()))
}

/** Read here: an answer that is no JSON, or tells of a failure inside, never reaches a package. */
async function whole(remote: Remote, { status, headers, body }: HttpAnswer, wantsStream: boolean): Promise<Response> {
  const text = await body.text()
  throwErrorInAnswer(remote, parseJsonObject(remote.name, text))
  const answer = new Response(text, {
    status,
    headers: { 'content-type': headers.get('content-type') ?? 'application/json' },
  })
  if (wantsStream) throw new AnsweredWhole(answer)
  return answer
}
