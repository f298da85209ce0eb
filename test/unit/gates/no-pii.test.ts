import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = { type: 'no_pii', port: 'answer' }
const judge = (answer: Json, more = {}) => judged({ ...check, ...more }, factsOf({ answer }))

describe('no_pii', () => {
  test.each([
    ['email', 'ada.lovelace+x@mail.example.co.uk'],
    ['email', 'jörg@münchen.de'],
    ['iban', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'gb82west12345698765432'],
    ['card', '4111 1111 1111 1111'],
    ['card', '378282246310005'],
    ['us_ssn', '078-05-1120'],
    ['ip', '192.168.1.254'],
    ['ip', '2001:db8::ff00:42:8329'],
    ['ip', '::ffff:10.0.0.1'],
    ['phone', '+41 44 668 18 00'],
    ['phone', '0049 (30) 1234567'],
    ['phone', '(555) 123-4567'],
  ])('finds %s %j and shows the place without it', async (kind, value) => {
    const verdict = await judge(`Please note: ${value}, thank you.`)
    expect(verdict).toMatchObject({ status: 'failed', facts: { found: [{ kind, count: 1 }] } })
    expect(verdict.reason).toBe(`must hold no personal data: take out 1 ${kind}`)
    expect(verdict.facts.redacted).toBe(`Please note: [${kind}], thank you.`)
    expect(JSON.stringify(verdict)).not.toContain(value)
  })

  test.each([
    ['GB81 WEST 1234 5698 7654 32'],
    ['ZZ82 WEST 1234 5698 7654 32'],
    ['4111 1111 1111 1112'],
    ['000-12-3456 and 900-12-3456 and 123-00-4567'],
    ['256.1.1.1 and 1.2.3'],
    ['12:30 and std::map and a::b'],
    ['version 1.2.3.4.5'],
    ['@home and a@b and me@localhost'],
    ['in 2019, 15,000 of 1234567890123 things'],
    ['commit 5891b5b522d5df086d0ff0b110fbd9d21bb4fc71'],
  ])('passes %j', async (answer) => {
    expect((await judge(answer)).reason).toBe('holds no personal data of these kinds')
  })

  test('reads lists, objects, keys and numbers', async () => {
    expect((await judge({ rows: [{ mail: 'ada@example.com' }] })).passed).toBe(false)
    expect((await judge({ 'ada@example.com': 1 })).passed).toBe(false)
    expect((await judge([4111111111111111])).passed).toBe(false)
  })

  test('only the wanted kinds fail, yet all of them are taken out of the shown text', async () => {
    const both = 'ada@example.com 192.168.1.254'
    expect((await judge(both, { kinds: ['card'] })).passed).toBe(true)
    const verdict = await judge(both, { kinds: ['ip'] })
    expect(verdict.facts).toMatchObject({ found: [{ kind: 'ip', count: 1 }], redacted: '[email] [ip]' })
  })

  test('letters nobody sees hide nothing', async () => {
    expect((await judge('ada@exam\u200bple.com')).passed).toBe(false)
    expect((await judge('4111\u20601111 1111 1111')).passed).toBe(false)
  })

  test('says what is too large', async () => {
    expect((await judge('x'.repeat(10_000_000))).reason).toMatch(/at most 1048576 bytes/)
    expect((await judge('x'.repeat(10_000_000), { not: true })).status).toBe('failed')
  })

  test.each([[{ kinds: [] }], [{ kinds: ['name'] }], [{ redact: true }]])('refuses %j at parse', (more) => {
    expect(refusals({ ...check, ...more })).not.toEqual([])
  })

  test('of numbers like cards, exactly those with the right check digit', async () => {
    const digits = fc.array(fc.nat(9), { minLength: 14, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(digits, fc.nat(9), async (middle, last) => {
        const card = [4, ...middle, last]
        const sum = card
          .toReversed()
          .map((digit, i) => (i % 2 === 0 ? digit : Number(`${digit * 2}`[0]) + Number(`${digit * 2}`[1] ?? 0)))
          .reduce((a, b) => a + b, 0)
        expect((await judge(card.join(''), { kinds: ['card'] })).passed).toBe(sum % 10 !== 0)
      }),
      { numRuns: 100 },
    )
  })

  test.each([['a@'], ['a.'], ['1 '], ['1.'], ['1:'], ['+1'], ['DE12 '], ['a'], ['@a.'], ['(555) ']])(
    'twice as many %j cost twice',
    async (part) => {
      await expectLinear((size) => judge(part.repeat(Math.floor(size / part.length))), 100_000)
    },
  )
})
