import { describe, expect, test } from 'vitest'
import { filesBelow, readText } from './markdown.ts'

const records = filesBelow(['docs/adr'], '.md').toSorted()
const titles = records.map((path) => readText(path).split('\n')[0] ?? '')
const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> }

describe('docs/adr', () => {
  test('is numbered without a gap, in the title as in the file name', () => {
    const numbers = records.map((path) => /\/(\d{4})-/.exec(path)?.[1])
    expect(numbers).toEqual(records.map((_, at) => String(at + 1).padStart(4, '0')))
    expect(titles.map((title) => /^# (\d{4}) \S/.exec(title)?.[1])).toEqual(numbers)
  })

  test('has one record for each runtime dependency, and none for a dependency that is gone', () => {
    const named = titles.flatMap((title) => /Runtime dependency: (\S+)/.exec(title)?.[1] ?? [])
    // The clients of one SDK are one decision.
    const decided = Object.keys(dependencies).map((name) => (name.startsWith('@aws-sdk/') ? '@aws-sdk' : name))
    expect(named.toSorted()).toEqual([...new Set(decided)].sort())
  })

  test('says of every record what was decided, when, and what follows', () => {
    const words = /^Status: \w+, \d{4}-\d{2}$[\s\S]*^(?:Decision|Use): [\s\S]*^(?:Consequence|Leaving it): /m
    expect(records.filter((path) => !words.test(readText(path)))).toEqual([])
  })
})
