import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schedulerExpressions } from '../../../infra/aws/trigger-schedules.ts'

test.each([
  ['0 6 * * 1-5', ['cron(0 6 ? * MON,TUE,WED,THU,FRI *)']],
  ['*/15 8-18 * JAN,JUL MON-FRI', ['cron(0,15,30,45 8-18 ? 1,7 MON,TUE,WED,THU,FRI *)']],
  ['30 2 * * *', ['cron(30 2 * * ? *)']],
  ['* * * * *', ['cron(* * * * ? *)']],
  ['0 0 1,15 * *', ['cron(0 0 1,15 * ? *)']],
  // A day that fits either: two expressions.
  ['0 12 1 * 1', ['cron(0 12 1 * ? *)', 'cron(0 12 ? * MON *)']],
  ['5 4 * * 7', ['cron(5 4 ? * SUN *)']],
  ['5 4 * * 5-7', ['cron(5 4 ? * SUN,FRI,SAT *)']],
  ['0-59 */2 */1 1-12 *', ['cron(* 0,2,4,6,8,10,12,14,16,18,20,22 * * ? *)']],
])('%s', (cron, expressions) => {
  expect(schedulerExpressions(cron)).toEqual(expressions)
})

test('an expression has no more characters than Scheduler takes', () => {
  const list = (most: number) =>
    fc
      .uniqueArray(fc.integer({ min: 0, max: most }), { minLength: 1 })
      .map((numbers) => numbers.toSorted((a, b) => a - b).join(','))
  fc.assert(
    fc.property(list(59), list(23), (minute, hour) => {
      for (const expression of schedulerExpressions(`${minute} ${hour} * * *`))
        expect(expression.length).toBeLessThanOrEqual(256)
    }),
  )
})
