import fc from 'fast-check'
import { expect, test } from 'vitest'
import { searchWords, wordSkimmer } from '../../../shared/graph/search-words.ts'

const word = fc.constantFrom(
  ...[
    'running',
    'Runs',
    'run',
    'says',
    'ays',
    'ayed',
    'aing',
    'I',
    'eyes',
    'ye',
    'y',
    'RELATIONAL',
    'flies',
    '42',
    'a',
    'été',
    'Ünder',
    'K',
    'naïve',
    'x2',
  ],
)
const between = fc.constantFrom(' ', '\n', '-', '_', '’', '“', '…', '—', '\u00a0', '«', '·', '\u0301', '.', ',', '')
const texts = fc.oneof(
  fc.array(fc.tuple(word, between)).map((parts) => parts.flat().join('')),
  fc.string({ unit: 'grapheme' }),
)

test('skimming has every word in its place, and the stems of those that are wanted', () => {
  fc.assert(
    fc.property(texts, fc.array(word), (text, some) => {
      const wanted = new Set(some.flatMap((one) => searchWords(one).map(({ stem }) => stem)))
      const words = searchWords(text).map((one, at) => ({ ...one, at }))
      const met = words.filter(({ stem }) => wanted.has(stem))
      expect(wordSkimmer(wanted)(text)).toEqual({ count: words.length, met })
    }),
  )
})
