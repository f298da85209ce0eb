import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { type Head, type HeadApproval, shownState } from '../../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../../shared/runs/lane.ts'
import { findStall } from '../../../shared/runs/stall.ts'
import { isWaitingForPeople, waitingWords } from '../../../shared/runs/waiting.ts'
import { answeredAsk, asked, resumed } from './asked-steps.ts'
import { logOf, ready, runStarted, type Step, second, started } from './event-log.ts'

/** A run in which a person is asked in the middle of an attempt, as HEAD and as its events show it. */
const block = (id: string, more: object = {}) =>
  ({
    id,
    upstream: [],
    retry: { max_attempts: 1 },
    timeout_ms: 1_000,
    pre_gates: [],
    post_gates: [],
    ...more,
  }) as unknown as Block
const dag = { name: 'asks', blocks: [block('a')] } as unknown as Dag
const [question, answer] = answeredAsk('a', 'post_gates', 'waive') as [Step, Step]
const begun = [runStarted, ready('a'), started('a', 1)]
const waits = [...begun, asked('a', 1, 'post_gates')]

const place = (phase: number, leg = 0) => ordinal({ epoch: 0, attempt: 1, leg, phase })
const pending: HeadApproval = { block: 0, status: 'pending', expires_at: second(1_800), digest: 'g' }
const head = (lanes: Record<string, number>, approvals: Record<string, HeadApproval> = { q: pending }): Head =>
  ({ state: 'running', lanes, running: [], approvals }) as unknown as Head

describe('a run whose attempt is asked about', () => {
  test('waits for people from the question to the answer, and not a moment longer', () => {
    const waiting = (steps: readonly Step[]) => isWaitingForPeople(dag, foldRun(logOf(steps)))
    expect([waits, [...waits, question], [...waits, question, answer]].map(waiting)).toEqual([false, true, false])
  })

  test.each<[string, Head, string]>([
    ['while the question is open', head({ 0: place(PHASE.asked) }), 'paused_approval'],
    ['once what follows is half told', head({ 0: place(PHASE.answered, 1) }), 'paused_approval'],
    ['before the question is there', head({ 0: place(PHASE.asked) }, {}), 'running'],
    ['when it goes on', head({ 0: place(PHASE.claimed, 1) }), 'running'],
    ['while another block works', head({ 0: place(PHASE.asked), 1: place(PHASE.claimed) }), 'running'],
    [
      'while it is another block that is asked about',
      head({ 0: place(PHASE.asked) }, { q: { ...pending, block: 1 } }),
      'running',
    ],
    [
      'of a list, all of whose items at work wait',
      head({ 0: place(PHASE.claimed), '0.0': place(PHASE.completed), '0.1': place(PHASE.asked) }),
      'paused_approval',
    ],
    [
      'of a list, one of whose items works',
      head({ 0: place(PHASE.claimed), '0.0': place(PHASE.claimed), '0.1': place(PHASE.asked) }),
      'running',
    ],
  ])('is shown as it is %s', (_, now, state) => {
    expect(shownState(now)).toBe(state)
  })

  test('says so in words', () => {
    const options = { now: Date.parse(second(100)), max_parallel: 1, max_attempts: 5 }
    const words = (steps: readonly Step[]) => waitingWords(dag, foldRun(logOf(steps)), options)
    expect(words([...waits, question])).toBe(`waiting for a waiver of post-gates of a since ${second(5)}`)
    const [more] = answeredAsk('a', 'budget', 'waive') as [Step]
    expect(words([...begun, asked('a', 1, 'budget'), more])).toMatch(/^waiting for a higher budget for a since/)
  })

  test('is no stall while a person is asked, and has the time of its attempt again when it goes on', () => {
    const long = { blocks: [block('a', { timeout_ms: 600_000 })] } as unknown as Dag
    const at = (steps: readonly Step[]) => {
      const log = logOf(steps)
      const since = Date.parse(log.at(-1)?.at ?? '')
      return findStall(long, log, since, { stall_ms: 1_000, max_block_ms: 900_000, max_call_ms: 900_000 })?.at
    }
    expect(at([...waits, question])).toBeUndefined()
    const idle = Array.from(
      { length: 700 },
      () => ({ event: { type: 'context:patched', data: { version: 1, keys: [] } } }) as Step,
    )
    const later = [...waits, question, ...idle, answer, resumed('a', 1)]
    expect(at(later)).toBe(Date.parse(second(later.length)) + 600_000 + 60_000)
  })
})
