import { describe, expect, test } from 'vitest'
import { durationWords, sizeWords } from '../../../clients/cli/terminal/format.ts'

describe('durationWords()', () => {
  test.each([
    [-5, '0.00 s'],
    [314, '0.31 s'],
    [9_994, '9.99 s'],
    [9_999, '10.0 s'],
    [59_949, '59.9 s'],
    [59_990, '1 min 00 s'],
    [185_000, '3 min 05 s'],
    [7_440_000, '2 h 04 min'],
  ])('%d ms', (ms, words) => expect(durationWords(ms)).toBe(words))
})

describe('sizeWords()', () => {
  test.each([
    [1, '1 byte'],
    [812, '812 bytes'],
    [12_595, '12.3 KiB'],
    [4_194_304, '4.0 MiB'],
    [65_712_160_000, '61.2 GiB'],
  ])('%d bytes', (bytes, words) => expect(sizeWords(bytes)).toBe(words))
})
