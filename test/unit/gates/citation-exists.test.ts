import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more = {}) => ({ type: 'citation_exists', port: 'answer', evidence: 'sources', ...more })
const SOURCES = [
  { id: 'census', text: 'x' },
  { id: 'a.b.c-d', text: 'y' },
  { id: 3, text: 'z' },
]
const judge = (answer: Json, sources: Json = SOURCES, more = {}) => judged(check(more), factsOf({ answer, sources }))

describe('citation_exists', () => {
  test.each([
    ['Oslo grows [census].'],
    ['Oslo grows[^census] and[3].'],
    ['Oslo grows [census, a.b.c-d; ^3] [see the note] [].'],
    ['Read [here](https://a.b) and [census].\n- [x] done\n- [ ] open'],
  ])('passes for %j', async (answer) => {
    expect((await judge(answer)).passed).toBe(true)
  })

  test.each([
    ['Oslo grows [Census].', 'Census'],
    ['Oslo grows [census][4].', '4'],
    ['Oslo grows [census, 1-3].', '1-3'],
    ['Oslo grows [cen\u200bsus] [census] [__proto__].', '__proto__'],
    ['Oslo grows [sic] [census].', 'sic'],
  ])('fails for %j', async (answer, unknown) => {
    const verdict = await judge(answer)
    expect(verdict).toMatchObject({ status: 'failed', facts: { unknown: [unknown] } })
    expect(verdict.reason).toMatch(/^must cite only the evidence: there is no ".*"; the evidence has "census", /)
  })

  test('texts are cited by their place, from 1', async () => {
    expect((await judge('a [1] [2]', ['x', 'y'])).passed).toBe(true)
    expect((await judge('a [0]', ['x', 'y'])).passed).toBe(false)
    expect((await judge('a [3]', ['x', 'y'])).passed).toBe(false)
  })

  test('wants at least min different ones', async () => {
    expect((await judge('Nothing.')).reason).toBe('must cite at least 1 items of the evidence as [id], cites 0')
    expect((await judge('Nothing.', SOURCES, { min: 0 })).passed).toBe(true)
    expect((await judge('a [3] [3]', SOURCES, { min: 2 })).passed).toBe(false)
  })

  test('an answer that says it found none cites nothing, whatever it shows below', async () => {
    const shown =
      'No answer found in the graph for: Who sailed?\nNote: passages that may answer it:\n“They sailed.” [census]'
    expect((await judge(shown)).reason).toBe(
      'must cite at least 1 items of the evidence as [id], says that it is no answer',
    )
    expect((await judge(`Read this. ${shown}`)).passed).toBe(true)
    expect((await judge('No answer was composed.\nWhat was found:\n- They sailed [census]')).passed).toBe(false)
  })

  test.each<[Json, Json]>([
    [['a [3]'], SOURCES],
    ['a [3]', 7],
    ['a [3]', [{ text: 'no id' }]],
    ['x'.repeat(10_000_000), SOURCES],
  ])('judges nothing of other things', async (answer, sources) => {
    expect((await judge(answer, sources)).status).toBe('failed')
    expect((await judge(answer, sources, { not: true })).status).toBe('failed')
  })

  test('refuses unknown parameters', () => {
    expect(refusals(check({ ids: [] }))).toHaveLength(1)
    expect(refusals({ type: 'citation_exists', port: 'a' })).toHaveLength(1)
  })

  test('passes exactly when every id that is cited is there', async () => {
    const id = fc.constantFrom('a', 'b', '1', 'x.y', 'objstore://t/0')
    const ids = fc.array(id, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(ids, ids, async (cited, known) => {
        const sources = known.map((one) => ({ id: one, text: '' }))
        const passed = (await judge(cited.map((one) => `So [${one}].`).join(' '), sources)).passed
        expect(passed).toBe(cited.every((one) => known.includes(one)))
      }),
      { numRuns: 100 },
    )
  })

  test('twice the text costs twice, also where every bracket could start one', async () => {
    await expectLinear((size) => judge('[a,'.repeat(size)), 50_000)
    await expectLinear((size) => judge(`[${'a,'.repeat(size)}`), 100_000)
  })
})
