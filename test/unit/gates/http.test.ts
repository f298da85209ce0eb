import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'http', url: 'https://example.com/health' }

describe('http', () => {
  test('parses with its defaults', () => {
    expect(parseCheck(check)).toEqual({
      ok: true,
      check: { ...check, method: 'GET', expect_status: 200, timeout_ms: 5_000 },
    })
    expect(refusals({ type: 'http', port: 'link', method: 'HEAD', expect_status: 204, timeout_ms: 100 })).toEqual([])
  })

  test('answers error, never a pass, until it can run', async () => {
    const verdict = await judged(check, factsOf({}))
    expect(verdict).toMatchObject({ passed: false, status: 'error' })
    expect(verdict.reason).toMatch(/^http gates are not available yet/)
  })

  test.each([
    ['neither url nor port', { type: 'http' }],
    ['both url and port', { ...check, port: 'link' }],
    ['POST', { ...check, method: 'POST' }],
    ['a small-letter method', { ...check, method: 'get' }],
    ['another scheme', { type: 'http', url: 'file:///etc/passwd' }],
    ['a user name', { type: 'http', url: 'https://a:b@example.com' }],
    ['a broken URL', { type: 'http', url: 'http:/example.com' }],
    ['a status that is none', { ...check, expect_status: 99 }],
    ['no time', { ...check, timeout_ms: 0 }],
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
