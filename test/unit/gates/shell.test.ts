import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ShellAnswer, shellRefusal } from '../../../shared/gates/gate-ports.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged, refusals } from './judged.ts'

const check = { type: 'shell', command: ['npm', 'test'] }
const judgedWith = (answer: ShellAnswer, more: Json = {}) =>
  judged({ ...check, ...(more as object) }, factsOf({}), {}, { shell: { run: async () => answer } })
const ended = (exit_code: number, stdout = '', stderr = '') => ({ kind: 'ended', exit_code, stdout, stderr }) as const

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

  test('passes on exit code 0 alone; else tells what was said last', async () => {
    expect(await judgedWith(ended(0, 'ok\n'))).toMatchObject({ status: 'passed', facts: { exit_code: 0 } })
    const verdict = await judgedWith(ended(2, 'out', `${'x'.repeat(500)}\nno such table\n`))
    expect(verdict.status).toBe('failed')
    expect(verdict.reason).toMatch(
      /^the command \["npm","test"\] must end with 0, it ended with 2 and said: x+ no such/,
    )
    expect(await judgedWith(ended(1), { not: true })).toMatchObject({ passed: true })
  })

  test('one that was killed or not allowed is an error, negated too', async () => {
    for (const answer of [{ kind: 'killed', reason: 'time' } as const, { kind: 'refused', reason: 'off' } as const]) {
      expect(await judgedWith(answer)).toMatchObject({
        status: 'error',
        reason: expect.stringContaining(answer.reason),
      })
      expect(await judgedWith(answer, { not: true })).toMatchObject({ status: 'error', passed: false })
    }
    expect(await judged(check, factsOf({}))).toMatchObject({ status: 'error' })
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

describe("shellRefusal(): the operator's list", () => {
  const allow = [
    ['npm', 'test'],
    ['sh', '-c', 'make check'],
  ]

  test.each([[['npm', 'test']], [['npm', 'test', '--', '-u']], [['sh', '-c', 'make check']]])('%j may run', (argv) => {
    expect(shellRefusal({ allow }, argv)).toBeUndefined()
  })

  test.each([
    [['npm']],
    [['npm', 'tests']],
    [['npm', 'run', 'test']],
    [['/usr/bin/npm', 'test']],
    [['npm test']],
    [['npm', ' test']],
    [['NPM', 'test']],
    [['env', 'npm', 'test']],
    [['sh', '-c', 'npm test']],
    [['sh', '-c', 'make check; id']],
    [['sh', '-ec', 'make check']],
    [[]],
  ])('%j may not', (argv) => {
    expect(shellRefusal({ allow }, argv)).toMatch(/shell_gates\.allow/)
  })

  test('an empty list allows nothing and says how to change that', () => {
    expect(shellRefusal({ allow: [] }, ['npm', 'test'])).toMatch(
      /^shell gates are off here; .*\["npm","test"\] to shell_gates\.allow in sluice\.yaml/,
    )
  })
})
