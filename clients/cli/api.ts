import * as z from 'zod'
import { ProblemSchema } from '../../shared/api/problem-schema.ts'
import { Refused, usage } from './refused.ts'
import type { Session } from './session.ts'

/** The server a command talks to. `named`: a person chose it (--url or SLUICE_URL). */
export interface Target {
  readonly url: string
  readonly named: boolean
  readonly token?: string
}

const DEFAULT_URL = 'http://127.0.0.1:4040'

/** --url, else SLUICE_URL, else the default of `sluice start`. */
export function chooseTarget(session: Session, url?: string): Target {
  const { settings } = session
  if (url !== undefined && !/^https?:\/\//.test(url)) {
    throw usage(`Cannot use --url "${url}": an http:// or https:// URL is needed.`)
  }
  const chosen = url ?? settings.url
  return {
    url: (chosen ?? DEFAULT_URL).replace(/\/+$/, ''),
    named: chosen !== undefined,
    ...(settings.token !== undefined && { token: settings.token }),
  }
}

interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From `/api/..`; ids in it are already encoded. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as they are, instead. */
  readonly bytes?: { readonly text: string; readonly type: string }
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** One call; a problem+json answer and an unreachable server become Refused with exit code 1. */
export async function callApi<T>(target: Target, answer: z.ZodType<T>, request: ApiRequest): Promise<T> {
  const response = await openApi(target, request)
  const body: unknown = await response.json().catch(() => undefined)
  const parsed = answer.safeParse(body)
  if (!parsed.success) throw notSluice(target, response, z.prettifyError(parsed.error))
  return parsed.data
}

/** The answer itself, already known to be a 2xx: for streams and artifact bodies. */
export async function openApi(target: Target, request: ApiRequest): Promise<Response> {
  const response = await send(target, request)
  if (response.ok) return response
  const parsed = AnyProblemSchema.safeParse(await response.json().catch(() => undefined))
  if (!parsed.success) throw notSluice(target, response, 'the error has no problem+json body')
  throw new Refused(parsed.data, { status: response.status })
}

/** A newer server may say more. */
const AnyProblemSchema = ProblemSchema.loose()

async function send(target: Target, request: ApiRequest): Promise<Response> {
  try {
    return await fetch(`${target.url}${request.path}`, {
      method: request.method ?? 'GET',
      redirect: 'error',
      headers: {
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...(request.bytes !== undefined && { 'content-type': request.bytes.type }),
        ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(request.bytes !== undefined && { body: request.bytes.text }),
      ...(request.signal !== undefined && { signal: request.signal }),
    })
  } catch (error) {
    if (request.signal?.aborted === true) throw error
    throw noServer(target, error)
  }
}

function noServer(target: Target, error: unknown): Refused {
  const cause = error instanceof Error ? error.cause : undefined
  const seen = cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : String(error)
  const detail = `No Sluice server answers at ${target.url} (${seen}). Start one with \`sluice start\`, or name another with --url or SLUICE_URL.`
  return new Refused({ code: 'no_server', detail }, { cause: error })
}

function notSluice(target: Target, response: Response, why: string): Refused {
  const type = response.headers.get('content-type') ?? 'no content type'
  const detail = `${target.url} answered HTTP ${response.status} (${type}), but not as a Sluice server of this version does: ${why}. Is another program on that port? \`sluice start --port N\` takes another one.`
  return new Refused({ code: 'not_sluice', detail })
}
