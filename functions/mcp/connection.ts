import type { Tool, Transport } from '@modelcontextprotocol/client'
import { Client, ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { safeOneLine } from '../../shared/text/redact.ts'
import { withoutSecrets } from './hide-secrets.ts'

/** Why a server gave no answer that can be taken. */
export interface Trouble {
  /**
   * `unreachable`: nothing was sent to it; `busy`: it asks to come later; `refused`: it does not take the key; `rejected`: it
   * did not take the message; `invalid`: it answered what is not of the protocol; `broken`: the answer did not come whole.
   */
  readonly kind: 'unreachable' | 'busy' | 'refused' | 'rejected' | 'invalid' | 'broken'
  /** `it answered HTTP 503`: without the server's name, and no key in it. */
  readonly words: string
  readonly retry_after_ms?: number
}

/** Thrown where there is no answer; callers make a fault of it that names the server and what was under way. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly trouble: Trouble

  constructor(trouble: Trouble, cause?: unknown) {
    super(trouble.words, cause === undefined ? {} : { cause })
    this.trouble = trouble
  }
}

/** Of one request: a signal that ends it, and how long it may take. */
interface Bounds {
  readonly signal: AbortSignal
  readonly ms: number
}

/** One client of the protocol that is talking to a server. */
export interface McpConnection {
  /** Everything it tells of its tools, as it came. */
  list(bounds: Bounds): Promise<readonly Tool[]>
  /** `refusal`: in the server's words, why it did not take the call. */
  call(tool: Tool, sent: SentCall, bounds: Bounds): Promise<{ readonly answer: unknown } | { readonly refusal: string }>
  /** Whether it has ended, and cannot be used any more. */
  readonly ended: boolean
  close(): Promise<void>
}

interface SentCall {
  readonly args: Record<string, unknown>
  readonly key: string
}

/** A transport, and what of it went wrong in words that are better than the client's. */
export interface McpChannel {
  readonly transport: Transport
  /** What it was given and must not be told on. */
  readonly secrets: readonly string[]
  /** The newest trouble since the last request began. */
  trouble(): Trouble | undefined
  /**
   * Of a channel with one request at a time: told when the stream of an answer has ended, whether or not that was in it.
   * Absent: others ask over it as well.
   */
  readonly ends?: { told: () => void }
}

/** Pages of tools that are asked for. */
const MOST_PAGES = 20
/** How long an answer may lag behind the end of its stream, or of what was taken for it. */
const GRACE_MS = 1_000

/** The name of the member of `_meta` that is the same for the same attempt of a call. */
const KEY_IN_META = 'sluice/idempotency-key'

/**
 * Opens a connection. Of the two revisions of the protocol the server's is found out (`server/discover`, else
 * `initialize`). Nothing is offered to it: no sampling, no roots, no questions to people. What its tools say of their
 * output is not compiled here: a schema is a program of the server's.
 */
export async function openConnection(channel: McpChannel, bounds: Bounds, legacy = false): Promise<McpConnection> {
  const client = new Client(
    { name: 'sluice', version: '1' },
    {
      versionNegotiation: { mode: legacy ? 'legacy' : 'auto', probe: { timeoutMs: Math.min(bounds.ms, PROBE_MS) } },
      listMaxPages: MOST_PAGES,
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  )
  let ended = false
  let noticed: ((error: Error) => void) | undefined
  client.onclose = () => {
    ended = true
  }
  client.onerror = (error) => noticed?.(error)
  const asked = async <T>(what: () => Promise<T>): Promise<T> => {
    const late = new AbortController()
    const pending = Promise.withResolvers<never>()
    const soon = (error: unknown) => {
      if (late.signal.aborted) return
      const timer = setTimeout(() => pending.reject(error), GRACE_MS)
      late.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    }
    // What comes and is no answer of the one request means that none comes.
    if (channel.ends !== undefined) {
      // The end of a stream is told with its request.
      noticed = (error) => (/stream disconnected|reconnect/i.test(error.message) ? undefined : soon(error))
      channel.ends.told = () => soon(new NoAnswer(channel.trouble() ?? ENDED))
    }
    try {
      return await Promise.race([what(), pending.promise])
    } catch (error) {
      throw error instanceof ProtocolError ? error : troubled(error, channel)
    } finally {
      late.abort()
      noticed = undefined
    }
  }
  const given = ({ signal, ms }: Bounds) => ({ signal, timeout: ms, maxTotalTimeout: ms })
  const connect = () => client.connect(channel.transport, given(bounds))
  try {
    await asked(connect)
  } catch (error) {
    await client.close().catch(() => undefined)
    throw error instanceof ProtocolError ? new NoAnswer(refusedWords(error, channel), error) : error
  }
  return {
    get ended() {
      return ended
    },
    close: () => client.close().catch(() => undefined),
    async list(limits) {
      try {
        const { tools } = await asked(() => client.listTools({}, given(limits)))
        return tools
      } catch (error) {
        throw error instanceof ProtocolError ? new NoAnswer(refusedWords(error, channel), error) : error
      }
    },
    async call({ outputSchema: _, ...tool }, { args, key }, limits) {
      const params = { name: tool.name, arguments: args, _meta: { [KEY_IN_META]: key } }
      try {
        const options = { ...given(limits), toolDefinition: tool }
        return { answer: await asked(() => client.callTool(params, options)) }
      } catch (error) {
        if (error instanceof ProtocolError)
          return { refusal: `${shown(error.message, channel, 2_000)} (${error.code})` }
        throw error
      }
    },
  }
}

const ENDED: Trouble = { kind: 'broken', words: 'its answer ended before it was whole' }

/** Servers of earlier revisions may never answer what they do not know. */
const PROBE_MS = 10_000

function refusedWords({ message, code }: ProtocolError, channel: McpChannel): Trouble {
  return { kind: 'rejected', words: `it answered the error ${code}: ${shown(message, channel)}` }
}

/** An error of the client's, by what the channel saw of it. */
function troubled(error: unknown, channel: McpChannel): unknown {
  const seen = channel.trouble()
  if (error instanceof NoAnswer) return error
  if (seen !== undefined) return new NoAnswer(seen, error)
  if (error instanceof SdkHttpError) return new NoAnswer(httpTrouble(error, channel), error)
  if (error instanceof SdkError) return new NoAnswer(sdkTrouble(error, channel), error)
  return new NoAnswer(
    { kind: 'invalid', words: `it answered what does not fit the protocol: ${shown(wordsOf(error), channel)}` },
    error,
  )
}

function httpTrouble({ status, data }: SdkHttpError, channel: McpChannel): Trouble {
  const { text } = data ?? {}
  const said = typeof text === 'string' && text.trim() !== '' ? `: ${shown(text, channel)}` : ''
  const words = `it answered HTTP ${status ?? 'without a status'}${said}`
  return { kind: (status ?? 0) >= 500 ? 'broken' : 'rejected', words }
}

function sdkTrouble(error: SdkError, channel: McpChannel): Trouble {
  if (error.code === SdkErrorCode.RequestTimeout) return { kind: 'broken', words: 'it did not answer in time' }
  if (error.code === SdkErrorCode.ConnectionClosed) return { kind: 'broken', words: 'the connection ended' }
  return { kind: 'invalid', words: `it answered what does not fit the protocol: ${shown(wordsOf(error), channel)}` }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A secret goes before the text is cut: a part of one is still a part of one. */
function shown(text: string, { secrets }: McpChannel, most = 200): string {
  return safeOneLine(withoutSecrets(text, secrets), most)
}
