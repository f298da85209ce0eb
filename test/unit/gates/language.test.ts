import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { detectLanguage, LANGUAGES } from '../../../shared/text/language.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (expected: string) => ({ type: 'language', port: 'answer', expected })

/** Sentences as people write them, none made from the lists of words. */
const TEXTS: readonly (readonly [language: string, text: string])[] = [
  ['en', 'The bridge was closed in spring because its bolts had failed, and nobody knew when it would open again.'],
  ['en', 'Install the package, run the tests and then open the report that is written to the folder.'],
  [
    'de',
    'Die Brücke wurde im Frühjahr gesperrt, weil die Bolzen versagt hatten, und niemand wusste, wann sie wieder öffnet.',
  ],
  ['de', 'Installieren Sie das Paket und öffnen Sie danach den Bericht, der in dem Ordner liegt.'],
  [
    'fr',
    'Le pont a été fermé au printemps parce que les boulons avaient cédé, et personne ne savait quand il rouvrirait.',
  ],
  ['es', 'El puente se cerró en primavera porque los pernos habían fallado y nadie sabía cuándo se abriría de nuevo.'],
  [
    'it',
    'Il ponte è stato chiuso in primavera perché i bulloni avevano ceduto e nessuno sapeva quando sarebbe stato riaperto.',
  ],
  [
    'pt',
    'A ponte foi fechada na primavera porque os parafusos tinham falhado e ninguém sabia quando ela seria reaberta.',
  ],
  [
    'nl',
    'De brug werd in het voorjaar gesloten omdat de bouten het hadden begeven en niemand wist wanneer hij weer open zou gaan.',
  ],
  ['sv', 'Bron stängdes på våren eftersom bultarna hade gått av och ingen visste när den skulle öppnas igen.'],
  [
    'pl',
    'Most został zamknięty na wiosnę, ponieważ śruby nie wytrzymały i nikt nie wiedział, kiedy będzie można go otworzyć.',
  ],
  ['ru', 'Мост закрыли весной, потому что болты не выдержали, и никто не знал, когда его снова откроют.'],
  ['uk', 'Міст закрили навесні, бо болти не витримали, і ніхто не знав, коли його знову відкриють для людей.'],
  ['el', 'Η γέφυρα έκλεισε την άνοιξη επειδή οι κοχλίες είχαν σπάσει.'],
  ['ar', 'أغلق الجسر في الربيع لأن المسامير قد تعطلت ولم يعرف أحد متى يفتح.'],
  ['he', 'הגשר נסגר באביב כי הברגים נכשלו ואיש לא ידע מתי ייפתח שוב.'],
  ['hi', 'पुल वसंत में बंद कर दिया गया क्योंकि बोल्ट टूट गए थे और कोई नहीं जानता था।'],
  ['th', 'สะพานถูกปิดในฤดูใบไม้ผลิเพราะสลักเกลียวเสียหาย'],
  ['ko', '다리는 볼트가 고장 나서 봄에 폐쇄되었고 언제 다시 열릴지 아무도 몰랐다.'],
  ['ja', '橋はボルトが壊れたため春に閉鎖され、いつ再開されるか誰も知らなかった。'],
  ['zh', '由于螺栓失效，这座桥在春天被关闭，没有人知道它什么时候会重新开放。'],
]

describe('language', () => {
  test.each(TEXTS)('%s: %s', async (language, answer) => {
    expect(detectLanguage(answer)).toBe(language)
    expect((await judged(check(language), factsOf({ answer }))).passed).toBe(true)
    const other = language === 'en' ? 'de' : 'en'
    const verdict = await judged(check(other), factsOf({ answer }))
    expect(verdict.reason).toBe(`must be in language ${other}, is in ${language}`)
  })

  test('every documented language has a text here', () => {
    expect(new Set(TEXTS.map(([language]) => language))).toEqual(new Set(LANGUAGES))
  })

  test.each([
    [''],
    ['OK'],
    ['The short text'],
    ['12 345 — 67!'],
    ['foo bar baz qux quux corge grault garply waldo fred'],
    ['\u202e\u200b\u200b\u200b'],
    ['The bridge of the town und die Brücke der Stadt'],
  ])('decides nothing of %j, which passes neither way', async (answer) => {
    const verdict = await judged(check('en'), factsOf({ answer }))
    expect(verdict).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/too short or too mixed to decide/),
    })
    expect((await judged({ ...check('en'), not: true }, factsOf({ answer }))).status).toBe('failed')
  })

  test('code and links in a text do not hide its language', async () => {
    const [, english] = TEXTS[0] ?? []
    const answer = `${english} See https://example.com/a and \`const x = 1\`.`
    expect((await judged(check('en'), factsOf({ answer }))).passed).toBe(true)
  })

  test.each<[Json]>([[['a']], [7], ['x'.repeat(10_000_000)]])('judges nothing of other things', async (answer) => {
    expect((await judged(check('en'), factsOf({ answer }))).status).toBe('failed')
    expect((await judged({ ...check('en'), not: true }, factsOf({ answer }))).status).toBe('failed')
  })

  test.each([['tlh'], ['EN'], ['__proto__'], [1]])('refuses the language %j at parse', (expected) => {
    expect(refusals({ type: 'language', port: 'a', expected })).not.toEqual([])
  })

  test('at most one language passes for any text', async () => {
    const some = fc.array(fc.constantFrom(...TEXTS.flatMap(([, text]) => text.split(' '))), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(some, async (words) => {
        const facts = factsOf({ answer: words.join(' ') })
        const verdicts = await Promise.all(LANGUAGES.map((language) => judged(check(language), facts)))
        expect(verdicts.filter(({ passed }) => passed).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 30 },
    )
  })

  test('twice the text costs twice', async () => {
    await expectLinear((size) => judged(check('en'), factsOf({ answer: 'the a '.repeat(size) })), 20_000)
    await expectLinear((size) => judged(check('en'), factsOf({ answer: '橋'.repeat(size) })), 50_000)
  })
})
