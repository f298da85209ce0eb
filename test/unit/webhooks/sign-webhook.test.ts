import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WebhookSettingsSchema } from '../../../shared/webhooks/settings.ts'
import { openWebhooks, readWebhookSecret, signWebhook } from '../../../shared/webhooks/signing.ts'

/** The vector that the libraries of Standard Webhooks test themselves with. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  content: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, text: '{"test": 2432232314}' },
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`
const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })

describe('signWebhook()', () => {
  test('gives the published signature for the published message', () => {
    const secret = readWebhookSecret(VECTOR.secret) ?? new Uint8Array()
    expect(signWebhook([secret], VECTOR.content)).toBe(VECTOR.signature)
  })

  test('gives one signature for each of two secrets, the same as each alone', () => {
    fc.assert(
      fc.property(bytes(24, 64), bytes(24, 64), fc.string(), (a, b, text) => {
        const content = { ...VECTOR.content, text }
        expect(signWebhook([a, b], content)).toBe(`${signWebhook([a], content)} ${signWebhook([b], content)}`)
      }),
      { numRuns: 50 },
    )
  })

  test('no part of a message can be changed under it', () => {
    const [secret] = [readWebhookSecret(VECTOR.secret) ?? new Uint8Array()]
    const changed = [{ id: 'msg_x' }, { timestamp: 1_614_265_331 }, { text: '{"test": 2432232315}' }]
    for (const change of changed) {
      expect(signWebhook([secret], { ...VECTOR.content, ...change })).not.toBe(VECTOR.signature)
    }
  })
})

describe('readWebhookSecret()', () => {
  test('reads what it is given back, of 24 to 64 bytes', () => {
    fc.assert(
      fc.property(bytes(24, 64), (secret) => {
        expect(Buffer.from(readWebhookSecret(`${secretOf(secret)}\n`) ?? [])).toEqual(Buffer.from(secret))
      }),
      { numRuns: 50 },
    )
  })

  test.each([
    ['nothing', ''],
    ['no prefix', VECTOR.secret.slice(6)],
    ['too few bytes', secretOf(new Uint8Array(23))],
    ['too many', secretOf(new Uint8Array(65))],
    ['no base64', `whsec_${'!'.repeat(40)}`],
    ['half a byte at its end', `${VECTOR.secret}A`],
  ])('takes no %s', (_what, text) => {
    expect(readWebhookSecret(text)).toBeUndefined()
  })
})

describe('openWebhooks()', () => {
  const [endpoint] = WebhookSettingsSchema.parse([
    { name: 'billing', url: 'https://example.com/', events: 'all', key: [{ env: 'NEW' }, { env: 'OLD' }] },
  ])
  const sign = (held: Readonly<Record<string, string>>, name = 'billing') =>
    openWebhooks(endpoint === undefined ? [] : [endpoint], async ({ env = '' }) => held[env]).sign(name, VECTOR.content)

  test('signs with both keys while they are rotated', async () => {
    const [first, second] = (await sign({ NEW: secretOf(new Uint8Array(32)), OLD: VECTOR.secret })).split(' ')
    expect(first).toMatch(/^v1,/)
    expect(second).toBe(VECTOR.signature)
  })

  test.each([
    ['is not there', { NEW: VECTOR.secret }, 'billing', 'webhook_key_missing'],
    ['is blank', { NEW: VECTOR.secret, OLD: ' ' }, 'billing', 'webhook_key_missing'],
    ['is of no endpoint', { NEW: VECTOR.secret, OLD: VECTOR.secret }, 'other', 'webhook_key_missing'],
    ['is no such secret', { NEW: VECTOR.secret, OLD: 'hunter2-hunter2' }, 'billing', 'webhook_key_invalid'],
  ])('a key that %s is refused by name, and never told', async (_what, held, name, code) => {
    const refused = await sign(held, name).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'InvalidInput', code })
    expect(String(refused)).toContain(`"${name}"`)
    expect(String(refused)).not.toMatch(/hunter2|MfKQ9/)
  })
})
