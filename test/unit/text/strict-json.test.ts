import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { readStrictJson } from '../../../shared/text/strict-json.ts'
import { expectLinear } from '../gates/linear.ts'

function codeOf(text: string): string {
  try {
    readStrictJson(text)
  } catch (error) {
    if (error instanceof Fault) return `${error.name} ${error.code}`
    throw error
  }
  return 'accepted'
}

describe('readJson()', () => {
  it.each([
    ['64 levels of arrays', '['.repeat(64) + ']'.repeat(64), 'accepted'],
    ['65 levels of arrays', '['.repeat(65) + ']'.repeat(65), 'InvalidInput json_too_deep'],
    ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'InvalidInput json_too_deep'],
    ['many siblings at one level', `[${Array(1_000).fill('[]').join(',')}]`, 'accepted'],
    ['brackets inside a string', JSON.stringify({ a: '['.repeat(200) }), 'accepted'],
    ['the same key twice', '{"a":1,"a":2}', 'InvalidInput duplicate_key'],
    ['the same key spelled with an escape', '{"a":1,"\\u0061":2}', 'InvalidInput duplicate_key'],
    ['the same key in two objects', '[{"a":1},{"a":2}]', 'accepted'],
    ['the same key inside and outside', '{"a":{"a":1}}', 'accepted'],
    ['the outer key again after an inner object', '{"a":{"b":1},"a":2}', 'InvalidInput duplicate_key'],
    ['a key as a value', '{"a":"b","b":"a"}', 'accepted'],
    ['__proto__', '{"__proto__":{}}', 'InvalidInput forbidden_key'],
    ['__proto__ with an escape', '{"__pr\\u006fto__":{}}', 'InvalidInput forbidden_key'],
    ['constructor deep inside', '[{"a":{"constructor" : 1}}]', 'InvalidInput forbidden_key'],
    ['prototype', '{"prototype":1}', 'InvalidInput forbidden_key'],
    ['constructor as a value', '{"a":"constructor"}', 'accepted'],
    ['a string that never ends', '{"a', 'InvalidInput json_syntax'],
    ['an escaped quote before a colon', '{"a\\":b":1}', 'accepted'],
    ['a bad escape in a key', '{"\\x":1}', 'InvalidInput json_syntax'],
    ['a number too large for a double', '{"a":[1e999]}', 'InvalidInput number_too_large'],
    ['a negative one', '-1e999', 'InvalidInput number_too_large'],
    ['one of 400 digits', '9'.repeat(400), 'InvalidInput number_too_large'],
    ['the largest double', '1.7976931348623157e308', 'accepted'],
    ['half of a character', '["\\ud800"]', 'InvalidInput half_character'],
    ['half of a character in a key', '{"\\udc00":1}', 'InvalidInput half_character'],
    ['both halves', '["\\ud83d\\ude00"]', 'accepted'],
    ['nothing', '', 'InvalidInput json_syntax'],
    ['two values', '1 2', 'InvalidInput json_syntax'],
  ])('%s', (_name, text, expected) => {
    expect(codeOf(text)).toBe(expected)
  })

  it('reads whatever JSON.stringify writes, unless a key is forbidden', () => {
    void fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const forbidden = /"(?:__proto__|constructor|prototype)"\s*:/.test(text)
        if (!forbidden) expect(readStrictJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('answers any text with a value or with our own error', () => {
    const scraps = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ', '\\u0061')
    void fc.assert(
      fc.property(fc.array(scraps, { maxLength: 60 }), (parts) => {
        expect(codeOf(parts.join(''))).toMatch(/^(accepted|InvalidInput \w+)$/)
      }),
    )
  })

  it('takes time in proportion to the length of hostile text', async () => {
    for (const unit of ['"\\\\', '\\"', '"a":', '[{"a":', '"']) {
      await expectLinear((size) => codeOf(`{"${unit.repeat(size)}`), 75_000)
    }
  })
})
