import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import createClient, { type Client } from 'openapi-fetch'
import * as z from 'zod'
import { ProblemSchema } from '../../../shared/api/route-schema.ts'
import type { paths } from '../../api/schema.generated.ts'
import { gatewayRefusal } from '../aws/aws-refusal.ts'
import type { Sign } from '../aws/signed-target.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'

/** The server a command talks to. `named`: a person chose it (--url or SLUICE_URL). */
export interface Target {
  readonly url: string
  readonly named: boolean
  readonly token?: string
  /** The token is what the start of a place here made: its console takes it in its address. */
  readonly login?: true
  /** A deployment whose callers sign with their AWS credentials. */
  readonly sign?: Sign
  /** It ends with another command: nothing is started there. */
  readonly inside?: true
}

/** Of `sluice start` where no settings name another. */
const DEFAULT_URL = 'http://127.0.0.1:4040'

/** --url, else SLUICE_URL, else where the place of this project is. */
export function chooseTarget(session: Session, url?: string): Target {
  const { settings, signed, login, place, reading } = session
  if (reading !== undefined) return { url: reading.url, named: true, token: reading.secret, login: true }
  if (signed !== undefined) return { url: signed.url, named: true, sign: signed.sign }
  if (url !== undefined && !/^https?:\/\//.test(url)) {
    throw usageError(`Cannot use --url "${url}": an http:// or https:// URL is needed.`)
  }
  const chosen = url ?? settings.url
  const inside = chosen === undefined && place?.inside === true ? ({ inside: true } as const) : {}
  const found = chosen ?? place?.url ?? DEFAULT_URL
  const target = { url: found.replace(/\/+$/, ''), named: chosen !== undefined, ...inside }
  if (login?.url === target.url) return { ...target, token: login.secret, login: true }
  return { ...target, ...(settings.token !== undefined && { token: settings.token }) }
}

/** The API as its OpenAPI document has it: a path, parameter or body it does not know is a type error. */
type Api = Client<paths>

/** One request of the typed API: `(api) => api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } })`. */
export type Ask = (api: Api) => Promise<unknown>

/** One call; a problem+json answer and an unreachable server become Refused with exit code 1. */
export async function callApi<T>(target: Target, answer: z.ZodType<T>, ask: Ask): Promise<T> {
  const response = await fetchResponse(target, ask)
  const body: unknown = await response.json().catch(() => undefined)
  const parsed = answer.safeParse(body)
  if (!parsed.success) throw notSluice(target, response, z.prettifyError(parsed.error))
  return parsed.data
}

/** The answer itself, already known to be a 2xx: for streams and artifact bodies. */
export async function fetchResponse(target: Target, ask: Ask): Promise<Response> {
  const response = await sent(target, ask)
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => undefined)
  const parsed = AnyProblemSchema.safeParse(body)
  const byGateway = gatewayRefusal(response.status, response.headers.get('x-amzn-errortype'), body)
  if (byGateway !== undefined) throw byGateway
  if (!parsed.success) throw notSluice(target, response, 'the error has no problem+json body')
  throw new Refused(parsed.data, { status: response.status })
}

/** A newer server may say more. */
const AnyProblemSchema = ProblemSchema.loose()

/** The client only writes the request: the answer is read here, by our own schemas, so it gets an empty one. */
async function sent(target: Target, ask: Ask): Promise<Response> {
  let answer: Response | undefined
  const fetch = async (request: Request) => {
    answer = await send(target, request)
    return new Response(null, { status: 204 })
  }
  await ask(
    createClient<paths>({ baseUrl: target.url, pathSerializer: fillPath, querySerializer: LISTS, fetch }),
  ).catch((error: unknown) => {
    // A URL that cannot be one is found before anything is sent.
    throw error instanceof TypeError ? noServer(target, error) : error
  })
  if (answer === undefined) throw new TypeError('callApi() was given nothing to ask')
  return answer
}

/** As the OpenAPI document says of parameters that are lists. */
const LISTS = { array: { style: 'form', explode: false } } as const

/** An artifact's name keeps its slashes: it is the rest of the path. */
function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const parts = key === 'name' ? String(values[key]).split('/') : [String(values[key])]
    return parts.map(encodeURIComponent).join('/')
  })
}

