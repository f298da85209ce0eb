import { describe, expect, test } from 'vitest'
import { parseCheck } from '../../../shared/gates/parse-check.ts'

describe('parseCheck()', () => {
  test('fills in defaults and keeps the type', () => {
    expect(parseCheck({ type: 'contains', port: 'plan', values: ['a'] })).toEqual({
      ok: true,
      check: { type: 'contains', port: 'plan', values: ['a'], case_sensitive: false },
    })
    expect(parseCheck({ type: 'port_min_length', port: 'plan', min: 1 })).toEqual({
      ok: true,
      check: { type: 'port_min_length', port: 'plan', min: 1 },
    })
  })

  test('parsing what it parsed changes nothing', () => {
    for (const check of [
      { type: 'valid_url', port: 'a' },
      { type: 'shell', command: 'ls' },
      { type: 'http', url: 'https://example.com' },
      { type: 'json_schema', port: 'a', schema: { type: 'object' } },
    ]) {
      const once = parseCheck(check)
      expect(once.ok && parseCheck(once.check)).toEqual(once)
    }
  })

  test('an unknown type has a did-you-mean, or the list', () => {
    expect(parseCheck({ type: 'min_lenght', port: 'plan', min: 1 })).toEqual({
      ok: false,
      errors: [{ path: 'type', message: 'Unknown gate type "min_lenght".', hint: 'Did you mean "min_length"?' }],
    })
    const far = parseCheck({ type: 'quantum' })
    expect(!far.ok && far.errors[0]?.hint).toMatch(/^Known types: contains, matches, /)
  })

  test('an unknown parameter has a did-you-mean, or the list', () => {
    const near = parseCheck({ type: 'semantic_review', port: 'a', keywords: ['b'], min_match: 1 })
    expect(near).toEqual({
      ok: false,
      errors: [
        {
          path: 'min_match',
          message: 'Unknown parameter "min_match" of gate type "semantic_review".',
          hint: 'Did you mean "min_matches"?',
        },
      ],
    })
    const far = parseCheck({ type: 'valid_json', port: 'a', xyzzy: 1 })
    expect(!far.ok && far.errors[0]?.hint).toBe('Allowed: port.')
  })

  test('every wrong parameter is told with its path', () => {
    const parsed = parseCheck({ type: 'contains', values: ['a', 1], case_sensitive: 'no' })
    expect(!parsed.ok && parsed.errors.map(({ path }) => path)).toEqual(['port', 'values.1', 'case_sensitive'])
  })

  test('tells at most ten errors of a thousand', () => {
    const parsed = parseCheck({ type: 'contains', port: 'a', values: Array.from({ length: 90 }, () => 1) })
    expect(!parsed.ok && parsed.errors).toHaveLength(10)
  })

  test.each([
    [undefined],
    [null],
    ['contains'],
    [[]],
    [{}],
    [{ type: 5 }],
    [{ type: 'x'.repeat(10_000) }],
    [JSON.parse('{"type": "valid_json", "port": "a", "__proto__": 1}')],
  ])('refuses %j in words', (check) => {
    const parsed = parseCheck(check)
    expect(parsed.ok).toBe(false)
    expect(!parsed.ok && parsed.errors.every(({ message }) => message.length > 10 && message.length < 300)).toBe(true)
  })
})
