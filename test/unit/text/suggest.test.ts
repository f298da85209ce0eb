import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { suggest } from '../../../shared/text/wording.ts'

describe('suggest()', () => {
  test.each([
    ['promt', ['model', 'prompt', 'provider'], 'prompt'],
    ['tiemout_ms', ['timeout_ms', 'retry'], 'timeout_ms'],
    ['Agent', ['agent', 'agents'], 'agent'],
    ['ab', ['ba'], 'ba'],
    ['spec', ['body', 'text'], undefined],
    ['plam', ['plan', 'play', 'clam'], 'plan'],
    ['x', [], undefined],
    ['text', ['body'], undefined],
  ])('%s among %j is %s', (word, candidates, expected) => {
    expect(suggest(word, candidates)).toBe(expected)
  })

  test('finds a word again after one edit', () => {
    const word = fc.stringMatching(/^[a-z]{6,20}$/)
    fc.assert(
      fc.property(word, fc.nat(), (candidate, seed) => {
        const at = seed % candidate.length
        expect(suggest(candidate.slice(0, at) + candidate.slice(at + 1), [candidate])).toBe(candidate)
      }),
    )
  })
})
