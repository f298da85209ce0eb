import { expect, test } from 'vitest'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { bindPlaceholders } from '../../../shared/compile/bind-placeholders.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'

const DOLLAR = '$'
const placeholder = (name: string) => `${DOLLAR}{${name}}`

test('bindPlaceholders() leaves no placeholder of a compiled machine, and changes nothing else', () => {
  const { text } = compileDag({ blocks: [{ id: 'a', upstream: [], approval: { timeout_sec: 60 } }] })
  const names = FUNCTIONS.flatMap((line) => line.placeholder ?? [])
  const bound = bindPlaceholders(text, Object.fromEntries(names.map((name) => [name, `arn:${name}`])))
  expect(bound).not.toContain(placeholder('').slice(0, 2))
  expect(names.reduce((back, name) => back.replaceAll(`"arn:${name}"`, `"${placeholder(name)}"`), bound)).toBe(text)
})

test('bindPlaceholders() writes values as they are, whatever String.replace would make of them', () => {
  const value = `a "quoted" \\ ${DOLLAR}& ${DOLLAR}1`
  expect(JSON.parse(bindPlaceholders(`["${placeholder('RunBlock')}"]`, { RunBlock: value }))).toEqual([value])
})

test('bindPlaceholders() fails on a placeholder without a value, be it named like an object member', () => {
  const unknown = expect.objectContaining({ name: 'Bug', code: 'unknown_placeholder' })
  expect(() => bindPlaceholders(placeholder('Settle'), { RunBlock: 'x' })).toThrow(unknown)
  expect(() => bindPlaceholders(placeholder('constructor'), {})).toThrow(unknown)
})
