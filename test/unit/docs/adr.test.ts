import { describe, expect, test } from 'vitest'
import { codesIn, filesBelow, readText, rowsBelow } from './markdown.ts'

const PAGE = readText('docs/adr/dependencies.md')
const records = filesBelow(['docs/adr'], '.md')
  .filter((path) => !path.endsWith('/dependencies.md'))
  .toSorted()
const titles = records.map((path) => readText(path).split('\n')[0] ?? '')
const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> }

describe('docs/adr', () => {
  test('is numbered, in the title as in the file name, without a gap but for notes that became a row', () => {
    const numbers = records.map((path) => /\/(\d{4})-/.exec(path)?.[1] ?? '')
    expect(titles.map((title) => /^# (\d{4}) \S/.exec(title)?.[1])).toEqual(numbers)
    expect([...numbers, ...retired()].toSorted()).toEqual(
      Array.from({ length: Number(numbers.at(-1)) }, (_, at) => numbered(at + 1)),
    )
  })

  test('has one row for each runtime dependency, and none for a dependency that is gone', () => {
    const named = rowsBelow(PAGE, 'Runtime dependencies').map(([cell = '']) => codesIn(cell)[0])
    expect(named.toSorted()).toEqual(Object.keys(dependencies).sort())
  })

  test('says of every record what was decided, when, and what follows', () => {
    const words = /^Status: \w+, \d{4}-\d{2}$[\s\S]*^Decision: [\s\S]*^(?:Consequence|Leaving it): /m
    expect(records.filter((path) => !words.test(readText(path)))).toEqual([])
  })
})

/** Numbers of notes on single dependencies, as the page names them: `0010 to 0019, 0022`. */
function retired(): readonly string[] {
  const [, list = ''] = /note of its own \(([^)]+)\)/.exec(PAGE) ?? []
  return list.split(', ').flatMap((part) => {
    const [from = 0, to = from] = part.split(' to ').map(Number)
    return Array.from({ length: to - from + 1 }, (_, at) => numbered(from + at))
  })
}

function numbered(n: number): string {
  return String(n).padStart(4, '0')
}
