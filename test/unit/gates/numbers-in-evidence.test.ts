import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'
import { expectLinear } from './linear.ts'

const check = (more = {}) => ({ type: 'numbers_in_evidence', port: 'answer', evidence: 'sources', ...more })
const judge = (answer: Json, sources: Json, more = {}) => judged(check(more), factsOf({ answer, sources }))

describe('numbers_in_evidence', () => {
  test.each([
    ['in 1,200 cases', 'in 1200 cases'],
    ['in 1200 cases', 'in 1\u202f200.00 cases'],
    ['5% of them', 'about 5 percent of them'],
    ['5 per cent of them', 'about 5 %, no more'],
    ['$5 million', 'USD 5,000,000 in all'],
    ['2.5 billion', '2,500 million'],
    ['in 2024', 'on 2024-05-01'],
    ['the 1st', 'number 1 of them'],
    ['minus −3 degrees', '(-3)'],
    ['pages 10–15', 'from 10 to 15'],
    ['version 1.2.3 for B12', 'B12 has version 1.2.3'],
    ['It grew [7], so\n1. first\n2) then', 'nothing'],
    ['no numbers, not even seven', 'x'],
    ['0.50 and 007', '.5 0.5 7'],
  ])('%j has numbers of %j only', async (answer, source) => {
    expect((await judge(answer, ['other', source])).reason).toMatch(/^all \d+ numbers are in the evidence$/)
  })

  test.each([
    ['15 of them', '5 and 1.5 and 150', '15'],
    ['5 of them', '5% of them', '5'],
    ['5% of them', '5 of them', '5%'],
    ['-3 degrees', '3 degrees', '-3'],
    ['5 million', '5 billion', '5 million'],
    ['1.5 of it', '1,5 of it', '1.5'],
    ['1.234 of it', '1,234 of it', '1.234'],
    ['10km', '10 km', '10km'],
    ['1990s', '1990', '1990s'],
    ['B12', 'B13 12', 'B12'],
    ['1\u200b5', '1 and 5', '1\u200b5'],
    ['1٥', '15', '1٥'],
    ['12,34', '1234', '12,34'],
    ['9007199254740993', '9007199254740992', '9007199254740993'],
  ])('%j has a number that %j has not', async (answer, source, unknown) => {
    const verdict = await judge(answer, [source])
    expect(verdict.status).toBe('failed')
    const shown = unknown.replace('\u200b', '')
    expect(verdict.reason).toBe(`must have only numbers of the evidence: take out or correct "${shown}"`)
  })

  test('names five and says how many more', async () => {
    expect((await judge('1 2 3 4 5 6 7', ['none'])).reason).toMatch(/"1", "2", "3", "4", "5" and 2 more$/)
  })

  test.each<[Json, Json]>([
    [5, ['5']],
    ['5', []],
    ['5', 5],
    ['5 '.repeat(5_000_000), ['5']],
    ['5', ['5 '.repeat(5_000_000)]],
  ])('judges nothing of other things', async (answer, sources) => {
    expect((await judge(answer, sources)).status).toBe('failed')
    expect((await judge(answer, sources, { not: true })).status).toBe('failed')
  })

  test('refuses unknown parameters: there is no tolerance', () => {
    expect(refusals(check({ tolerance: 0.1 }))).toHaveLength(1)
  })

  test('whole numbers pass exactly when they are there, however they are grouped', async () => {
    const number = fc.nat(2_000_000)
    await fc.assert(
      fc.asyncProperty(
        fc.array(number, { minLength: 1, maxLength: 4 }),
        fc.array(number),
        fc.boolean(),
        async (wanted, more, all) => {
          const known = all ? [...wanted, ...more] : more
          const answer = wanted.map((one) => `${one.toLocaleString('en-US')} things`).join(', ')
          const verdict = await judge(answer, [`We have ${known.join(' and ')}.`])
          expect(verdict.passed).toBe(wanted.every((one) => known.includes(one)))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('twice the text costs twice', async () => {
    await expectLinear((size) => judge('1,200.5 '.repeat(size), ['1']), 10_000)
    await expectLinear((size) => judge('1,'.repeat(size), ['1']), 100_000)
    await expectLinear((size) => judge('1 '.repeat(size), ['1']), 100_000)
    await expectLinear((size) => judge(`${'0'.repeat(size)}1`, ['1']), 200_000)
  })
})
