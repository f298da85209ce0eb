import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from '../../../shared/text/split-lines.ts'

async function* pieces(list: readonly string[]): AsyncGenerator<string> {
  yield* list
}

async function linesOf(list: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of splitLines(pieces(list))) lines.push(line)
  return lines
}

test.each([
  [
    ['{"a":1}\n{"b"', ':2}\r\n', '\n', 'last'],
    ['{"a":1}', '{"b":2}', '', 'last'],
  ],
  [['"\u2028 \u2029 \u0085"\n'], ['"\u2028 \u2029 \u0085"']],
  [
    ['a\r', '\nb'],
    ['a', 'b'],
  ],
  [[], []],
])('%j are the lines %j', async (given, lines) => {
  expect(await linesOf(given)).toEqual(lines)
})

test('lines of JSON are the same however they are cut', async () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)))
  const law = fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), async (lines, size) => {
    const text = lines.map((line) => `${line}\n`).join('')
    const cut = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))
    expect(await linesOf(cut)).toEqual(lines)
  })
  await fc.assert(law, { numRuns: 100 })
})
