import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LimitedAnswer, LimitedRequest } from '../../../shared/gates/gate-ports.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'http', url: 'https://example.com/health' }
const answered = (status: number): LimitedAnswer => ({ kind: 'answered', status, url: 'https://e.com/', body: '' })

/** What comes of the gate where net-gate gives this answer; and what it was asked. */
async function judgedWith(given: Json, answer: LimitedAnswer, outputs: Readonly<Record<string, Json>> = {}) {
  const asked: LimitedRequest[] = []
  const request = async (wanted: LimitedRequest) => {
    asked.push(wanted)
    return answer
  }
  return { verdict: await judged(given, factsOf(outputs), {}, { http: { request } }), asked }
}

describe('http', () => {
  test('parses with its defaults', () => {
    expect(parseCheck(check)).toEqual({
      ok: true,
      check: { ...check, method: 'GET', expect_status: 200, timeout_ms: 5_000 },
    })
    expect(refusals({ type: 'http', port: 'link', method: 'HEAD', expect_status: 204, timeout_ms: 100 })).toEqual([])
  })

  test('passes when the status is the expected one', async () => {
    const { verdict, asked } = await judgedWith({ ...check, expect_status: 404 }, answered(404))
    expect(verdict).toMatchObject({ status: 'passed', facts: { url: 'https://e.com/', status: 404 } })
    expect(asked).toEqual([{ method: 'GET', url: check.url, timeout_ms: 5_000 }])
  })

  test('fails with both when it is another', async () => {
    const { verdict } = await judgedWith(check, answered(500))
    expect(verdict).toMatchObject({ status: 'failed' })
    expect(verdict.reason).toBe('GET https://example.com/health must answer 200, it answered 500')
  })

  test('asks the URL of a port, and only if it is one', async () => {
    const gate = { type: 'http', port: 'link', method: 'HEAD' }
    const { verdict, asked } = await judgedWith(gate, answered(200), { link: 'http://a.b/c' })
    expect([verdict.status, asked]).toEqual(['passed', [{ method: 'HEAD', url: 'http://a.b/c', timeout_ms: 5_000 }]])
    for (const link of [
      'no url',
      'http://2130706433/',
      'file:///etc/passwd',
      'http://a:b@c.d/',
      '',
      7,
      ['http://a.b'],
    ]) {
      const bad = await judgedWith(gate, answered(200), { link })
      expect([bad.verdict.status, bad.asked]).toEqual(['failed', []])
    }
  })

  test('who expects a redirect gets the first answer', async () => {
    const { asked } = await judgedWith({ ...check, expect_status: 301 }, answered(301))
    expect(asked).toMatchObject([{ follow: false }])
  })

  test('what is not allowed fails, who does not answer is an error, and neither passes negated', async () => {
    const refused = await judgedWith(check, { kind: 'refused', reason: 'a redirect: private' })
    expect(refused.verdict).toMatchObject({ status: 'failed', reason: expect.stringContaining('a redirect: private') })
    const failed = await judgedWith(check, { kind: 'failed', reason: 'ECONNREFUSED' })
    expect(failed.verdict).toMatchObject({ status: 'error', reason: expect.stringContaining('ECONNREFUSED') })
    for (const answer of [{ kind: 'refused', reason: 'x' } as const, { kind: 'failed', reason: 'x' } as const]) {
      expect((await judgedWith({ ...check, not: true }, answer)).verdict.passed).toBe(false)
    }
    expect((await judgedWith({ ...check, not: true }, answered(500))).verdict.passed).toBe(true)
  })

  test('is an error where nobody can be asked', async () => {
    expect(await judged(check, factsOf({}))).toMatchObject({ passed: false, status: 'error' })
  })

  test.each([
    ['neither url nor port', { type: 'http' }],
    ['both url and port', { ...check, port: 'link' }],
    ['POST', { ...check, method: 'POST' }],
    ['a small-letter method', { ...check, method: 'get' }],
    ['another scheme', { type: 'http', url: 'file:///etc/passwd' }],
    ['a user name', { type: 'http', url: 'https://a:b@example.com' }],
    ['a broken URL', { type: 'http', url: 'http:/example.com' }],
    ['an address in disguise', { type: 'http', url: 'http://0x7f.1/' }],
    ['a status that is none', { ...check, expect_status: 99 }],
    ['a status nobody ends with', { ...check, expect_status: 100 }],
    ['no time', { ...check, timeout_ms: 0 }],
    ['too much time', { ...check, timeout_ms: 30_001 }],
    ['headers', { ...check, headers: { Host: 'x' } }],
  ])('refuses %s at parse', (_, bad) => {
    expect(refusals(bad)).toHaveLength(1)
  })

  test('accepts GET and HEAD alone', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE')), (method) => {
        expect(refusals({ ...check, method })).toHaveLength(method === 'GET' || method === 'HEAD' ? 0 : 1)
      }),
    )
  })
})
