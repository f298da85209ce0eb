import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeOpaque, readOpaque, type SaidPart } from '../../../functions/providers/ai-sdk/opaque.ts'
import { argumentsObject, measureUsage } from '../../../functions/providers/model-answers.ts'
import { piecesWithout } from '../../../functions/providers/remote.ts'
import { modelPriceAt } from '../../../shared/providers/model-prices.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

describe('what a provider wants to see again', () => {
  const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  const meta = fc.option(fc.record({ own: fc.record({ signature: words }) }), { nil: undefined })
  const part = (at: number): fc.Arbitrary<SaidPart> =>
    fc.tuple(fc.constantFrom('text', 'reasoning', 'call'), words, meta).map(([kind, text, told]) => {
      const more = told === undefined ? {} : { meta: told }
      if (kind === 'call') return { kind, call: { id: `c${at}`, tool: 't', arguments: '{}' }, ...more } as const
      return { kind: kind === 'text' ? 'text' : 'reasoning', text, ...more } as const
    })
  const parts = fc
    .integer({ min: 1, max: 6 })
    .chain((length) => fc.tuple(...Array.from({ length }, (_, at) => part(at))))
  const messageOf = (said: readonly SaidPart[], opaque: ReturnType<typeof makeOpaque>) => ({
    role: 'assistant' as const,
    text: said.flatMap((one) => (one.kind === 'text' ? [one.text] : [])).join(''),
    calls: said.flatMap((one) => (one.kind === 'call' ? [one.call] : [])),
    ...(opaque === undefined ? {} : { opaque }),
  })
  /** Without proof of anything, a message is its text and its calls. */
  const plain = (said: readonly SaidPart[]) => readOpaque(messageOf(said, undefined), 'own/m')

  test('is read back, through JSON, part for part', () => {
    fc.assert(
      fc.property(parts, (said) => {
        const opaque = makeOpaque(said, 'own/m')
        if (opaque === undefined) return
        const back = JSON.parse(JSON.stringify(opaque))
        expect(readOpaque(messageOf(said, back), 'own/m')).toEqual(said)
      }),
      { numRuns: 200 },
    )
  })

  test('is not looked at by another model, nor beside another text or other calls', () => {
    const said: readonly SaidPart[] = [
      { kind: 'reasoning', text: 'hm', meta: { own: { signature: 's' } } },
      { kind: 'text', text: 'Look.' },
      { kind: 'call', call: { id: 'a', tool: 't', arguments: '{}' } },
    ]
    const message = messageOf(said, makeOpaque(said, 'own/m'))
    expect(readOpaque(message, 'own/other')).toEqual(plain(said))
    expect(readOpaque({ ...message, text: 'Changed.' }, 'own/m')).toEqual([{ kind: 'text', text: 'Changed.' }, said[2]])
    expect(readOpaque({ ...message, calls: [] }, 'own/m')).toEqual([said[1]])
    for (const opaque of [
      null,
      'x',
      { by: 'own/m' },
      { by: 'own/m', parts: [{ text: -1 }] },
      { by: 'own/m', parts: [{ call: 'b' }] },
    ]) {
      expect(readOpaque({ ...message, opaque }, 'own/m')).toEqual(plain(said))
    }
  })

  test('is nothing where a message has all of it', () => {
    expect(makeOpaque([{ kind: 'text', text: 'Done.' }], 'own/m')).toBeUndefined()
  })
})

describe('arguments', () => {
  test.each([
    ['{"a": 1}', { a: 1 }],
    ['', {}],
    ['{"a": 1', { unreadable: '{"a": 1' }],
    ['[1]', { unreadable: '[1]' }],
    ['"a"', { unreadable: '"a"' }],
    ['null', { unreadable: 'null' }],
  ])('%j are shown to a server as %j', (text, expected) => {
    expect(argumentsObject({ arguments: text })).toEqual(expected)
  })
})

describe('pieces of a text that may hold the key', () => {
  const KEY = 'sk-"quoted"-0123456789'

  test('are heard without it, whole and in their order, wherever they are cut', () => {
    const around = fc.constantFrom('', 'It is ', 's', 'sk-', 'sk-"quoted"-01234', 'Grüße 🌊')
    const spelled = fc.constantFrom(KEY, JSON.stringify(KEY).slice(1, -1), 'no key')
    fc.assert(
      fc.property(
        around,
        spelled,
        around,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 }),
        (a, key, b, sizes) => {
          const heard: string[] = []
          const pieces = piecesWithout(KEY, (piece) => void heard.push(piece))
          let rest = a + key + b
          for (const size of sizes) {
            if (rest !== '') pieces?.hear(rest.slice(0, size))
            rest = rest.slice(size)
          }
          pieces?.end()
          expect(rest).toBe('')
          expect(heard.join('')).toBe(a + (key === 'no key' ? key : '[key]') + b)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('are passed on at once where none of it could begin', () => {
    const heard: string[] = []
    piecesWithout(KEY, (piece) => void heard.push(piece))?.hear('Hello. ')
    expect(heard).toEqual(['Hello. '])
  })
})

describe('tokens out of the cache', () => {
  const settings = parseSettings(
    `
providers:
  gw: { type: anthropic }
prices:
  gw/cheap: { input: 10, output: 20, cached_input: 1 }
  gw/*: { input: 10, output: 20 }
`,
    'sluice.yaml',
  )
  const usd = (model: string, usage: object) =>
    measureUsage(
      { prompt: 'x' },
      'y',
      { tokens_in: 1_000_000, tokens_out: 0, ...usage },
      modelPriceAt(settings, 'gw', model),
    ).usd

  test.each([
    ['cheap', { tokens_cached: 400_000 }, 6.4],
    ['cheap', { tokens_cached: 9_000_000 }, 1],
    ['cheap', { tokens_cached: -1 }, 10],
    ['cheap', {}, 10],
    ['other', { tokens_cached: 400_000 }, 10],
  ])('of %s, counted as %j', (model, usage, expected) => {
    expect(usd(model, usage)).toBe(expected)
  })
})
