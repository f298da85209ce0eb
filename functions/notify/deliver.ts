import { Fault } from '../../shared/errors.ts'
import type { LimitedAnswer } from '../../shared/gates/gate-ports.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { BusEvent } from '../../shared/webhooks/buses.ts'
import { toldEndpoints } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { WebhookMessage } from '../../shared/webhooks/message.ts'
import type { Bus, Endpoint, WebhookEndpoint } from '../../shared/webhooks/settings.ts'
import type { World } from '../../shared/world.ts'
import { retryAfterMs } from '../providers/faults.ts'

type DeliverWorld = Pick<World, 'http' | 'webhooks' | 'clock'>

/** What became of one try. `status`: what the endpoint answered by HTTP; absent = it did not, or is a bus. */
export type Delivery =
  | { readonly ok: true; readonly status?: number }
  | { readonly ok: false; readonly status?: number; readonly reason: string; readonly retry_after_ms?: number }

/** How endpoints of one kind are told. */
export interface Telling<E extends Endpoint> {
  /** Those of the settings. */
  readonly endpoints: readonly E[]
  /** The most that one try takes. */
  timeoutMs(endpoint: E): number
  deliver(endpoint: E, message: WebhookMessage, event: Pick<BusEvent, 'type' | 'at'>): Promise<Delivery>
}

/** Sends a message to its endpoint, once: signed now, by the rules of http gates. 2xx = it was taken. */
export async function deliverOnce(
  { http, webhooks, clock }: DeliverWorld,
  { name, url, timeout_ms }: WebhookEndpoint,
  { id, text }: WebhookMessage,
): Promise<Delivery> {
  try {
    const timestamp = Math.floor(clock.now() / 1_000)
    const signature = await webhooks.sign(name, { id, timestamp, text })
    const signed = { id, timestamp, text, signature }
    return readAnswer(await http.request({ method: 'POST', url, timeout_ms, signed }), clock.now())
  } catch (error) {
    // No key here, or nobody to ask by: neither is the endpoint's, and both may pass.
    if (error instanceof Fault) return { ok: false, reason: error.message }
    throw error
  }
}

/** Puts an event on a bus, once. */
export async function putOnce({ buses }: Pick<World, 'buses'>, { name }: Bus, event: BusEvent): Promise<Delivery> {
  try {
    await buses.put(name, event)
    return { ok: true }
  } catch (error) {
    // The bus is away, or refuses: both may pass.
    if (error instanceof Fault) return { ok: false, reason: error.message }
    throw error
  }
}

/** To whichever it is, once and now. */
export function deliverTo(
  world: DeliverWorld & Pick<World, 'buses'>,
  endpoint: Endpoint,
  event: BusEvent,
): Promise<Delivery> {
  return 'bus' in endpoint ? putOnce(world, endpoint, event) : deliverOnce(world, endpoint, event.message)
}

function readAnswer(answer: LimitedAnswer, now: number): Delivery {
  if (answer.kind === 'refused') return { ok: false, reason: `it may not be asked: ${answer.reason}` }
  if (answer.kind === 'failed') return { ok: false, reason: answer.reason }
  const { status, retry_after } = answer
  if (status >= 200 && status <= 299) return { ok: true, status }
  const ms = LATER.has(status) && retry_after !== undefined ? waitOf(retry_after, now) : undefined
  return { ok: false, status, reason: `it answered ${status}`, ...(ms === undefined ? {} : { retry_after_ms: ms }) }
}

/** Answers whose Retry-After is honoured. */
const LATER = new Set([429, 503])

function waitOf(text: string, now: number): number | undefined {
  return retryAfterMs(new Headers({ 'retry-after': text }), now)
}

/** A webhook, or a bus, of the tenant by name. Fault NotFound unknown_webhook names those it has: of another's nobody is told. */
export function findEndpoint(settings: Pick<Settings, 'webhooks' | 'buses'>, tenant: string, name: string): Endpoint {
  const own = toldEndpoints(settings).filter((endpoint) => endpoint.tenant === tenant)
  const found = own.find((endpoint) => endpoint.name === name)
  if (found !== undefined) return found
  const names = own.map((endpoint) => endpoint.name).join(', ')
  const there = names === '' ? 'there is none' : `there are: ${names}`
  const message = `Cannot find webhook "${name}": sluice.yaml of this place names none so; ${there}. Add it to webhooks, or to buses, in sluice.yaml.`
  throw new Fault('NotFound', 'unknown_webhook', message)
}
