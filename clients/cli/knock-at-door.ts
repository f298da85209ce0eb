import * as z from 'zod'
import { INTERACTIONS_PATH } from '../../shared/slack/app-manifest.ts'
import { signBody } from '../../shared/slack/verify-signature.ts'

/** Who answers at the address Slack sends to. `accepted`: it took what the secret signed for its own time. */
export type Door =
  | { readonly kind: 'sluice'; readonly accepted: boolean; readonly clock?: number; readonly asked_at: number }
  | { readonly kind: 'other'; readonly says: string }

const TIMEOUT_MS = 5_000
const CHALLENGE = 'sluice-doctor'

/** Sends what Slack sends to check a URL: first unsigned, which tells who answers and its time, then signed for that time. */
export async function knockAtDoor(base: string, secret: string | undefined): Promise<Door> {
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

const AnswerSchema = z.looseObject({ code: z.string().optional(), challenge: z.string().optional() })

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
    const answer = AnswerSchema.safeParse(await response.json().catch(() => undefined))
    const clock = Date.parse(response.headers.get('date') ?? '')
    const { code, challenge } = answer.data ?? {}
    return { status: response.status, code, challenge, clock: Number.isNaN(clock) ? undefined : clock }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    return { says: `nobody answers at ${url} (${cause})` }
  }
}
