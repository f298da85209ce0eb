import { afterEach } from 'vitest'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import { openReceiver, type WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const OLD_SECRET = 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA=='

export const KEYS = new Map([
  ['HOOK', SECRET],
  ['OLD_HOOK', OLD_SECRET],
])

const pass = { mode: 'deterministic', deterministic: { handler: 'pass', config: {} } }
const text = { text: { type: 'string' } }

/** One block that passes its text on. */
export const BRIEF = {
  name: 'brief',
  inputs: text,
  blocks: [{ id: 'plan', ...pass, inputs: { text: 'string' }, outputs: text }],
}

/** The same, asked for first. */
export const ASKING = {
  ...BRIEF,
  name: 'asking',
  blocks: [{ ...BRIEF.blocks[0], approval: { required: true, prompt: 'Shall it go on?' } }],
}

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A receiver of this test. */
export async function receiver(...secrets: readonly string[]): Promise<WebhookReceiver> {
  const made = await openReceiver(secrets.length === 0 ? [SECRET] : secrets)
  undo.push(() => made.close())
  return made
}

/** A place that tells these endpoints; all may be reached. */
export async function placeWith(
  endpoints: readonly { readonly url: string; readonly [key: string]: unknown }[],
  options: PlaceOptions = {},
  settings: object = {},
): Promise<TestPlace> {
  const webhooks = endpoints.map((one, i) => ({ name: `n${i}`, events: 'all', key: { env: 'HOOK' }, ...one }))
  const ports = endpoints.map(({ url }) => Number(new URL(url).port))
  const quiet = { info: () => undefined, error: () => undefined }
  const place = await openTestPlace(
    { keys: KEYS, log: quiet, ...options },
    { http_gates: { ports, loopback: true }, webhooks, ...settings },
  )
  undo.push(() => place.close())
  return place
}

/** What the run still owes. */
export async function owed({ place }: TestPlace, run_id: string) {
  return (await place.world.runs.head({ tenant: 'main', run_id }, []))?.outbox ?? []
}
