import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Hmac } from '../../../shared/triggers/trigger.ts'
import { signMessage, verifyMessage } from '../../../shared/triggers/verify-message.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const plain: Hmac = { header: 'x-signature', secret: 's', algorithm: 'sha256', encoding: 'hex', prefix: '' }
const timed: Hmac = { ...plain, prefix: 'v1=', timestamp: { header: 'x-time', window_sec: 300 } }
const body = Buffer.from('{"id":7}')
const second = (offset = 0) => String(Math.floor(NOW / 1_000) + offset)

describe('verifyMessage()', () => {
  test('takes what others sign: hex, base64, a prefix, sha512', () => {
    const hex = createHmac('sha256', 'k').update(body).digest('hex')
    const by = (header: string, hmac: Partial<Hmac> = {}) =>
      verifyMessage({ headers: { 'x-signature': header }, body }, { ...plain, ...hmac }, ['k'], NOW)
    expect(by(hex)).toEqual({ ok: true, signed: body })
    expect(by(hex.toUpperCase()).ok).toBe(true)
    expect(by(`sha256=${hex}`, { prefix: 'sha256=' }).ok).toBe(true)
    expect(by(createHmac('sha256', 'k').update(body).digest('base64'), { encoding: 'base64' }).ok).toBe(true)
    expect(by(createHmac('sha512', 'k').update(body).digest('hex'), { algorithm: 'sha512' }).ok).toBe(true)
    expect(by(hex, { prefix: 'sha256=' })).toEqual({ ok: false, reason: 'no_signature' })
    expect(by(hex.slice(2))).toEqual({ ok: false, reason: 'wrong_signature' })
    expect(by(`${hex}00`)).toEqual({ ok: false, reason: 'wrong_signature' })
    expect(by('')).toEqual({ ok: false, reason: 'wrong_signature' })
    expect(verifyMessage({ headers: {}, body }, plain, ['k'], NOW)).toEqual({ ok: false, reason: 'no_signature' })
  })

  test('while a secret is rotated either fits, and an empty one never', () => {
    const headers = { 'x-signature': signMessage(plain, 'new', body) }
    expect(verifyMessage({ headers, body }, plain, ['old', 'new'], NOW).ok).toBe(true)
    expect(verifyMessage({ headers, body }, plain, ['old'], NOW).ok).toBe(false)
    const empty = { 'x-signature': signMessage(plain, '', body) }
    expect(verifyMessage({ headers: empty, body }, plain, [''], NOW).ok).toBe(false)
    expect(verifyMessage({ headers: empty, body }, plain, [], NOW).ok).toBe(false)
  })

  test('a signed time has a window, and is told last', () => {
    const at = (offset: number, secret = 'k') => {
      const headers = { 'x-time': second(offset), 'x-signature': signMessage(timed, secret, body, second(offset)) }
      return verifyMessage({ headers, body }, timed, ['k'], NOW)
    }
    expect(at(-300).ok).toBe(true)
    expect(at(300).ok).toBe(true)
    expect(at(-301)).toEqual({ ok: false, reason: 'stale', skew_sec: -301 })
    expect(at(301)).toEqual({ ok: false, reason: 'future', skew_sec: 301 })
    expect(at(-301, 'other')).toEqual({ ok: false, reason: 'wrong_signature' })
    const moved = { 'x-time': second(1), 'x-signature': signMessage(timed, 'k', body, second()) }
    expect(verifyMessage({ headers: moved, body }, timed, ['k'], NOW)).toEqual({ ok: false, reason: 'wrong_signature' })
    for (const time of ['', 'now', '1.5', `${NOW}`]) {
      const headers = { 'x-time': time, 'x-signature': signMessage(timed, 'k', body, time) }
      expect(verifyMessage({ headers, body }, timed, ['k'], NOW)).toEqual({ ok: false, reason: 'bad_timestamp' })
    }
  })

  test('no other bytes fit a signature', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.string({ minLength: 1 }), (one, other, secret) => {
        const headers = { 'x-signature': signMessage(plain, secret, one) }
        expect(verifyMessage({ headers, body: one }, plain, [secret], NOW).ok).toBe(true)
        const isSame = Buffer.compare(one, other) === 0
        expect(verifyMessage({ headers, body: other }, plain, [secret], NOW).ok).toBe(isSame)
      }),
    )
  })
})
