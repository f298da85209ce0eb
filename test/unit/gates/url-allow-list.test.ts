import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const HOSTS = ['example.com', '*.example.org', 'localhost:8080', 'xn--mnchen-3ya.de', '[2001:db8::1]']
const check = (more = {}) => ({ type: 'url_allow_list', port: 'answer', hosts: HOSTS, ...more })
const judge = (answer: Json, more = {}) => judged(check(more), factsOf({ answer }))

describe('url_allow_list', () => {
  test.each([
    ['See https://example.com.'],
    ['(http://example.com/a_(b)?c=d#e), <https://a.b.example.org/x>'],
    ['[docs](https://example.com/a)[more](http://example.com:80/)'],
    ['http://localhost:8080/health and HTTPS://EXAMPLE.com'],
    ['https://xn--mnchen-3ya.de/ and https://[2001:db8:0::1]/'],
    ['no URL: just text, a ratio 1:2, // a comment, evil.com, data: 5'],
    [''],
  ])('passes %j', async (answer) => {
    expect((await judge(answer)).status).toBe('passed')
  })

  test.each([
    ['https://evil.test/', /whose host is "evil\.test"$/],
    ['https://sub.example.com/', /whose host/],
    ['https://example.org/', /whose host/],
    ['https://example.com.evil.test', /whose host/],
    ['https://evilexample.org', /whose host/],
    ['https://example.com:8443/', /whose host is "example\.com:8443"$/],
    ['http://localhost/', /whose host/],
    ['https://example.com@evil.test/', /which names a user$/],
    ['https://evil.test\\@example.com/', /no URL as it is written/],
    ['https://@example.com/', /which names a user|no URL/],
    ['https://münchen.de/', /no URL as it is written/],
    ['https://exam\u200bple.com/', /no URL as it is written/],
    ['https:/\\evil.test', /no URL as it is written/],
    ['https:evil.test', /no URL as it is written/],
    ['ftp://example.com/', /whose scheme is "ftp"$/],
    ['[x](javascript:alert(1))', /whose scheme is "javascript"/],
    ['data:text/html,x', /whose scheme is "data"/],
    ['file:///etc/passwd', /whose scheme is "file"/],
    ['[x](//evil.test/a)', /whose host/],
    ['www.evil.test', /whose host/],
    ['https://example.com/?to=https://evil.test', /whose host/],
    ['[a](https://example.com)[b](https://evil.test)', /no URL|whose host/],
    ['https://example.com/https:evil.test', /no URL|whose/],
    ['http://0x7f.1/ http://2130706433/', /no URL as it is written/],
    ['https://https://example.com', /no URL|whose/],
  ])('fails %j', async (answer, reason) => {
    const verdict = await judge(answer)
    expect(verdict).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) })
  })

  test('an empty list allows none, and lists and objects are read', async () => {
    expect((await judge('https://example.com', { hosts: [] })).reason).toMatch(/^must have no URLs: take out/)
    expect((await judge({ links: ['https://example.com', 'https://evil.test'] })).passed).toBe(false)
  })

  test('says what is too large', async () => {
    expect((await judge('x'.repeat(10_000_000))).reason).toMatch(/at most 1048576 bytes/)
    expect((await judge('x'.repeat(10_000_000), { not: true })).status).toBe('failed')
  })

  test.each([
    [{ hosts: ['https://example.com'] }],
    [{ hosts: ['EXAMPLE.com'] }],
    [{ hosts: ['münchen.de'] }],
    [{ hosts: ['*'] }],
    [{ hosts: ['a.*.com'] }],
    [{ schemes: [] }],
    [{ schemes: ['https:'] }],
  ])('refuses %j at parse', (more) => {
    expect(refusals(check(more))).not.toEqual([])
  })

  test('passes exactly for the hosts that are listed', async () => {
    const label = fc.constantFrom('a', 'b', 'example')
    const host = fc.array(label, { minLength: 2, maxLength: 3 }).map((labels) => labels.join('.'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(host, { minLength: 1, maxLength: 3 }),
        fc.array(host, { minLength: 1, maxLength: 3 }),
        async (written, hosts) => {
          const answer = written.map((one) => `<https://${one}/x>`).join(' and ')
          expect((await judge(answer, { hosts })).passed).toBe(written.every((one) => hosts.includes(one)))
        },
      ),
      { numRuns: 100 },
    )
  })

  test.each([['https:'], ['https://a.'], ['a.'], ['www.'], ['//'], ['(//'], [')'], ['a+']])(
    'twice as many %j cost twice',
    async (part) => {
      await expectLinear((size) => judge(part.repeat(Math.floor(size / part.length))), 100_000)
    },
  )
})
