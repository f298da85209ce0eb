import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { factsOf, judged, refusals } from './judged.ts'

describe('shell', () => {
  test('a command as text becomes argv, one as argv stays', () => {
    const text = parseCheck({ type: 'shell', command: 'npm test' })
    expect(text).toEqual({
      ok: true,
      check: { type: 'shell', command: ['sh', '-c', 'npm test'], timeout_ms: 10_000 },
    })
    const argv = parseCheck({ type: 'shell', command: ['npm', 'test'], timeout_ms: 5 })
    expect(argv).toEqual({ ok: true, check: { type: 'shell', command: ['npm', 'test'], timeout_ms: 5 } })
  })

  test('answers error, never a pass, until it can run', async () => {
    const verdict = await judged({ type: 'shell', command: 'true' }, factsOf({}))
    expect(verdict).toMatchObject({ passed: false, status: 'error' })
    expect(verdict.reason).toMatch(/^shell gates are not available yet/)
  })

  test.each([[''], ['  '], [[]], [['']], [[' ', 'x']], [[1]], ['a\0b'], [{ run: 'x' }], [undefined]])(
    'refuses command %j at parse',
    (command) => {
      expect(refusals({ type: 'shell', command })).not.toEqual([])
    },
  )

  test('refuses a time-out that is none', () => {
    expect(refusals({ type: 'shell', command: 'true', timeout_ms: -1 })).toHaveLength(1)
    expect(refusals({ type: 'shell', command: 'true', timeout_ms: 1.5 })).toHaveLength(1)
  })

  test('parsing a parsed check changes nothing', () => {
    const command = fc.oneof(fc.string({ minLength: 1 }), fc.array(fc.string(), { minLength: 1, maxLength: 3 }))
    fc.assert(
      fc.property(command, (written) => {
        const once = parseCheck({ type: 'shell', command: written })
        if (once.ok) expect(parseCheck(once.check)).toEqual(once)
      }),
    )
  })
})
