import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueReminderOrEscalation, nextReminderOrEscalation } from '../../../shared/runs/approval-reminders.ts'
import { type HeadApproval, nextCheck } from '../../../shared/runs/head.ts'

const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
const item = (remind_sec?: number, after_sec?: number, timeout_sec = 1_800) => ({
  requested_at: at(0),
  expires_at: at(timeout_sec),
  ...(remind_sec === undefined ? {} : { remind_sec }),
  ...(after_sec === undefined ? {} : { escalate: { after_sec, to: ['user:cy'] } }),
})
type State = Pick<HeadApproval, 'next_at' | 'escalated'>

/** Looks at these seconds and answers what happened at each. */
function looks(asked: ReturnType<typeof item>, seconds: readonly number[]): readonly string[] {
  let state: State = nextReminderOrEscalation(asked, {}, 0)
  return seconds.map((second) => {
    const done: string[] = []
    for (let due = dueReminderOrEscalation(asked, state, second * 1_000); due !== undefined; ) {
      done.push(due)
      const escalated = state.escalated === true || due === 'escalate' ? { escalated: true as const } : {}
      state = { ...escalated, ...nextReminderOrEscalation(asked, escalated, second * 1_000) }
      due = dueReminderOrEscalation(asked, state, second * 1_000)
    }
    return done.join('+')
  })
}

test('reminders repeat, an escalation comes once and reminds too, nothing comes after the expiry', () => {
  expect(looks(item(600, 1_200), [0, 599, 600, 601, 1_200, 1_300, 1_799, 1_800, 2_400])).toEqual([
    '',
    '',
    'remind',
    '',
    'escalate',
    '',
    '',
    '',
    '',
  ])
  expect(looks(item(500, 1_200), [500, 1_000, 1_200, 1_500])).toEqual(['remind', 'remind', 'escalate', 'remind'])
  expect(looks(item(), [100, 1_000])).toEqual(['', ''])
})

test('what was missed comes once', () => {
  expect(looks(item(100, 250), [1_050, 1_051, 1_100])).toEqual(['remind+escalate', '', 'remind'])
})

test('however often somebody looks, the escalation comes once and no two reminders are closer than remind_sec allows', () => {
  const times = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 }).map((all) => all.sort((a, b) => a - b))
  void fc.assert(
    fc.property(
      times,
      fc.integer({ min: 20, max: 900 }),
      fc.integer({ min: 1, max: 1_799 }),
      (seconds, every, after) => {
        const done = looks(item(every, after), seconds).flatMap((words) => (words === '' ? [] : words.split('+')))
        expect(done.filter((word) => word === 'escalate').length).toBe(
          Number(seconds.some((second) => second >= after && second < 1_800)),
        )
        expect(done.length).toBeLessThanOrEqual(Math.floor(1_799 / every) + 1)
      },
    ),
  )
})

test('the sweep looks at the next reminder, not only at the expiry', () => {
  const approval = { block: 0, status: 'pending', expires_at: at(1_800), digest: 'd', next_at: at(60) } as const
  const head = { state: 'running', deadline_at: at(9_999), outbox: [] } as const
  expect(nextCheck({ ...head, approvals: { a: approval } }, 0)).toBe(at(60))
  expect(nextCheck({ ...head, approvals: { a: { ...approval, status: 'approved' } } }, 0)).toBe(at(300))
})
