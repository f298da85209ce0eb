import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'valid_url', port: 'link' }

describe('valid_url', () => {
  test.each([
    ['https://example.com'],
    ['HTTP://EXAMPLE.com:8080/a/b?c=d&e[]=1#f'],
    ['https://user@example.com/%C3%A9'],
    ['http://[2001:DB8::0:1]/'],
    ['http://127.0.0.1'],
    ['https://xn--mnchen-3ya.de/'],
  ])('passes for %s', async (link) => {
    expect((await judged(check, factsOf({ link }))).passed).toBe(true)
  })

  test.each([
    [''],
    ['example.com'],
    ['/path'],
    ['http:example.com'],
    ['http:/example.com'],
    ['http:///example.com'],
    ['http:\\\\example.com'],
    ['http://exa mple.com'],
    [' https://example.com'],
    ['https://example.com\n'],
    ['https://münchen.de'],
    ['http://0x7f.1'],
    ['http://2130706433'],
    ['http://%65xample.com'],
    ['https://example.com/%zz'],
    ['https://example.com/<b>'],
    ['https://'],
    ['https://example.com:99999'],
    ['http://[::1'],
    ['http://a@b@example.com/'],
    [`https://example.com/${'a'.repeat(9_000)}`],
  ])('fails for %j', async (link) => {
    expect((await judged(check, factsOf({ link }))).reason).toMatch(/^must be a URL, /)
  })

  test('allows http and https unless told otherwise', async () => {
    const link = 'ftp://example.com/file'
    expect((await judged(check, factsOf({ link }))).reason).toBe(
      'must be a URL with scheme "http", "https", "ftp://example.com/file" has "ftp"',
    )
    expect((await judged({ ...check, schemes: ['FTP'] }, factsOf({ link }))).passed).toBe(true)
    const mail = { ...check, schemes: ['mailto'] }
    expect((await judged(mail, factsOf({ link: 'mailto:a@example.com' }))).passed).toBe(true)
    expect((await judged(check, factsOf({ link: 'javascript:alert(1)' }))).passed).toBe(false)
  })

  test.each([[[]], [['https:']], ['https'], [[1]]])('refuses schemes %j at parse', (schemes) => {
    expect(refusals({ ...check, schemes })).not.toEqual([])
  })

  test('what passes is what the standard parser reads, unchanged in scheme and host', async () => {
    const text = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.string(),
      fc.stringMatching(/^https?:[/\\ ]{0,3}[a-z0-9.%@:]{0,12}$/),
    )
    await fc.assert(
      fc.asyncProperty(text, async (link) => {
        if (!(await judged(check, factsOf({ link }))).passed) return
        const url = new URL(link)
        expect(link.toLowerCase().startsWith(`${url.protocol}//`)).toBe(true)
        expect(link.toLowerCase()).toContain(url.hostname)
      }),
    )
  })

  test('passes for every ordinary web address', async () => {
    await fc.assert(
      fc.asyncProperty(fc.webUrl(), async (link) => {
        expect((await judged(check, factsOf({ link }))).passed).toBe(true)
      }),
    )
  })
})
