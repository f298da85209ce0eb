import { describe, expect, test } from 'vitest'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { factsOf, judged, refusals } from './judged.ts'

const has = (value: string, port = 'plan') => ({ type: 'contains', port, values: [value] })
const plan = factsOf({ plan: 'Risks and costs', count: 3, nothing: null })

describe('not: true', () => {
  test('turns a pass into a fail that says what must not be', async () => {
    expect(await judged({ ...has('risks'), not: true }, plan)).toMatchObject({
      type: 'contains',
      status: 'failed',
      reason: 'must not hold: contains "risks"',
      facts: { port: 'plan', not: true },
    })
  })

  test('turns a fail into a pass', async () => {
    expect(await judged({ ...has('TODO'), not: true }, plan)).toMatchObject({
      status: 'passed',
      reason: 'does not hold, as wanted: must contain "TODO"',
    })
  })

  test.each([
    ['a missing port', has('a', 'gone')],
    ['null', has('a', 'nothing')],
    ['NaN', { type: 'max_value', port: 'nan', max: 1 }],
    ['a type it does not read', has('a', 'count')],
    ['a text that is no number', { type: 'range', port: 'plan', min: 1 }],
    ['a text too long to search', { type: 'matches', port: 'long', pattern: 'x' }],
    ['a price nobody knows', { type: 'cost', max: 1 }],
    ['a time nobody knows', { type: 'latency', max_ms: 1 }],
    ['a value that is not there', { type: 'json_path', port: 'object', path: 'b', equals: 1 }],
    ['a value that is no number', { type: 'json_path', port: 'object', path: 'a', min: 1 }],
    ['an empty list', { type: 'keys_present', port: 'list', keys: ['a'] }],
    ['an expression that is neither true nor false', { type: 'expr', expression: 'outputs.object.b' }],
    ['too many brackets', { type: 'contains_json', port: 'brackets' }],
    ['too much YAML', { type: 'valid_yaml', port: 'long' }],
  ])('never passes on nothing: %s fails, negated too', async (_, check) => {
    const long = 'a '.repeat(600_000)
    const outputs = { ...plan.outputs, nan: Number.NaN, long, object: { a: 'x' }, list: [], brackets: '['.repeat(400) }
    for (const not of [false, true]) {
      expect(await judged({ ...check, not }, factsOf(outputs))).toMatchObject({ passed: false, status: 'failed' })
    }
  })

  test('leaves an error an error', async () => {
    for (const not of [false, true]) {
      expect((await judged({ type: 'shell', command: 'true', not }, plan)).status).toBe('error')
    }
  })

  test('the type may be wrong where the type is what is judged', async () => {
    const check = { type: 'port_type', port: 'count', expected: 'string' }
    expect((await judged(check, plan)).status).toBe('failed')
    expect((await judged({ ...check, not: true }, plan)).status).toBe('passed')
  })
})

const ERROR = { type: 'shell', command: 'true' }

