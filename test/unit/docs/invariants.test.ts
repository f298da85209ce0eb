import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ANCHOR_CHECK, ANCHOR_TITLE } from '../../../shared/invariants/anchor.ts'
import { CHAIN_TITLE, INVARIANTS } from '../../../shared/invariants/check-run.ts'
import { readText } from './markdown.ts'

const page = readText('docs/invariants.md')
const [asked = '', further = ''] = page.split('\n## ').filter((part) => part.includes('\n| n '))
const rowsOf = (part: string) => {
  const lines = part.split('\n').filter((line) => /^\| \d/.test(line))
  return lines.map((line) => line.split('|').map((cell) => cell.trim()))
}

describe('docs/invariants.md', () => {
  test('lists what verify asks, in its words', () => {
    const told = rowsOf(asked).map(([, n, title, of]) => [Number(n), title, of])
    const registered = INVARIANTS.map(({ n, title, of }) => [n, title, of])
    expect(told).toEqual([[0, CHAIN_TITLE, 'log'], ...registered, [ANCHOR_CHECK, ANCHOR_TITLE, 'anchor']])
  })

  test('has every number once, 29 in words', () => {
    const numbers = [...rowsOf(asked), ...rowsOf(further)].map(([, n]) => Number(n))
    const wanted = Array.from({ length: 55 }, (_, n) => n).filter((n) => n !== 29)
    expect(numbers.sort((a, b) => a - b)).toEqual(wanted)
    expect(page).toMatch(/^29 /m)
  })

  test('names tests that are there', () => {
    const named = [...page.matchAll(/\btest\/[\w./-]+/g)].map(([path]) => path.replace(/\.$/, ''))
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((path) => !existsSync(new URL(`../../../${path}`, import.meta.url)))).toEqual([])
  })

  test('the registry is by number, each once', () => {
    const numbers = INVARIANTS.map(({ n }) => n)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  })
})
