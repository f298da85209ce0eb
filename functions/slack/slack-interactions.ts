import { problemHeaders, problemOf } from '../../shared/api/problem.ts'
import { Fault } from '../../shared/errors.ts'
import {
  clickIdempotencyKey,
  type Interaction,
  REASON_MISSING,
  readInteraction,
  reasonModal,
} from '../../shared/slack/interaction.ts'
import type { SignatureVerdict } from '../../shared/slack/signature.ts'
import type { World } from '../../shared/world.ts'
import type { Handler } from '../handler.ts'
import type { HttpEvent } from '../http-handler.ts'

/**
 * POST /api/slack/interactions: what Slack sends when somebody clicks. Nobody is authenticated but by the signature over
 * the raw bytes; whatever is wrong with it, the caller reads the same 401 and the log says what it was. The answer waits
 * for one write and, where words are asked for, views.open; the decision is made afterwards, by slack-work. The same
 * request again is answered the same and changes nothing.
 */
export const handler: Handler = async (event, { world }) => {
  try {
    // Both hosts hand a route the event of API Gateway.
    return await answerTo(event as HttpEvent, world)
  } catch (error) {
    if (!isOurs(error)) world.log.error('interaction failed', { error: String(error) })
    return refuse(error instanceof Fault && error.name !== 'Bug' && !isOurs(error) ? tryAgain(error) : error)
  }
}

/** Refusals that were logged with their reason, or need no log. */
function isOurs(error: unknown): boolean {
  return error instanceof Fault && (error.status === 401 || error.status === 404)
}

/** Anybody may send requests here: what did not answer, or which secret is missing, stays in the log. */
function tryAgain(cause: Fault): Fault {
  return new Fault('Unavailable', 'try_again', 'Cannot take this click now. Try again.', { cause })
}

function refuse(error: unknown): Answer {
  const problem = problemOf(error)
  return answer(problem.status, problem, problemHeaders(error))
}

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: false
}

function answer(statusCode: number, json?: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = json === undefined ? '' : JSON.stringify(json)
  const type = json === undefined ? 'text/plain' : 'application/json'
  const own = { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return { statusCode, headers: { ...own, ...headers }, body, isBase64Encoded: false }
}

async function answerTo(event: HttpEvent, world: World): Promise<Answer> {
  const { slack, settings, clock } = world
  if (slack === undefined || settings.slack === undefined) throw notConfigured()
  // API Gateway writes null where there are none: then no signature holds.
  const given: HttpEvent['headers'] | null = event.headers
  const headers = new Map(Object.entries(given ?? {}).map(([name, value]) => [name.toLowerCase(), value ?? undefined]))
  const signed = {
    timestamp: headers.get('x-slack-request-timestamp'),
    signature: headers.get('x-slack-signature'),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  }
  const verdict = await slack.verify(signed, clock.now())
  if (!verdict.ok) throw refused(world, verdict)
  const interaction = readInteraction(signed.body, settings.slack)
  const retry = headers.get('x-slack-retry-num')
  world.log.info('interaction', { kind: interaction.kind, ...(retry === undefined ? {} : { retry }) })
  return act(world, interaction)
}

async function act(world: World, interaction: Interaction): Promise<Answer> {
  switch (interaction.kind) {
    case 'challenge':
      return answer(200, { challenge: interaction.challenge })
    case 'foreign':
      throw refused(world, interaction)
    case 'reason_missing':
      return answer(200, REASON_MISSING)
    case 'ask_reason':
      return askReason(world, interaction)
    case 'decision': {
      const tenant = tenantOf(world)
      const noted = await world.runs.noteRequest(clickIdempotencyKey(tenant, interaction.click))
      // One that is still open may have been lost on its way to slack-work, which makes of two deliveries one decision.
      if (noted !== 'done') await world.outbox.slackWork({ tenant, click: interaction.click })
      return answer(200)
    }
    case 'ignored':
      return answer(200)
  }
}

/** A trigger opens one modal, within three seconds: who sends it again is only answered. */
async function askReason(world: World, asked: Extract<Interaction, { readonly kind: 'ask_reason' }>): Promise<Answer> {
  const { click, trigger_id, required } = asked
  const { slack } = world
  if (slack === undefined) throw notConfigured()
  const noted = await world.runs.noteRequest(clickIdempotencyKey(tenantOf(world), click))
  if (noted !== 'first') return answer(200)
  try {
    await slack.call('views.open', { trigger_id, view: reasonModal(click, required) })
    return answer(200)
  } catch (error) {
    if (!(error instanceof Fault) || !SPENT.has(error.code)) throw error
    // Slack would only send the same trigger again.
    world.log.info('trigger spent', { code: error.code })
    return answer(200, { text: 'Nothing was decided: this click came too late to open its form. Click again.' })
  }
}

/** A trigger is good for three seconds and one modal. */
const SPENT: ReadonlySet<string> = new Set([
  'slack_expired_trigger_id',
  'slack_exchanged_trigger_id',
  'slack_trigger_expired',
])

/** A workspace is of one tenant: a click decides in no other. */
function tenantOf({ settings }: Pick<World, 'settings'>): string {
  if (settings.slack === undefined) throw notConfigured()
  return settings.slack.tenant
}

type Refusal = Exclude<SignatureVerdict, { readonly ok: true }> | Extract<Interaction, { readonly kind: 'foreign' }>

function refused(world: World, { reason, ...facts }: Refusal): Fault {
  const skew = 'skew_sec' in facts ? { skew_sec: facts.skew_sec } : {}
  world.log.error('not from Slack', { reason, ...skew })
  const message =
    'Cannot take this request: it is not one that the pinned Slack app signed just now. The log says why, and `sluice doctor` tells a wrong URL, a wrong secret and a wrong clock apart.'
  return new Fault('Rejected', 'not_from_slack', message, { status: 401 })
}

function notConfigured(): Fault {
  const message = 'Cannot take requests of Slack: sluice.yaml names no workspace. docs/slack.md sets one up.'
  return new Fault('NotFound', 'slack_not_configured', message)
}
