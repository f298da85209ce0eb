import { describe, expect, test } from 'vitest'
import { didYouMean, nearestWords, respell } from '../../../shared/graph/spelling.ts'

const NAMES = ['norway', 'oslo', 'liechtenstein', 'aluminium', 'niger', 'nigeria', 'mali', 'bali', 'a380', 'a320']

describe('nearestWords()', () => {
  test.each<[string, readonly string[]]>([
    ['Norwya', ['norway']],
    ['Norwway', ['norway']],
    ['Norwy', ['norway']],
    ['NORWAI', ['norway']],
    ['Nórwäi', ['norway']],
    ['Lichtenstien', ['liechtenstein']],
    ['aluminum', ['aluminium']],
    ['nigerria', ['nigeria']],
    ['vali', ['bali', 'mali']],
  ])('%s is %j', (word, meant) => {
    expect(nearestWords(word, NAMES)).toEqual(meant)
  })

  test.each(['Noorwyai', 'Osl', 'a390', 'Sweden', ''])('%s is none of them', (word) => {
    expect(nearestWords(word, NAMES)).toEqual([])
  })
})

describe('respell()', () => {
  const one = { written: 'Norwya', meant: ['norway'] }
  const several = { written: 'vali', meant: ['bali', 'mali'] }

  test('replaces a word where one is meant, and leaves the rest as it is', () => {
    expect(respell('Is "Norwya" near vali, Norwya?', [one, several])).toBe('Is "norway" near vali, norway?')
    expect(respell('Oslo', [])).toBe('Oslo')
  })

  test('says what was done, or asks', () => {
    expect(didYouMean(one)).toBe('nothing has the word "Norwya": "norway" was looked for')
    expect(didYouMean(several)).toBe('nothing has the word "vali": did you mean "bali" or "mali"?')
  })
})
