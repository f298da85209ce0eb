import { expect, test } from 'vitest'
import { costWords } from '../../../clients/cli/terminal/format.ts'

test.each([
  ['nothing was used', { tokens: 0, usd: 0 }, ''],
  ['it was free', { tokens: 9, usd: 0 }, ''],
  ['all of it has a price', { tokens: 9, usd: 0.00421 }, '$0.0042'],
  ['a part has none', { tokens: 1_300, usd: 0.0042, unpriced_tokens: 1_250 }, '$0.0042 + unknown'],
  ['a part was free, of the other nobody knows', { tokens: 9, usd: 0, unpriced_tokens: 1 }, '$0 + unknown'],
  ['no part has one', { tokens: 9, usd: null, unpriced_tokens: 9 }, 'unknown price'],
  ['nobody counted', { tokens: 9, usd: null }, 'unknown price'],
])('a run of which %s', (_, run, words) => {
  expect(costWords(run)).toBe(words)
})
