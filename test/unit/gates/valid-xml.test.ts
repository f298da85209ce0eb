import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = { type: 'valid_xml', port: 'feed' }
const judge = (feed: Json, more = {}) => judged({ ...check, ...more }, factsOf({ feed }))

describe('valid_xml', () => {
  test.each([
    ['<a/>'],
    ['\ufeff<?xml version="1.0" encoding="UTF-8" standalone=\'yes\'?>\n<a />\n'],
    ['<!-- one --><?style x="y"?><a b="1" c=\'2\'>t<b>u</b>v</a><!-- two -->'],
    ['<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x1F600;</a>'],
    ['<a b="&#10;&amp;x > \'y\'">]] ></a>'],
    ['<a><![CDATA[ <b> & ]] > ]]></a>'],
    ['<é:ñ-1.x_ é:ß="x"/>'],
    ['<a\n  b = "1"\n  c\t=\t"2"\n></a\n>'],
    ['<a>\u{1f600}</a>'],
    ['<__proto__ constructor="1" toString="2"/>'],
  ])('passes %j', async (feed) => {
    expect((await judge(feed)).reason).toBe('is well-formed XML')
  })

  test.each([
    ['', /line 1, column 1: no root element/],
    ['text', /text outside the root/],
    ['<a>', /<a> is not closed/],
    ['<a></b>', /line 1, column 4: <\/b> where <a> is open/],
    ['<a/>\n</a>', /line 2, column 1: <\/a> where nothing is open/],
    ['<a/><b/>', /a second root element/],
    ['<a/>text', /text outside the root/],
    ['<a b="1" b="2"/>', /attribute b twice/],
    ['<a b=1/>', /not name="value"/],
    ['<a b/>', /not name="value"/],
    ['<a b="1"c="2"/>', /not name="value"/],
    ['<a b="<"/>', /not name="value"/],
    ['<a b="1/>', /not name="value"/],
    ['<a', /or no end/],
    ['<a>&nbsp;</a>', /no known entity/],
    ['<a>&</a>', /no known entity/],
    ['<a b="&x;"/>', /no known entity/],
    ['<a>&#0;</a>', /no XML character/],
    ['<a>&#xD800;</a>', /no XML character/],
    ['<a>&#x110000;</a>', /no XML character/],
    ['<a>]]></a>', /\]\]> in text/],
    ['<a>\0</a>', /a character that XML does not allow/],
    ['<a>\ufffe</a>', /a character that XML does not allow/],
    ['<!DOCTYPE a><a/>', /a document type, which is refused/],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /a document type, which is refused/],
    ['<a><!DOCTYPE a></a>', /a document type, which is refused/],
    ['<!doctype html><a/>', /a < that starts no tag/],
    ['<!ENTITY b "c"><a/>', /a < that starts no tag/],
    ['<a><!-- x -- y --></a>', /-- in a comment/],
    ['<a><!-- x ---></a>', /-- in a comment/],
    ['<a><!-- x', /a comment is not closed/],
    ['<a><![CDATA[ x ]]', /CDATA is not closed/],
    ['<![CDATA[x]]><a/>', /CDATA outside/],
    [' <?xml version="1.0"?><a/>', /declaration that is wrong or not at the start/],
    ['<?xml version="2.0"?><a/>', /declaration that is wrong/],
    ['<?xml encoding="UTF-8"?><a/>', /declaration that is wrong/],
    ['<? x?><a/>', /without a name/],
    ['<?x', /without a name|not closed/],
    ['<1a/>', /a < that starts no tag/],
    ['< a/>', /a < that starts no tag/],
    ['<a></ a>', /an end tag that is none/],
    ['<a><b></a></b>', /<\/a> where <b> is open/],
    ['<A></a>', /<\/a> where <A> is open/],
  ])('fails %j', async (feed, reason) => {
    expect(await judge(feed)).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) })
  })

  test('a million open elements, and what is too large', async () => {
    expect((await judge('<a>'.repeat(300_000) + '</a>'.repeat(40_000))).reason).toMatch(/at most 1048576|not closed/)
    expect((await judge('<a>'.repeat(140_000) + '</a>'.repeat(140_000))).passed).toBe(true)
    expect((await judge('<a/>'.repeat(3_000_000))).reason).toMatch(/at most 1048576 bytes/)
    expect((await judge('<a/>'.repeat(3_000_000), { not: true })).status).toBe('failed')
  })

  test.each<[Json]>([[['<a/>']], [{ a: '<a/>' }], [7]])('judges nothing of %j', async (feed) => {
    expect((await judge(feed)).reason).toMatch(/^port feed must be text/)
  })

  test('refuses unknown parameters', () => {
    expect(refusals({ ...check, dtd: true })).toHaveLength(1)
  })

  const name = fc.constantFrom('a', 'b', 'x:y', 'é')
  const text = fc.constantFrom('', 'x', '&amp;', '<!-- c -->', '<?p q?>', '<![CDATA[<]]>')
  const { element } = fc.letrec<{ element: string }>((tie) => {
    const inner = fc.array(tie('element'), { maxLength: 2 })
    const tree = fc
      .tuple(name, fc.uniqueArray(name), text, inner, fc.constantFrom('', ' '))
      .map(([tag, attributes, content, children, blank]) => {
        const written = attributes.map((attribute) => ` ${attribute}="v"`).join('')
        return `<${tag}${written}${blank}>${content}${children.join(content)}</${tag}>`
      })
    return { element: fc.oneof({ maxDepth: 4 }, fc.constantFrom('<a/>', '<b c="v" />'), tree) }
  })

  test('what is written as a tree passes, and does not with one end of a tag less', async () => {
    await fc.assert(
      fc.asyncProperty(element, fc.nat(), async (feed, n) => {
        expect((await judge(feed)).passed).toBe(true)
        const tags = feed.replace(/<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>/g, (part) => '_'.repeat(part.length))
        const brackets = [...tags.matchAll(/>/g)]
        const at = brackets[n % brackets.length]?.index ?? 0
        expect((await judge(feed.slice(0, at) + feed.slice(at + 1))).passed).toBe(false)
      }),
      { numRuns: 150 },
    )
  })

  test.each([['<a>'], ['<a b="'], ['<!--'], ['<![CDATA['], ['&'], ['<?x '], ['</a>'], ['<a b="c" '], [' '], ['<a ']])(
    'twice as many %j cost twice',
    async (part) => {
      await expectLinear((size) => judge(`<r>${part.repeat(Math.floor(size / part.length))}`), 200_000)
      await expectLinear((size) => judge(`<r ${part.repeat(Math.floor(size / part.length))}`), 200_000)
    },
  )
})