describe('any_of, all_of, at_least', () => {
  test.each([
    ['any_of with a pass passes though another errors', { any_of: [ERROR, has('risks')] }, 'passed'],
    ['any_of without a pass: an error wins', { any_of: [ERROR, has('TODO')] }, 'error'],
    ['any_of of nothing that holds', { any_of: [has('a b'), has('TODO')] }, 'failed'],
    ['all_of with a fail fails though another errors', { all_of: [ERROR, has('TODO')] }, 'failed'],
    ['all_of: an error wins over passes', { all_of: [ERROR, has('risks')] }, 'error'],
    ['all_of that holds', { all_of: [has('costs'), has('risks')] }, 'passed'],
    ['at_least that holds', { at_least: 2, of: [has('costs'), has('TODO'), has('risks')] }, 'passed'],
    ['at_least that does not', { at_least: 2, of: [has('costs'), has('TODO'), has('FIXME')] }, 'failed'],
    ['a missing port inside', { any_of: [has('a', 'gone'), has('risks')] }, 'passed'],
    ['a missing port inside, negated', { all_of: [has('a', 'gone'), has('risks')], not: true }, 'failed'],
    ['nothing but missing ports, negated', { any_of: [has('a', 'gone'), has('b', 'nothing')], not: true }, 'failed'],
    ['nested', { all_of: [{ any_of: [has('TODO'), has('risks')] }, { ...has('FIXME'), not: true }] }, 'passed'],
    ['negated twice', { all_of: [{ ...has('risks'), not: true }], not: true }, 'passed'],
  ])('%s', async (_, check, status) => {
    expect(await judged(check, plan)).toMatchObject({ status, passed: status === 'passed' })
  })

  test('say what is wanted, what holds, and why the rest does not', async () => {
    expect(
      await judged({ at_least: 2, of: [has('costs'), has('TODO'), { ...has('risks'), not: true }] }, plan),
    ).toEqual(
      expect.objectContaining({
        type: 'at_least',
        reason: 'at least 2 of 3 must hold, 1 do: must contain "TODO"; must not hold: contains "risks"',
        facts: { wanted: 2, held: 1, parts: ['contains: pass', 'contains: fail', 'not contains: fail'] },
      }),
    )
  })

  test('keep reason and facts small, whatever they are made of', async () => {
    const parts = Array.from({ length: 50 }, (_, at) => has(`${at} ${'long '.repeat(90)}`))
    const verdict = await judged({ any_of: parts }, plan, { error: 'Say one of them.' })
    expect([...verdict.reason].length).toBeLessThanOrEqual(300)
    expect(Buffer.byteLength(JSON.stringify(verdict.facts))).toBeLessThanOrEqual(512)
  })

  test('the input hash covers nested checks, all their ports and what they measure', async () => {
    const hash = async (value: string, text: string, cost_usd: number | null) => {
      const check = { any_of: [{ all_of: [has('risks')] }, { type: 'cost', max: 1 }, has(value, 'other')] }
      return (await judged(check, factsOf({ plan: text, other: 'x' }, { measured: { cost_usd, latency_ms: null } })))
        .input_hash
    }
    const one = await hash('a', 'text', 1)
    expect(await hash('a', 'text', 1)).toBe(one)
    expect(
      new Set([one, await hash('b', 'text', 1), await hash('a', 'texts', 1), await hash('a', 'text', 2)]).size,
    ).toBe(4)
  })
})

describe('parseCheck() of composed checks', () => {
  test('fills in defaults of nested checks, names each by its key, and drops not: false', () => {
    const parsed = parseCheck({
      at_least: 1,
      of: [
        { ...has('a'), not: true },
        { any_of: [has('b')], not: false },
      ],
    })
    const full = (value: string) => ({ ...has(value), case_sensitive: false })
    expect(parsed).toEqual({
      ok: true,
      check: {
        type: 'at_least',
        at_least: 1,
        of: [
          { ...full('a'), not: true },
          { type: 'any_of', any_of: [full('b')] },
        ],
      },
    })
    expect(parsed.ok && parseCheck(parsed.check)).toEqual(parsed)
  })

  test('tells the place of what is wrong inside', () => {
    const parsed = parseCheck({ all_of: [has('a'), { any_of: [{ type: 'min_length', port: 'a', min: -1 }] }] })
    expect(!parsed.ok && parsed.errors.map(({ path }) => path)).toEqual(['all_of.1.any_of.0.min'])
  })

  test.each([
    [{ any_of: [] }, '"any_of" is empty'],
    [{ any_of: 'x' }, '"any_of" must be a list of checks, got "x"'],
    [{ at_least: 3, of: [has('a')] }, '"at_least" must be a whole number from 1 to 1'],
    [{ at_least: 1 }, '"of" is missing'],
    [{ of: [has('a')] }, 'needs the "type"'],
    [{ type: 'at_least', of: [has('a')] }, '"at_least" is missing'],
    [{ any_of: [has('a')], all_of: [has('a')] }, '"all_of" stands beside "any_of"'],
    [{ ...has('a'), not: 'true' }, '"not" must be true or false, got "true"'],
    [{ any_of: [null] }, 'A check is a mapping'],
  ])('refuses %j', (check, message) => {
    expect(refusals(check).join(' ')).toContain(message)
  })

  test('is not walked for ever: a list of a million, and a thousand levels', () => {
    expect(refusals({ any_of: Array.from({ length: 1_000_000 }, () => null) }).length).toBeLessThanOrEqual(10)
    let deep: object = has('a')
    for (let level = 0; level < 1_000; level += 1) deep = { any_of: [deep] }
    expect(refusals(deep)).toEqual([expect.stringContaining('more than 5 levels deep')])
  })
})
