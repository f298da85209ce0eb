import { describe, expect, test } from 'vitest'
import { likelyTypos, splitRunInputs } from '../../../clients/cli/terminal/input-values.ts'
import { parseDag } from '../../../shared/document/parse.ts'

const declared = {
  goal: { type: 'string', required: true, declared: true },
  n: { type: 'number', required: false, declared: true },
  deep: { type: 'boolean', required: false, declared: true },
  rows: { type: 'json', required: false, declared: true },
  free: { required: true, declared: false },
} as const

const read = (...pairs: string[]) => splitRunInputs({ pairs, context: { a: 1 }, declared })

describe('runInputs()', () => {
  test('gives declared inputs their type and everything else to the context', () => {
    expect(read('goal=build=it', 'n=-1.5e3', 'deep=true', 'rows=[1,{"b":null}]', 'free=7', 'other=x')).toEqual({
      inputs: { goal: 'build=it', n: -1500, deep: true, rows: [1, { b: null }] },
      context: { a: 1, free: '7', other: 'x' },
    })
  })

  test('leaves out what nobody gave', () => {
    expect(splitRunInputs({ pairs: [], context: {} })).toEqual({})
    expect(splitRunInputs({ pairs: ['goal=x'], context: {} })).toEqual({ context: { goal: 'x' } })
  })

  test.each([
    ['no equals sign', ['goal']],
    ['no key', ['=x']],
    ['a reserved key', ['_x=1']],
    ['a key given twice', ['goal=a', 'goal=b']],
    ['text for a number', ['n=many']],
    ['a number in another notation', ['n=0x10']],
    ['no boolean', ['deep=yes']],
    ['no JSON', ['rows={']],
  ])('refuses %s with exit code 2', (_, pairs) => {
    expect(() => read(...pairs)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(/--input/) }),
    )
  })
})

describe('doubtfulInputs()', () => {
  const parsed = parseDag({
    inputs: { changes: 'string', goal: {}, tone: { type: 'string', default: 'dry' } },
    blocks: [
      { id: 'a', inputs: { extra: 'string' }, agent: { provider: 'local', model: 'm', prompt: '{{inputs.goal}}' } },
    ],
  })
  const doubts = (...pairs: string[]) => (parsed.ok ? likelyTypos(pairs, parsed.dag) : [])

  test('names what a typing error probably meant', () => {
    expect(doubts('changs=x')).toEqual([expect.stringMatching(/--input changs .*free context.*"changes"\?$/)])
    expect(doubts('extre=x', 'gaol=y')).toHaveLength(2)
  })

  test('is silent on names the document reads, on free ones, and where the right name is given too', () => {
    expect(doubts('changes=x', 'goal=y', 'extra=z', 'elsewhere=1')).toEqual([])
    expect(doubts('changes=x', 'changs=y')).toEqual([])
  })
})
