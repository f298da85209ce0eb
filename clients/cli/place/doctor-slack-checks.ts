import * as z from 'zod'
import type { KeyRef } from '../../../shared/ports/secrets.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { INTERACTIONS_PATH, SLACK_SCOPES } from '../../../shared/slack/app-manifest.ts'
import type { SlackSettings } from '../../../shared/slack/settings.ts'
import { signBody } from '../../../shared/slack/signature.ts'
import type { Target } from '../server/api.ts'
import type { Session } from '../terminal/session.ts'
import { type Check, check } from './doctor-check.ts'

/** Slack's own bound on the age of a request, and ours. */
const MOST_SKEW_SEC = 300

/**
 * Token, workspace and scopes as Slack sees them; then the address Slack sends to, the signing secret there and the
 * clocks, told apart: the address is asked as Slack would ask, with a signature made for the server's own time.
 */
export async function slackChecks(
  session: Session,
  settings: Settings | undefined,
  target: Target,
): Promise<readonly Check[]> {
  const slack = settings?.slack
  if (slack === undefined) return [check.skipped('slack', 'sluice.yaml names no workspace; docs/slack.md sets one up')]
  const token = keyOf(session, slack.token)
  const answer = token === undefined ? undefined : await askSlack(slack.api_url, token)
  const base = slack.url ?? target.url
  const secrets = [slack.signing_secret].flat().map((ref) => keyOf(session, ref))
  const door = await probeEndpoint(base, secrets[0])
  return [
    tokenCheck(slack, token, answer),
    ...(answer?.ok === true ? [scopesCheck(answer)] : []),
    urlCheck(base, door),
    secretCheck(slack, secrets[0], door),
    clockCheck(door, answer),
  ]
}

function keyOf(session: Session, { env }: KeyRef): string | undefined {
  const key = env === undefined ? undefined : session.key(env)
  return key === undefined || key.trim() === '' ? undefined : key
}

function notHere(name: string, { env }: KeyRef): Check {
  if (env === undefined)
    return check.skipped(name, 'it is only where AWS keeps it; add env: NAME to check it from here')
  return check.failed(name, `environment variable ${env} is not set`, `set ${env}, as the place needs it too`)
}

function tokenCheck(slack: SlackSettings, token: string | undefined, answer: SlackAnswer | undefined): Check {
  const name = 'slack.token'
  if (token === undefined || answer === undefined) return notHere(name, slack.token)
  if (answer.error !== undefined) {
    const fix = answer.reached
      ? 'copy the bot token (xoxb-..) of the app, "OAuth & Permissions"'
      : 'check the network, and slack.api_url'
    return check.failed(
      name,
      answer.reached ? `Slack says ${answer.error}` : `Slack does not answer: ${answer.error}`,
      fix,
    )
  }
  if (answer.team_id === slack.team_id) return check.ok(name, `of workspace ${answer.team_id}`)
  const says = `it is of workspace ${answer.team_id}, and slack.team_id is ${slack.team_id}`
  return check.failed(name, says, 'use the token of the pinned workspace, or pin the other one')
}

function scopesCheck({ scopes }: SlackAnswer): Check {
  const missing = SLACK_SCOPES.filter((scope) => !scopes.includes(scope))
  if (missing.length === 0) return check.ok('slack.scopes', SLACK_SCOPES.join(', '))
  const fix = 'add them under "OAuth & Permissions" and install the app again; `sluice slack manifest` has them'
  return check.failed('slack.scopes', `${missing.join(', ')} is missing`, fix)
}

function urlCheck(base: string, door: Endpoint): Check {
  const name = 'slack.url'
  if (door.kind === 'sluice') return check.ok(name, `${base} takes requests of Slack`)
  const fix = 'give slack.url the address of the deployment, and the app the request URL of `sluice slack manifest`'
  return check.failed(name, `wrong URL: ${door.says}`, fix)
}

function secretCheck(slack: SlackSettings, secret: string | undefined, door: Endpoint): Check {
  const name = 'slack.secret'
  const [first = slack.token] = [slack.signing_secret].flat()
  if (secret === undefined) return notHere(name, first)
  if (door.kind !== 'sluice') return check.skipped(name, 'nobody to ask: see slack.url')
  if (door.accepted) return check.ok(name, 'the server takes what it signs')
  const fix = 'copy "Signing Secret" from the app\'s "Basic Information" to both, and start the server again'
  return check.failed(name, 'wrong secret: the server refuses what this signing secret signs', fix)
}

