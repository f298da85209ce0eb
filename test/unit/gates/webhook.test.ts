import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LimitedAnswer, LimitedRequest } from '../../../shared/gates/gate-ports.ts'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'webhook', url: 'https://example.com/judge', ports: ['plan'] }

/** What comes of the gate where the endpoint answers so; and what it was sent. */
async function judgedWith(answer: LimitedAnswer | string, more: Json = {}, plan: Json = 'a plan') {
  const asked: LimitedRequest[] = []
  const request = async (wanted: LimitedRequest): Promise<LimitedAnswer> => {
    asked.push(wanted)
    if (typeof answer !== 'string') return answer
    return { kind: 'answered', status: 200, url: wanted.url, body: answer }
  }
  const verdict = await judged({ ...check, ...(more as object) }, factsOf({ plan }), {}, { http: { request } })
  return { verdict, asked }
}

describe('webhook', () => {
  test('sends the named ports and passes on a yes', async () => {
    const { verdict, asked } = await judgedWith('{"pass": true, "reason": "fine"}', { label: 'g1', timeout_ms: 70 })
    expect(verdict).toMatchObject({ status: 'passed', reason: 'the webhook says yes: fine' })
    const body = { v: 1, label: 'g1', ports: { plan: 'a plan' } }
    expect(asked).toEqual([{ method: 'POST', url: check.url, timeout_ms: 70, body }])
  })

  test('fails on a no, with its reason made safe', async () => {
    const { verdict } = await judgedWith(JSON.stringify({ pass: false, reason: `too\nshort\u202e${'x'.repeat(999)}` }))
    expect(verdict.status).toBe('failed')
    expect(verdict.reason).toMatch(/^the webhook says no: too shortx{100,}…$/)
    expect((await judgedWith('{"pass":false}')).verdict.reason).toBe('the webhook says no: no reason')
    expect((await judgedWith('{"pass":false}', { not: true })).verdict.passed).toBe(true)
  })

  test.each<[string, LimitedAnswer | string]>([
    ['no JSON', 'yes'],
    ['nothing', ''],
    ['another JSON', 'true'],
    ['a text for a yes', '{"pass":"true"}'],
    ['a number', '{"pass":1}'],
    ['no pass', '{"reason":"x"}'],
    ['further keys', '{"pass":true,"and":1}'],
    ['a reason that is none', '{"pass":true,"reason":7}'],
    ['a list', '[{"pass":true}]'],
    ['another prototype', '{"__proto__":{"pass":true}}'],
    ['another status', { kind: 'answered', status: 500, url: 'x', body: '{"pass":true}' }],
    ['a redirect', { kind: 'answered', status: 302, url: 'x', body: '{"pass":true}' }],
    ['too much', { kind: 'answered', status: 200, url: 'x', body: '{"pass":true}', body_cut: true }],
    ['a refusal of the guard', { kind: 'refused', reason: 'private' }],
    ['no answer', { kind: 'failed', reason: 'ECONNREFUSED' }],
  ])('%s is an error, negated too', async (_, answer) => {
    expect((await judgedWith(answer)).verdict).toMatchObject({ status: 'error', passed: false })
    expect((await judgedWith(answer, { not: true })).verdict).toMatchObject({ status: 'error', passed: false })
  })

  test('nothing is sent without its ports, or when they are too large', async () => {
    for (const plan of [null, 'x'.repeat(300_000)]) {
      const { verdict, asked } = await judgedWith('{"pass":true}', {}, plan)
      expect([verdict.status, asked]).toEqual(['failed', []])
    }
  })

  test('is an error where nobody can be asked', async () => {
    expect(await judged(check, factsOf({ plan: 'x' }))).toMatchObject({ status: 'error' })
  })

  test.each([
    ['no URL', { type: 'webhook', ports: ['plan'] }],
    ['a URL from a port', { ...check, url: { from: 'plan' } }],
    ['a template', { ...check, url: 'https://example.com/{{inputs.a}}' }],
    ['another scheme', { ...check, url: 'ftp://example.com/' }],
    ['a password', { ...check, url: 'https://a:b@example.com/' }],
    ['no ports', { ...check, ports: [] }],
    ['a port twice', { ...check, ports: ['plan', 'plan'] }],
    ['headers', { ...check, headers: {} }],
    ['too much time', { ...check, timeout_ms: 30_001 }],
  ])('refuses %s at parse', (_, bad) => {
    expect(refusals(bad)).toHaveLength(1)
  })

  test('passes on nothing but {"pass": true}', async () => {
    const answer = fc.oneof(fc.json(), fc.string(), fc.constantFrom('{"pass":true}', '{"pass":false}'))
    await fc.assert(
      fc.asyncProperty(answer, async (text) => {
        const { verdict } = await judgedWith(text)
        expect(verdict.passed).toBe(/^\s*\{\s*"pass"\s*:\s*true\s*\}\s*$/.test(text))
      }),
    )
  })
})
