import { describe, expect, test } from 'vitest'
import { describeGates } from '../../../shared/gates/explain.ts'
import type { GateFacts } from '../../../shared/gates/gate.ts'
import { judgeGate, replayVerdict } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { atMost } from '../../how-much.ts'
import { inProcessIsolate } from './in-process-isolate.ts'
import { factsOf } from './judged.ts'

const isolate = inProcessIsolate
const useOf = (written: object) => {
  const parsed = parseCheck(written)
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join(' '))
  return { name: 'g', on_fail: 'retry', error: 'Do it again.', check: parsed.check } as const
}
const judge = (written: object, facts: GateFacts) => judgeGate(useOf(written), facts, { isolate }, () => 0)

const EXAMPLES = describeGates().flatMap(({ type, examples }) => {
  const worldly = examples.some(({ needs }) => needs !== undefined)
  return examples.map(({ check, needs: _, passes: __, ...seen }) => {
    const facts: GateFacts = { ...factsOf({}), ...seen }
    return { worldly, written: { type, ...check }, facts, times: Math.ceil(atMost(1_000) / examples.length) }
  })
})
const PURE = EXAMPLES.filter(({ worldly }) => !worldly)
const WORLDLY = EXAMPLES.filter(({ worldly }) => worldly)

describe('replayVerdict()', () => {
  test.each(PURE)('$written comes out the same each time, however often', async ({ written, facts, times }) => {
    const recorded = await judge(written, facts)
    const again = structuredClone(facts)
    const seen = new Set([JSON.stringify(recorded)])
    for (let time = 0; time < times; time += 1) seen.add(JSON.stringify(await judge(written, again)))
    expect([...seen]).toEqual([JSON.stringify(recorded)])
    expect(await replayVerdict(JSON.parse(JSON.stringify(recorded)), useOf(written), again, { isolate })).toBe('same')
  })

  test.each(WORLDLY)('$written asks the world: the record stands', async ({ written, facts }) => {
    const recorded = await judge(written, facts)
    const said = { ...recorded, status: 'passed', reason: 'as it was then' } as const
    expect(await replayVerdict(said, useOf(written), facts, { isolate })).toBe('recorded')
    const nested = { any_of: [{ type: 'cost', max: 1 }, written], not: true }
    expect(await replayVerdict(await judge(nested, facts), useOf(nested), facts, { isolate })).toBe('recorded')
  })

  const check = {
    any_of: [
      { type: 'min_length', port: 'plan', min: 9 },
      { type: 'not_empty', port: 'more', not: true },
    ],
  }
  const facts = factsOf({ plan: 'short', more: '' })

  test('a composition is judged again with all it reads', async () => {
    const recorded = await judge(check, facts)
    expect(await replayVerdict(recorded, useOf(check), facts, { isolate })).toBe('same')
    const other = factsOf({ plan: 'short', more: 'x' })
    expect(await replayVerdict(recorded, useOf(check), other, { isolate })).toBe('other_input')
    const { any_of } = check
    expect(await replayVerdict(recorded, useOf({ all_of: any_of }), facts, { isolate })).toBe('other_input')
  })

  test.each([{ status: 'failed' }, { reason: 'because' }, { facts: {} }] as const)(
    'a record that was changed is different: %j',
    async (changed) => {
      const recorded = { ...(await judge(check, facts)), ...changed }
      expect(await replayVerdict(recorded, useOf(check), facts, { isolate })).toBe('different')
    },
  )

  test('what a person waived stays as it was decided', async () => {
    const recorded = { ...(await judge(check, facts)), status: 'waived' } as const
    expect(await replayVerdict(recorded, useOf(check), facts, { isolate })).toBe('recorded')
  })
})
