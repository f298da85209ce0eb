import { expect, test } from 'vitest'
import { durationWords, isTime, readDuration } from '../../../shared/text/duration.ts'

test.each([
  ['90s', 90],
  ['2h', 7_200],
  ['1d12h', 129_600],
  [5, 5],
  ['5', undefined],
  ['', undefined],
  ['1.5h', undefined],
  ['-1h', undefined],
  ['1h ', undefined],
  ['1w', undefined],
  [1.5, undefined],
  [Number.NaN, undefined],
  [null, undefined],
  ['9'.repeat(10), undefined],
])('%j is %j seconds', (given, seconds) => {
  expect(readDuration(given)).toBe(seconds)
})

test.each([
  [0, '0 s'],
  [90, '1 min 30 s'],
  [7_200, '2 h'],
  [129_661, '1 d 12 h'],
])('%d seconds are told as %s', (seconds, words) => {
  expect(durationWords(seconds)).toBe(words)
})

test.each([
  ['2026-12-24T18:00:00Z', true],
  ['2026-12-24T18:00+01:00', true],
  ['2026-12-24T18:00:00', false],
  ['2026-13-24T18:00:00Z', false],
  ['tomorrow', false],
])('%s is a time: %j', (text, is) => {
  expect(isTime(text)).toBe(is)
})
