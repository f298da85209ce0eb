import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { factsOf, judged, refusals } from './judged.ts'

const ended = (finish_reason: string) => factsOf({}, { answer: { provider: 'p', model: 'm', finish_reason } })

describe('finish_reason', () => {
  test('passes for stop, and for what is allowed', async () => {
    expect((await judged({ type: 'finish_reason' }, ended('stop'))).passed).toBe(true)
    expect((await judged({ type: 'finish_reason', allowed: ['length', 'local'] }, ended('local'))).passed).toBe(true)
  })

  test('fails for a cut answer with seen and wanted', async () => {
    expect((await judged({ type: 'finish_reason' }, ended('length'))).reason).toBe(
      'must end with "stop", ended with "length"',
    )
  })

  test('where nothing was dispatched it passes neither way', async () => {
    expect((await judged({ type: 'finish_reason' }, factsOf({}))).reason).toBe(
      'how the answer ended is not known, must be "stop"',
    )
    expect((await judged({ type: 'finish_reason', not: true }, factsOf({}))).status).toBe('failed')
  })

  test.each([['Stop'], [''], ['stop\u200b'], ['\u202estop'], ['__proto__'], ['x'.repeat(10_000_000)]])(
    'fails for other spellings',
    async (reason) => {
      expect((await judged({ type: 'finish_reason' }, ended(reason))).status).toBe('failed')
    },
  )

  test.each([[{ allowed: [] }], [{ allowed: [''] }], [{ allowed: 'stop' }], [{ port: 'a' }]])(
    'refuses %j at parse',
    (more) => {
      expect(refusals({ type: 'finish_reason', ...more })).not.toEqual([])
    },
  )

  test('how it ended is part of the input hash', async () => {
    const hashes = await Promise.all(['stop', 'length'].map((one) => judged({ type: 'finish_reason' }, ended(one))))
    expect(new Set(hashes.map(({ input_hash }) => input_hash)).size).toBe(2)
  })

  test('passes exactly for what is in the list', async () => {
    const reason = fc.constantFrom('stop', 'length', 'tool_calls', 'local')
    await fc.assert(
      fc.asyncProperty(reason, fc.array(reason, { minLength: 1 }), async (seen, allowed) => {
        expect((await judged({ type: 'finish_reason', allowed }, ended(seen))).passed).toBe(allowed.includes(seen))
      }),
      { numRuns: 50 },
    )
  })
})
