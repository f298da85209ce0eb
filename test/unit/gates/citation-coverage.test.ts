import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { sentencesIn } from '../../../shared/text/prose.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more = {}) => ({ type: 'citation_coverage', port: 'answer', ...more })
const judge = (answer: Json, more = {}, sources: Json = [{ id: 'a', text: '' }]) =>
  judged(check(more), factsOf({ answer, sources }))

describe('sentencesIn()', () => {
  test.each([
    ['It is so. It was so before.', 2],
    ['It is 3.5 percent of it. The rest is less!', 2],
    ['It was, e.g. in May, quite cold. Dr. Smith measured it.', 2],
    ['It is really so. [1] And this is not [2].', 2],
    ['# A heading\n\nIt is really so\nover two lines.\n\n---\n\n[^1]: the note', 1],
    ['- the first of these\n- the second of these\n1. the third of these', 3],
    ['これは文です。これも文です。', 2],
    ['He said "it is so." Then he left us.', 2],
    ['', 0],
    ['... !!!', 0],
  ])('of %j there are %i', (text, count) => {
    expect(sentencesIn(text)).toHaveLength(count)
  })
})

describe('citation_coverage', () => {
  test('counts the share of sentences that cite', async () => {
    const answer = 'Oslo grows every year [a]. It has many trams. [b] Nobody knows why.'
    expect((await judge(answer, { min: 0.6 })).passed).toBe(true)
    expect((await judge(answer, { min: 0.7 })).reason).toBe(
      'must cite at least 0.7 of the sentences: 2 of 3 sentences are cited, not "Nobody knows why."',
    )
  })

  test('with evidence, only what is there counts', async () => {
    const answer = 'Oslo grows every year [a]. It has many trams [b].'
    expect((await judge(answer)).passed).toBe(true)
    expect((await judge(answer, { evidence: 'sources' })).passed).toBe(false)
  })

  test.each<[Json]>([[['a']], [7], [''], ['# only a heading'], ['x'.repeat(10_000_000)]])(
    'judges nothing of other things',
    async (answer) => {
      expect((await judge(answer)).status).toBe('failed')
      expect((await judge(answer, { not: true })).status).toBe('failed')
    },
  )

  test.each([[{ min: 0 }], [{ min: 1.1 }], [{ max: 1 }]])('refuses %j at parse', (more) => {
    expect(refusals(check(more))).not.toEqual([])
  })

  test('passes exactly from the share that is cited', async () => {
    const cited = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(cited, fc.constantFrom(0.25, 0.5, 0.75, 1), async (flags, min) => {
        const answer = flags.map((flag) => `This is really so${flag ? ' [a]' : ''}.`).join(' ')
        expect((await judge(answer, { min })).passed).toBe(flags.filter(Boolean).length / flags.length >= min)
      }),
      { numRuns: 60 },
    )
  })

  test('twice the text costs twice', async () => {
    await expectLinear((size) => judge('A sentence of words [a]. '.repeat(size)), 5_000)
    await expectLinear((size) => judge('. '.repeat(size)), 100_000)
    await expectLinear((size) => judge(' '.repeat(size)), 200_000)
    await expectLinear((size) => judge('a.[b'.repeat(size)), 50_000)
  })
})
