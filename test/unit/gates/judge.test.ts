import { describe, expect, test } from 'vitest'
import { judgeGate } from '../../../shared/gates/judge.ts'
import { inProcessIsolate } from './in-process-isolate.ts'
import { factsOf, judged } from './judged.ts'

const LENGTH = { type: 'min_length', port: 'plan', min: 200 }
const ports = { isolate: inProcessIsolate }

describe('judgeGate()', () => {
  test('gives the envelope of the spec', async () => {
    const times = [1_000, 1_012.5]
    const use = { name: 'plan-is-long-enough', check: LENGTH, on_fail: 'retry' } as const
    const verdict = await judgeGate(use, factsOf({ plan: 'short' }), ports, () => times.shift() ?? 0)
    expect(verdict).toEqual({
      name: 'plan-is-long-enough',
      type: 'min_length',
      passed: false,
      status: 'failed',
      reason: 'must be at least 200 characters, has 5',
      facts: { port: 'plan', length: 5, min: 200 },
      duration_ms: 12.5,
      input_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('a clock that goes backwards makes no negative duration', async () => {
    const times = [5, 1]
    const use = { name: 'g', check: LENGTH, on_fail: 'retry' } as const
    expect((await judgeGate(use, factsOf({}), ports, () => times.shift() ?? 0)).duration_ms).toBe(0)
  })

  test("puts the author's words in front of a failure, and only of a failure", async () => {
    const use = { error: 'Plan must be longer.' }
    expect((await judged(LENGTH, factsOf({ plan: 'short' }), use)).reason).toBe(
      'Plan must be longer: must be at least 200 characters, has 5',
    )
    expect((await judged({ ...LENGTH, min: 1 }, factsOf({ plan: 'short' }), use)).reason).toBe(
      'has 5 characters, at least 1 wanted',
    )
  })

  test("cuts the author's words, never what the next attempt has to obey", async () => {
    const { reason } = await judged(LENGTH, factsOf({ plan: 'short' }), { error: 'long '.repeat(200) })
    expect(reason).toHaveLength(300)
    expect(reason.endsWith('…: must be at least 200 characters, has 5')).toBe(true)
  })

  test('strips control and bidi characters that a value smuggles into a reason', async () => {
    const plan = 'a\u202eb\u0007\nc'
    const { reason } = await judged({ type: 'valid_url', port: 'plan' }, factsOf({ plan }))
    expect(reason).toContain('"ab c"')
  })

  test('outputs win over inputs of the same name', async () => {
    const facts = factsOf({ plan: 'x'.repeat(200) }, { inputs: { plan: 'short' } })
    expect((await judged(LENGTH, facts)).passed).toBe(true)
    expect((await judged(LENGTH, factsOf({ plan: null }, { inputs: { plan: 'x'.repeat(200) } }))).passed).toBe(false)
  })

  test('the input hash depends on the check and on what it reads, on nothing else', async () => {
    const hash = async (check: typeof LENGTH, plan: string, more = {}) =>
      (await judged(check, factsOf({ plan, ...more }))).input_hash
    const one = await hash(LENGTH, 'a')
    expect(await hash({ min: 200, port: 'plan', type: 'min_length' }, 'a', { other: 1 })).toBe(one)
    expect(await hash(LENGTH, 'b')).not.toBe(one)
    expect(await hash({ ...LENGTH, min: 201 }, 'a')).not.toBe(one)
  })

  test('a missing port and a null port have different hashes, since their reasons differ', async () => {
    const missing = await judged(LENGTH, factsOf({}))
    const isNull = await judged(LENGTH, factsOf({ plan: null }))
    expect(missing.reason).toBe('missing port plan')
    expect(isNull.reason).toBe('missing port plan: its value is null')
    expect(missing.input_hash).not.toBe(isNull.input_hash)
  })

  test.each([
    ['an unknown type', { type: 'nope', port: 'plan' }],
    ['a check that was never parsed', { type: 'contains', port: 'plan' }],
    ['an inherited name', { type: 'constructor' }],
  ])('%s is an error, never a pass and never a throw', async (_, check) => {
    const use = { name: 'g', check, on_fail: 'retry' } as const
    expect(await judgeGate(use, factsOf({ plan: 'x' }), ports, () => 0)).toMatchObject({
      passed: false,
      status: 'error',
    })
  })

  test('an isolate that throws is an error', async () => {
    const isolate = { run: async () => Promise.reject(new Error('gone')) }
    const use = { name: 'g', check: { type: 'json_schema', port: 'plan', schema: {} }, on_fail: 'retry' } as const
    expect(await judgeGate(use, factsOf({ plan: 1 }), { isolate }, () => 0)).toMatchObject({
      status: 'error',
      reason: 'the gate broke off: gone',
    })
  })

  test.each([[['a', Number.NaN]], ['half \ud83d']])('what is not JSON inside a value is an error: %j', async (plan) => {
    const verdict = await judged({ ...LENGTH, min: 1 }, factsOf({ plan }))
    expect(verdict).toMatchObject({ passed: false, status: 'error' })
  })

  test('facts of a huge value stay within 512 bytes and tell its size', async () => {
    const verdict = await judged({ type: 'diff', left: 'a', right: 'b' }, factsOf({ a: 'é'.repeat(9_000), b: 'x' }))
    expect(Buffer.byteLength(JSON.stringify(verdict.facts))).toBeLessThanOrEqual(512)
    expect(JSON.stringify(verdict.facts)).toContain('(9002 characters)')
  })
})
