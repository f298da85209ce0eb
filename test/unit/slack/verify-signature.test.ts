import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signBody, verifySignature } from '../../../shared/slack/signature.ts'

/** Slack's own published example (docs.slack.dev/authentication/verifying-requests-from-slack). */
const SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const SECOND = 1_531_420_618
const BODY = Buffer.from(
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
)
const SIGNATURE = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'
const request = { timestamp: String(SECOND), signature: SIGNATURE, body: BODY }
const NOW = SECOND * 1_000
const reasonOf = (verdict: ReturnType<typeof verifySignature>) => (verdict.ok ? 'ok' : verdict.reason)

test("Slack's published example is signed", () => {
  expect(verifySignature(request, [SECRET], NOW)).toEqual({ ok: true })
})

describe('verifySignature() refuses', () => {
  test.each<[string, Partial<typeof request>, string]>([
    ['no timestamp', { timestamp: undefined as never }, 'bad_timestamp'],
    ['a timestamp of nine digits', { timestamp: '153142061' }, 'bad_timestamp'],
    ['a timestamp of eleven digits', { timestamp: '15314206180' }, 'bad_timestamp'],
    ['a timestamp with a line after it', { timestamp: `${SECOND}\n` }, 'bad_timestamp'],
    ['a timestamp in other digits', { timestamp: '١٥٣١٤٢٠٦١٨' }, 'bad_timestamp'],
    ['two timestamps', { timestamp: `${SECOND}, ${SECOND}` }, 'bad_timestamp'],
    ['no signature', { signature: undefined as never }, 'bad_signature'],
    ['another version', { signature: SIGNATURE.replace('v0', 'v1') }, 'bad_signature'],
    ['capitals', { signature: SIGNATURE.toUpperCase() }, 'bad_signature'],
    ['half a hash', { signature: SIGNATURE.slice(0, 40) }, 'bad_signature'],
    ['one wrong digit', { signature: `${SIGNATURE.slice(0, -1)}4` }, 'wrong_signature'],
    ['the next second', { timestamp: String(SECOND + 1) }, 'wrong_signature'],
    ['a truncated body', { body: BODY.subarray(0, -1) }, 'wrong_signature'],
    ['a re-encoded body', { body: Buffer.from(BODY.toString().replaceAll('%2F', '/')) }, 'wrong_signature'],
    ['no body', { body: Buffer.alloc(0) }, 'wrong_signature'],
    ['too large a body', { body: Buffer.alloc(262_145) }, 'too_large'],
  ])('%s', (_what, changed, reason) => {
    expect(verifySignature({ ...request, ...changed }, [SECRET], NOW)).toEqual({ ok: false, reason })
  })

  test('another secret, no secret, and the empty one', () => {
    for (const secrets of [['x'.repeat(32)], [], ['']]) {
      expect(reasonOf(verifySignature(request, secrets, NOW))).toBe('wrong_signature')
    }
    const unkeyed = { ...request, signature: signBody('', request.timestamp, BODY) }
    expect(reasonOf(verifySignature(unkeyed, [''], NOW))).toBe('wrong_signature')
  })

  test('what is more than 300 seconds old or ahead, and says by how much', () => {
    const at = (sec: number) => verifySignature(request, [SECRET], NOW + sec * 1_000)
    expect([at(300), at(-300)]).toEqual([{ ok: true }, { ok: true }])
    expect(at(301)).toEqual({ ok: false, reason: 'stale', skew_sec: -301 })
    expect(at(-301)).toEqual({ ok: false, reason: 'future', skew_sec: 301 })
  })
})

test('either of two secrets is taken while they are rotated', () => {
  for (const secrets of [
    [SECRET, 'new'],
    ['new', SECRET],
  ]) {
    expect(verifySignature(request, secrets, NOW)).toEqual({ ok: true })
  }
})

test('bytes that are no text are signed as they are', () => {
  const body = Buffer.from([0, 255, 254, 0xc3, 0x28, 10])
  const signature = `v0=${createHmac('sha256', 's').update('v0:1531420618:').update(body).digest('hex')}`
  expect(signBody('s', '1531420618', body)).toBe(signature)
  expect(verifySignature({ timestamp: '1531420618', signature, body }, ['s'], NOW)).toEqual({ ok: true })
})

/** One way to change each part of a request that was signed well. */
const forged = fc.oneof(
  fc.string({ maxLength: 80 }).map((signature) => ({ signature })),
  fc.stringMatching(/^v0=[0-9a-f]{64}$/).map((signature) => ({ signature })),
  fc.string({ maxLength: 12 }).map((timestamp) => ({ timestamp })),
  fc.integer({ min: 1_000_000_000, max: 9_999_999_999 }).map((second) => ({ timestamp: String(second) })),
  fc.uint8Array({ maxLength: 400 }).map((body) => ({ body })),
  fc.nat({ max: BODY.length - 1 }).map((at) => ({ body: BODY.subarray(0, at) })),
  fc.tuple(fc.nat({ max: BODY.length - 1 }), fc.integer({ min: 1, max: 255 })).map(([at, by]) => {
    const body = Uint8Array.from(BODY)
    body[at] = (body[at] ?? 0) ^ by
    return { body }
  }),
  // Well signed, at a wrong time.
  fc
    .integer({ min: 301, max: 100_000_000 })
    .chain((sec) => fc.constantFrom(String(SECOND - sec), String(SECOND + sec)))
    .map((timestamp) => ({ timestamp, signature: signBody(SECRET, timestamp, BODY) })),
)

test('of 10,000 fuzzed signatures, bodies and timestamps none is accepted', () => {
  let accepted = 0
  fc.assert(
    fc.property(forged, (changed) => {
      const sent = { ...request, ...changed }
      const isTheExample =
        sent.timestamp === request.timestamp && sent.signature === SIGNATURE && Buffer.compare(sent.body, BODY) === 0
      if (!isTheExample && verifySignature(sent, [SECRET], NOW).ok) accepted += 1
    }),
    { numRuns: 10_000 },
  )
  expect(accepted).toBe(0)
})