/** Of the server against Slack's, else against this machine's. */
function clockCheck(door: Endpoint, answer: SlackAnswer | undefined): Check {
  const name = 'slack.clock'
  if (door.kind !== 'sluice' || door.clock === undefined) return check.skipped(name, 'the server tells no time')
  const [other, whose] = answer?.clock === undefined ? [door.asked_at, 'this machine'] : [answer.clock, 'Slack']
  const skew = Math.round((door.clock - other) / 1_000)
  if (Math.abs(skew) <= MOST_SKEW_SEC) return check.ok(name, `the server is ${Math.abs(skew)} s from ${whose}`)
  const says = `clock skew: the server is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} ${whose}`
  return check.failed(name, says, 'let the server keep its time by NTP: requests of Slack are refused past 300 s')
}

/** What auth.test tells about a token. Without `error` it is good. */
interface SlackAnswer {
  readonly ok: boolean
  /** Slack's word, or why it could not be reached. */
  readonly error?: string
  readonly reached: boolean
  readonly team_id?: string
  readonly scopes: readonly string[]
  /** Slack's time, ms since 1970. */
  readonly clock?: number
}

const TIMEOUT_MS = 5_000

const AuthTestSchema = z.looseObject({ ok: z.boolean(), error: z.string().optional(), team_id: z.string().optional() })

/** Asks Slack whose token it is, and what it may do. */
async function askSlack(api_url: string, token: string): Promise<SlackAnswer> {
  try {
    const response = await fetch(`${api_url.replace(/\/+$/, '')}/auth.test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { ok, error, team_id } = AuthTestSchema.parse(await response.json())
    const clock = Date.parse(response.headers.get('date') ?? '')
    return {
      ok,
      reached: true,
      scopes: (response.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim()),
      ...(ok ? {} : { error: error ?? 'an unknown error' }),
      ...(team_id === undefined ? {} : { team_id }),
      ...(Number.isNaN(clock) ? {} : { clock }),
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    return { ok: false, reached: false, error: cause, scopes: [] }
  }
}

/** Who answers at the address Slack sends to. `accepted`: it took what the secret signed for its own time. */
type Endpoint =
  | { readonly kind: 'sluice'; readonly accepted: boolean; readonly clock?: number; readonly asked_at: number }
  | { readonly kind: 'other'; readonly says: string }
const CHALLENGE = 'sluice-doctor'

/** Sends what Slack sends to check a URL: first unsigned, which tells who answers and its time, then signed for that time. */
async function probeEndpoint(base: string, secret: string | undefined): Promise<Endpoint> {
  const url = `${base.replace(/\/+$/, '')}${INTERACTIONS_PATH}`
  const asked_at = Date.now()
  const unsigned = await send(url, {})
  if (unsigned.says !== undefined) return { kind: 'other', says: unsigned.says }
  if (unsigned.code === 'slack_not_configured') {
    return { kind: 'other', says: `the server at ${base} has no slack in its settings` }
  }
  if (unsigned.status !== 401 || unsigned.code !== 'not_from_slack') {
    return { kind: 'other', says: `${url} answers HTTP ${unsigned.status}, and not as Sluice does` }
  }
  const clock = unsigned.clock ?? asked_at
  const accepted = secret !== undefined && (await accepts(url, secret, clock))
  return { kind: 'sluice', accepted, asked_at, ...(unsigned.clock === undefined ? {} : { clock: unsigned.clock }) }
}

async function accepts(url: string, secret: string, clock: number): Promise<boolean> {
  const timestamp = String(Math.floor(clock / 1_000))
  const signature = signBody(secret, timestamp, Buffer.from(BODY))
  const signed = await send(url, { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature })
  return signed.challenge === CHALLENGE
}

const BODY = JSON.stringify({ type: 'url_verification', challenge: CHALLENGE })

const EndpointAnswerSchema = z.looseObject({ code: z.string().optional(), challenge: z.string().optional() })

/** `says`: why there was no answer. */
interface Answered {
  readonly says?: string
  readonly status?: number
  readonly code?: string | undefined
  readonly challenge?: string | undefined
  readonly clock?: number | undefined
}

async function send(url: string, headers: Readonly<Record<string, string>>): Promise<Answered> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: BODY,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = EndpointAnswerSchema.safeParse(await response.json().catch(() => undefined))
    const clock = Date.parse(response.headers.get('date') ?? '')
    const { code, challenge } = answer.data ?? {}
    return { status: response.status, code, challenge, clock: Number.isNaN(clock) ? undefined : clock }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    return { says: `nobody answers at ${url} (${cause})` }
  }
}
