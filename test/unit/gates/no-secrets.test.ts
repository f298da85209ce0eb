import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = { type: 'no_secrets', port: 'patch' }
const judge = (patch: Json, more = {}) => judged({ ...check, ...more }, factsOf({ patch }))

/** Put together here, so that no scanner of this repository takes them for real ones. */
const RANDOM = 'q7Zk2LmX9vTbR4wY8nHc5JdF1sGp6AeU0iOy3BxC'
const SECRETS: readonly (readonly [kind: string, secret: string])[] = [
  ['private_key', `-----BEGIN RSA ${'PRIVATE'} KEY-----`],
  ['aws_access_key_id', `AK${'IA'}${'Q3ZK2LMX7VTBR4WY'}`],
  ['github_token', `gh${'p'}_${RANDOM.slice(0, 36)}`],
  ['gitlab_token', `glp${'at'}-${RANDOM.slice(0, 20)}`],
  ['slack_token', `xo${'xb'}-123456789012-${RANDOM.slice(0, 24)}`],
  ['slack_webhook', `https://hooks.slack.com/${'services'}/T0123456789/B0123456789/${RANDOM.slice(0, 24)}`],
  ['stripe_key', `sk_${'live'}_${RANDOM.slice(0, 24)}`],
  ['model_provider_key', `sk-${'proj'}-${RANDOM}`],
  ['google_api_key', `AI${'za'}${RANDOM.slice(0, 35)}`],
  ['mail_service_key', `SG${'.'}${RANDOM.slice(0, 22)}.${RANDOM}abc`],
  ['registry_token', `np${'m'}_${RANDOM.slice(0, 36)}`],
  ['cloud_token', `hv${'s'}.${RANDOM}`],
  ['bot_token', `12345678:A${'A'}${RANDOM.slice(0, 33)}`],
  ['json_web_token', `ey${'J'}${RANDOM}.ey${'J'}${RANDOM}.${RANDOM}`],
  ['url_password', `postgres://admin:${RANDOM.slice(0, 12)}@db.internal/main`],
  ['bearer_token', `Authorization: Bearer ${RANDOM}`],
  ['secret_assignment', `client_secret: "${RANDOM.slice(0, 20)}"`],
  ['secret_assignment', `DB_PASSWORD=${RANDOM.slice(0, 16)}`],
]

describe('no_secrets', () => {
  test.each(SECRETS)('finds a %s and never repeats it', async (kind, secret) => {
    const verdict = await judge(`first line\nthen ${secret} and more`)
    expect(verdict.status).toBe('failed')
    expect(verdict.reason).toContain(`${kind} in line 2`)
    expect(verdict.facts.found).toContainEqual({ kind, text: 1, line: 2 })
    const said = JSON.stringify(verdict)
    for (let at = 0; at + 12 <= secret.length; at += 1) {
      const part = secret.slice(at, at + 12)
      if (/[a-z].*\d.*[A-Z]/.test(part)) expect(said).not.toContain(part)
    }
  })

  test.each(SECRETS)('finds a %s in an object, as a value and in a list', async (kind, secret) => {
    expect((await judge({ a: [{ b: `x ${secret}` }] })).facts.found).toContainEqual({ kind, text: 2, line: 1 })
  })

  test.each(SECRETS)('finds a %s with letters nobody sees in it', async (kind, secret) => {
    expect((await judge(`${secret.slice(0, 9)}\u200b${secret.slice(9)}`)).reason).toContain(kind)
  })

  test('the name of an object member counts as the name', async () => {
    expect((await judge({ api_key: RANDOM.slice(0, 20) })).reason).toContain('secret_assignment')
    expect((await judge({ colour: RANDOM.slice(0, 20) })).passed).toBe(true)
  })

  test.each([
    ['const key = process.env.API_KEY'],
    ['password: changeme'],
    ['token: <your-token-goes-right-here>'],
    ['secret = "this-is-a-hyphenated-name"'],
    ['api_key: $API_KEY_1_OF_THE_SERVICE_Q7'],
    ['AKIA is a prefix, sk- another'],
    ['sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'],
    ['https://user@example.com/a:b@c'],
    ['-----BEGIN PUBLIC KEY-----'],
    ['tokens used: 1234, the secret of success'],
  ])('passes %j', async (patch) => {
    expect((await judge(patch)).reason).toBe('holds no secrets of a known shape')
  })

  test('says what is too large, and no depth breaks it', async () => {
    expect((await judge('x'.repeat(10_000_000))).reason).toMatch(/at most 1048576 bytes/)
    expect((await judge('x'.repeat(10_000_000), { not: true })).status).toBe('failed')
    expect((await judge(new Array(200_000).fill([]))).status).toBe('failed')
    expect((await judge(JSON.parse('{"__proto__": {"password": "q7Zk2LmX9vTbR4wY"}}'))).status).toBe('failed')
  })

  test('refuses unknown parameters', () => {
    expect(refusals({ ...check, allow: [] })).toHaveLength(1)
  })

  test('a secret is found wherever it stands between blanks', async () => {
    const around = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '-', '.', 'é'), maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SECRETS), around, around, async ([kind, secret], before, after) => {
        const { facts } = await judge(`${before} ${secret} ${after}`)
        const line = before.split('\n').length
        expect(facts.found).toContainEqual({ kind, text: 1, line })
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['eyJ-'],
    ['sk-'],
    ['-----BEGIN '],
    ['a:b'],
    ['password='],
    ['token: '],
    ['Bearer '],
    ['://'],
    ['x'],
    [' '],
  ])('twice as many %j cost twice', async (part) => {
    await expectLinear((size) => judge(part.repeat(Math.floor(size / part.length))), 200_000)
  })
})
