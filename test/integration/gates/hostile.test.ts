import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import { gateFamilies } from '../../../shared/gates/registry.ts'
import { WHOLE } from '../../how-much.ts'
import { judgeHostileChecks, judgeHostileValues } from '../../machines/judge-hostile.ts'

/** Of this thread alone, however busy the machine is: an answer that takes seconds here would take them in a function. */
const MAX_MS = 5_000
/** The kinds whose answers are pinned one by one; the laws below hold for every kind there is. */
const PINNED = new Set(
  gateFamilies()
    .filter(({ family }) => ['The thirteen', 'Text', 'Structure'].includes(family))
    .flatMap(({ types }) => types),
)

const SIZE = WHOLE ? 'whole' : 'small'

const isolate = createIsolate()
afterAll(() => isolate.close())

describe('hostile checks', async () => {
  const answers = await judgeHostileChecks(isolate)

  test.each(answers.map(({ row, answer }) => ({ name: row.name.slice(0, 80), row, answer })))(
    '$name: $row.status',
    ({ row, answer }) => {
      expect(answer).toMatchObject({ status: row.status, reason: expect.stringMatching(row.says) })
      expect(answer.own_ms).toBeLessThan(MAX_MS)
    },
  )
})

describe('hostile values in the ports of every gate', () => {
  let answers: Awaited<ReturnType<typeof judgeHostileValues>> = []
  beforeAll(async () => {
    answers = await judgeHostileValues(isolate, SIZE)
  }, 600_000)

  test('are judged in time and in one sentence that shows nothing a terminal obeys', () => {
    for (const { type, given, answer } of answers) {
      const place = `${type} on ${given.name}`
      expect(['passed', 'failed', 'error'], place).toContain(answer.status)
      expect(answer.own_ms, place).toBeLessThan(MAX_MS)
      expect(answer.reason, place).toMatch(/^[^\p{Cc}\u202a-\u202e\u2066-\u2069]{3,300}$/u)
    }
  })

  test('never pass when there is nothing in them, or no JSON', () => {
    const passed = answers.filter(({ given, answer }) => given.nothing === true && answer.status === 'passed')
    expect(passed.map(({ type, given }) => `${type} on ${given.name}`)).toEqual([])
  })

  test('pass those gates only', async () => {
    const names = [...new Set(answers.map(({ given }) => given.name))]
    const statuses = (name: string, status: string) =>
      answers
        .filter(({ type, given, answer }) => PINNED.has(type) && given.name === name && answer.status === status)
        .map(({ type }) => type)
        .join(' ')
    const table = names.map((name) => [name, { passed: statuses(name, 'passed'), error: statuses(name, 'error') }])
    const told = JSON.stringify(Object.fromEntries(table), null, 2)
    await expect(`${told}\n`).toMatchFileSnapshot(`hostile-${SIZE}.json`)
  })
})
