import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withoutTwins, withTwins } from '../../../infra/local/run-store/twin-hashes.ts'
import { sha256 } from '../../../shared/text/hash.ts'

const hash = sha256('a value')
const stored = { ref: `objstore://main/${hash}`, sha256: hash, bytes: 2 }
const output = {
  type: 'block:output',
  data: { outputs: { a: stored, b: stored }, params_hash: hash, prompt_hash: hash },
}

describe('withoutTwins()', () => {
  test('says a hash once that stands beside itself, in JSON that can still be read', () => {
    const text = JSON.stringify(output)
    const short = withoutTwins(text)
    expect(text.length - short.length).toBe(3 * 63 - 1)
    const { data } = JSON.parse(short)
    expect(data.outputs.b).toEqual({ ...stored, sha256: '=' })
    expect(data).toMatchObject({ params_hash: hash, prompt_hash: '=' })
    expect(withTwins(short)).toBe(text)
  })

  test('leaves others as they are: another hash, other members, texts that look so', () => {
    const other = sha256('another value')
    const texts = [
      { ...stored, sha256: other },
      { params_hash: hash, prompt_hash: other },
      { prompt_hash: hash, params_hash: hash },
      { text: JSON.stringify(output) },
      { ...output, said: '=', prompt_hash: '=' },
      {},
    ].map((value) => JSON.stringify(value))
    expect(texts.map(withoutTwins)).toEqual(texts)
    expect(texts.map(withTwins)).toEqual(texts)
  })

  test('whatever the text is, it comes back byte by byte', () => {
    const digest = fc.constantFrom(hash, sha256('b'), '=', 'x', '')
    const value = fc.record({ ref: digest.map((one) => `objstore://main/${one}`), sha256: digest, bytes: fc.nat() })
    const made = fc.record({
      params_hash: digest,
      prompt_hash: digest,
      note: fc.oneof(fc.string(), fc.constant('":"="')),
    })
    const any = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(value, made, fc.jsonValue())))
    fc.assert(
      fc.property(any, (one) => {
        const text = JSON.stringify(one)
        expect(withTwins(withoutTwins(text))).toBe(text)
        // Also inside a text of another.
        const nested = JSON.stringify({ nested: text, one })
        expect(withTwins(withoutTwins(nested))).toBe(nested)
        expect(() => JSON.parse(withoutTwins(nested))).not.toThrow()
      }),
    )
  })
})
