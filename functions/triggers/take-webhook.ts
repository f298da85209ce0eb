import { Fault } from '../../shared/errors.ts'
import type { Json } from '../../shared/text/json.ts'
import { jsonProblem, readStrictJson } from '../../shared/text/strict-json.ts'
import { idOfMessage, TRIGGER_LIMITS, type TriggerKey, type WebhookTrigger } from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import { verifyMessage } from '../../shared/triggers/verify-message.ts'
import type { World } from '../../shared/world.ts'
import { type HttpEvent, openHandler } from '../http-handler.ts'
import { findTrigger } from './declared-triggers.ts'
import { keepFiring } from './keep-firing.ts'
import { dedupeOf } from './message-key.ts'

/**
 * POST /api/hooks/{document}/{trigger}: a message of somebody who has no login. The keyed hash over the raw bytes alone
 * proves the sender; whatever is wrong with it, and where there is no such trigger, they read the same 401, and the log says
 * what it was. The firing is kept before the answer; its run is started afterwards.
 */
export const handler = openHandler('take-webhook', 202, takeMessage)

async function takeMessage(event: HttpEvent, world: World) {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (body.byteLength > TRIGGER_LIMITS.most_body_bytes) throw tooLarge(body.byteLength, TRIGGER_LIMITS.most_body_bytes)
  const { document = '', trigger: name = '' } = event.pathParameters ?? {}
  const key = { tenant: world.settings.triggers.tenant, document, trigger: name }
  const declared = await findTrigger(world, document, name)
  if (declared?.trigger.kind !== 'webhook') throw notVerified(world, key, 'unknown_trigger')
  const { trigger } = declared
  const headers = smallHeaders(event.headers)
  const signed = await verified(world, key, trigger, { headers, body })
  const { max_body_bytes } = trigger.webhook
  if (body.byteLength > max_body_bytes) throw tooLarge(body.byteLength, max_body_bytes)
  await countMessage(world, key, trigger.webhook.max_per_minute)
  await refusePaused(world, key)
  const query = { ...event.queryStringParameters }
  const roots = { body: readBody(headers['content-type'], body), headers: shownHeaders(headers, trigger), query }
  const { dedupe } = trigger.webhook
  const id = idOfMessage(dedupe === undefined ? { signed } : { dedupe: await dedupeOf(world, key, dedupe, roots) })
  const isKnown = (await world.triggers.firing(key, id)) !== undefined
  const at = new Date(world.clock.now()).toISOString()
  const firing = await keepFiring(world, key, trigger, { id, at, roots }, { throws: true })
  // Whoever sends waits for the promise, not for the run.
  if (firing.state === 'owed') await world.outbox.fireTriggers()
  return answerOf(trigger, firing, isKnown)
}

/** Nobody is told a run that never will be, or that depends on what else comes. */
function answerOf({ debounce, rate }: WebhookTrigger, { id, state, run_id }: Firing, isKnown: boolean) {
  if (state === 'failed') return { status: 'failed', firing: id }
  const said = { status: isKnown ? 'known' : 'taken', firing: id }
  const isSure = state === 'started' || (state === 'owed' && debounce === undefined && rate === undefined)
  return isSure ? { ...said, run_id } : said
}

async function verified(
  world: World,
  key: TriggerKey,
  { webhook }: WebhookTrigger,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array },
): Promise<Uint8Array> {
  const { hmac } = webhook.verify
  const secrets = await world.hookKeys.read(hmac.secret).catch((error: unknown) => {
    // Which secret is missing is nothing for whoever calls.
    world.log.error('webhook cannot be judged', { ...named(key), error: String(error) })
    const text = 'Cannot take this message now. Send it again later.'
    throw new Fault('Unavailable', 'try_again', text, { cause: error })
  })
  const verdict = verifyMessage(message, hmac, secrets, world.clock.now())
  if (verdict.ok) return verdict.signed
  const { ok: _, reason, ...facts } = verdict
  throw notVerified(world, key, reason, facts)
}

function notVerified({ log }: World, key: TriggerKey, reason: string, facts: object = {}): Fault {
  log.info('webhook refused', { ...named(key), reason, ...facts })
  const message = 'Cannot take this message: no trigger of this address can tell that it is from whom it should be.'
  return new Fault('Rejected', 'not_verified', message, { status: 401 })
}

function named({ document, trigger }: TriggerKey) {
  return { document: document.slice(0, 100), trigger: trigger.slice(0, 100) }
}

function tooLarge(bytes: number, most: number): Fault {
  const message = `Cannot take the message: it has ${bytes} bytes, at most ${most} are allowed.`
  return new Fault('LimitExceeded', 'body_too_large', message, { status: 413, facts: { max_bytes: most } })
}

const MINUTE_MS = 60_000

/** By minutes of the clock, of messages that are believed: nobody else can use them up. */
async function countMessage(
  { runs, clock }: World,
  { tenant, document, trigger }: TriggerKey,
  cap: number,
): Promise<void> {
  const now = clock.now()
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const window = new Date(minute).toISOString().slice(0, 16)
  if (await runs.countRequest(tenant, `hook:${document}/${trigger}`, window, cap)) return
  const message = `Cannot take more messages in this minute: ${cap} are allowed (max_per_minute). Send it again in the next one.`
  const facts = { max_per_minute: cap, retry_after_ms: minute + MINUTE_MS - now }
  throw new Fault('LimitExceeded', 'too_many_messages', message, { facts })
}

/** Its sender may keep it and send it again. */
async function refusePaused({ triggers }: World, key: TriggerKey): Promise<void> {
  const state = await triggers.state(key)
  if (state?.paused === undefined) return
  throw new Fault(
    'Unavailable',
    'trigger_paused',
    'Cannot take this message: its trigger is paused. Send it again later.',
  )
}

/** API Gateway writes null for one without a value. */
function smallHeaders(headers: Readonly<Record<string, string | null>> | null): Record<string, string> {
  const given = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name.toLowerCase(), value] as const],
  )
  return Object.fromEntries(given)
}

/** What proves a sender is nothing for a run. */
function shownHeaders(headers: Readonly<Record<string, string>>, { webhook }: WebhookTrigger): Record<string, string> {
  const hidden = ['authorization', 'cookie', 'x-api-key', webhook.verify.hmac.header]
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hidden.includes(name)))
}

/** JSON where it says so, else a text. */
function readBody(type: string | undefined, bytes: Uint8Array): Json {
  const text = utf8(bytes)
  if (/^application\/(?:[a-z.+-]+\+)?json\s*(?:;|$)/i.test(type ?? ''))
    return text === '' ? null : (readStrictJson(text) as Json)
  const problem = jsonProblem(text)
  if (problem === undefined) return text
  throw new Fault('InvalidInput', problem.code, `Cannot read the body: ${problem.text}.`)
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Fault('InvalidInput', 'not_utf8', 'Cannot read the body: it is not valid UTF-8.', { cause })
  }
}
