import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitsGlob, globMatcher, readGlob } from '../../../shared/goals/glob.ts'
import { atMost } from '../../how-much.ts'
import { expectLinear } from '../gates/linear.ts'

describe('fitsGlob()', () => {
  test.each([
    ['*.pkl', 'model.pkl'],
    ['*.pkl', 'deep/er/model.pkl'],
    ['model.pkl', 'models/model.pkl'],
    ['model?.pkl', 'model1.pkl'],
    ['**/*.pkl', 'model.pkl'],
    ['**/*.pkl', 'a/b/model.pkl'],
    ['models/*.pkl', 'models/a.pkl'],
    ['models/**', 'models/a/b.pkl'],
    ['models/**/b.pkl', 'models/b.pkl'],
    ['a/**/**/b', 'a/x/y/b'],
    ['model[0-9].pkl', 'model7.pkl'],
    ['model[!0-9].pkl', 'modelx.pkl'],
    ['model[^0-9].pkl', 'modelx.pkl'],
    ['*.{pkl,joblib}', 'm.joblib'],
    ['{models,out}/*.pkl', 'out/m.pkl'],
    ['{a,b{c,d}}.txt', 'bd.txt'],
    ['report (1).pdf', 'report (1).pdf'],
    ['a{b}.txt', 'a{b}.txt'],
    ['a[b.txt', 'a[b.txt'],
    ['.*', '.hidden'],
    ['*', 'ä𝕏'],
    ['??', 'ä𝕏'],
    ['m-*.csv', 'm-$1+2.csv'],
    ['a+b.$1^|', 'a+b.$1^|'],
    ['a\\b', 'a\\b'],
    ['a*', 'a\nb'],
    ['m[&]', 'm&'],
    ['m[a^]', 'm^'],
    ['m[[]x', 'm[x'],
    ['m[]]x', 'm]x'],
    ['m[\\d]', 'm\\'],
    ['m[]', 'm[]'],
  ])('%s fits %s', (glob, path) => {
    expect(fitsGlob(glob, path)).toBe(true)
  })

  test.each([
    ['*.pkl', 'model.pkl.txt'],
    ['*.pkl', 'model.pklx'],
    ['model.pkl', 'xmodel.pkl'],
    ['*.pkl', 'MODEL.PKL'],
    ['model[0-9].pkl', 'modelm.pkl'],
    ['model.pkl', 'modelxpkl'],
    ['models/*.pkl', 'models/a/b.pkl'],
    ['models/*.pkl', 'x/models/a.pkl'],
    ['models/?.pkl', 'models//.pkl'],
    ['a?b/c', 'a/b/c'],
    ['models/**', 'models'],
    ['models/**/b', 'modelsx/b'],
    ['*.pkl', '.pkl'],
    ['*', '.hidden'],
    ['**/x', '.git/x'],
    ['?x', '.x'],
    ['[.]x', '.x'],
    ['a/*', 'a/'],
    ['a/**', 'a/'],
    ['!(a).pkl', 'b.pkl'],
    ['!a.pkl', 'b.pkl'],
    ['{1..3}.txt', '2.txt'],
    ['', 'a'],
    ['a+b', 'aab'],
    ['a+b', 'ab'],
    ['m[\\d]', 'm7'],
    ['m[a^]', 'mb'],
    ['a$', 'a'],
    ['a/b', 'b'],
    ['m[a&&b]', 'mc'],
  ])('%s does not fit %s', (glob, path) => {
    expect(fitsGlob(glob, path)).toBe(false)
  })

  test('says what Node says', () => {
    const name = fc.stringMatching(/^[ab.]{1,4}$/).filter((text) => !/^\.\.?$/.test(text))
    const classes = fc.constantFrom('[ab]b', '[!a]*', '{a,b}*', 'a{,b}', '*.{a,ab}', '[a-b]?', '{a,b.{a,b}}')
    const segment = fc.oneof(fc.constant('**'), fc.stringMatching(/^[ab.*?]{1,5}$/), classes)
    const glob = fc.array(
      segment.filter((text) => !/^\.\.?$/.test(text)),
      { minLength: 2, maxLength: 4 },
    )
    // Node answers false to `**/a/**/.b` of a/.b, and true to `a/**/.b`: what several ** make of leading dots is left out.
    const clear = (segments: readonly string[]) =>
      segments.filter((one) => one === '**').length < 2 || !segments.some((one) => one.startsWith('.'))
    const path = fc.array(name, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(glob.filter(clear), path, (segments, names) => {
        const [pattern, text] = [segments.join('/'), names.join('/')]
        // The alphabet has one case: Node does not tell cases apart on macOS and Windows.
        expect([pattern, text, fitsGlob(pattern, text)]).toEqual([pattern, text, posix.matchesGlob(text, pattern)])
      }),
      { numRuns: atMost(2_000, 500) },
    )
  })

  test('takes linear time where backtracking would never end', async () => {
    expect(fitsGlob(`${'*a'.repeat(40)}b`, 'a'.repeat(200))).toBe(false)
    expect(fitsGlob(`${'**/a/'.repeat(40)}b`, 'a/'.repeat(100))).toBe(false)
    const fits = globMatcher(`${'**/'.repeat(100)}*a*b`)
    await expectLinear((size) => expect(fits(`${'a/'.repeat(size)}7`)).toBe(false), 5_000)
  })

  test('braces stand for 64 patterns at most; more are refused and fit nothing', () => {
    expect(readGlob('{a,b}'.repeat(6))).toMatchObject({ ok: true })
    expect(readGlob('{a,b}'.repeat(7))).toEqual({ ok: false, message: 'its braces stand for more than 64 patterns' })
    expect(fitsGlob('{a,b}'.repeat(6), 'abbaab')).toBe(true)
    expect(fitsGlob('{a,b}'.repeat(7), 'abbaabb')).toBe(false)
  })

  test('a class that cannot be is refused and fits nothing', () => {
    expect(readGlob('[z-a]')).toMatchObject({ ok: false, message: expect.stringContaining('pattern') })
    expect(fitsGlob('[z-a]', 'b')).toBe(false)
    expect(fitsGlob('{b,[z-a]}', 'b')).toBe(false)
  })
})