async function send(target: Target, request: Request): Promise<Response> {
  const { method, url, signal } = request
  const body = request.body === null ? undefined : await request.text()
  const signed = await target.sign?.({ method, url, body })
  try {
    return await fetch(signed?.url ?? url, {
      method,
      redirect: 'error',
      headers: {
        ...Object.fromEntries(request.headers),
        ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
        ...signed?.headers,
      },
      ...(body !== undefined && { body }),
      signal,
    })
  } catch (error) {
    if (signal.aborted) throw error
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

/** A further command as a person types it here, with --url or --stack where it would not find the server by itself. */
export function commandLine(session: Session, target: Target, words: string): string {
  if (session.signed?.url === target.url) return `${session.settings.command} ${words}${session.signed.words}`
  const found = chooseTarget(session).url === target.url
  return `${session.settings.command} ${words}${found ? '' : ` --url ${target.url}`}`
}

/** Where a run can be seen in a browser while its server is there; undefined where none of ours serves the page. */
export function consoleLine(session: Session, { url, sign }: Target, runId: string): string | undefined {
  const page = `#/runs/${runId}`
  if (sign !== undefined) {
    return `In a browser: ${session.settings.command} console${session.signed?.words ?? ''}, then ${page}`
  }
  return /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(url) ? `In a browser: ${url}/${page}` : undefined
}

/** The same of a run whose server ended with the command: it is there again once one is started on its folder. */
export function consoleLineLater(session: Session, dataDir: string, runId: string): string {
  const folder = isOfProject(session, dataDir) ? '' : ` --data-dir ${dataDir}`
  const url = session.place?.url ?? DEFAULT_URL
  return `In a browser: ${session.settings.command} start${folder}, then ${url}/#/runs/${runId}`
}

/** Whether commands in the working folder find that data folder by themselves. */
export function isOfProject({ place }: Pick<Session, 'place'>, dataDir: string): boolean {
  return resolve(dataDir) === resolve(place?.dataDir ?? '.sluice')
}

/** Whether a Sluice server is there, however well it is, and answers this caller; whatever else may listen is none. */
export async function isServerThere(target: Target): Promise<boolean> {
  return (await pingServer(target)) === 'answers'
}

/** `answers`; or why not: it lets nobody in without another credential, or there is none. */
export async function pingServer(target: Target): Promise<'answers' | Refused> {
  const health = z.looseObject({ status: z.literal(['ok', 'degraded']) })
  const signal = AbortSignal.timeout(2_000)
  return await callApi(target, health, (api) => api.GET('/api/health', { signal })).then(
    () => 'answers' as const,
    (error: unknown) => {
      if (!(error instanceof Refused)) return new Refused({ code: 'no_server', detail: String(error) })
      // It says that it can start nothing: it is there, and what is asked of it next says why.
      return error.reason.code === 'place_unable' ? 'answers' : error
    },
  )
}

/** Of a server that is not there, or not just now: 1, 2, 4, 8 and 16 s apart. */
const TRIES = 6
/** Of a rate limit: its windows are a minute. */
const WINDOWS = 60
/** Longer than any window: who says so counts days or months, and its words are for whoever asked. */
const LONGEST_WAIT_MS = 600_000

interface Patience {
  readonly signal?: AbortSignal
  /** Told before each wait. */
  note(why: string, ms: number): void
}

/** A call that may be made twice: after 429 it waits as long as the server says, ten minutes at the most, after 502 to 504 and no answer a little. */
export async function callWithRetries<T>(call: () => Promise<T>, patience: Patience): Promise<T> {
  const made = { tries: 1, windows: 1 }
  for (;;) {
    const done = await call().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if ('value' in done) return done.value
    await pause(done.error, made, patience)
  }
}

/** Throws the error where trying again is no use. */
async function pause(error: unknown, made: Made, { signal, note }: Patience): Promise<void> {
  const ms = error instanceof Refused ? waitAfter(error, made) : undefined
  if (!(error instanceof Refused) || ms === undefined) throw error
  note(error.reason.detail, ms)
  await setTimeout(ms, undefined, signal && { signal })
}

interface Made {
  tries: number
  windows: number
}

/** Milliseconds to wait before the next try; undefined: there is none. */
function waitAfter({ status, reason }: Refused, made: Made): number | undefined {
  if (status === 429) {
    made.windows += 1
    const said = reason.facts?.retry_after_ms
    const ms = typeof said === 'number' && said >= 0 ? said : 5_000
    return made.windows > WINDOWS || ms > LONGEST_WAIT_MS ? undefined : ms
  }
  const mayPass = reason.code === 'no_server' || status === 502 || status === 503 || status === 504
  made.tries += 1
  return mayPass && made.tries <= TRIES ? 1_000 * 2 ** (made.tries - 2) : undefined
}
