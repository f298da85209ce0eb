import { describe, expect, test } from 'vitest'
import { filterEvents } from '../../../clients/console/run/events/events-filter.ts'
import { rowAfterKey, rowsSeen, rowTop, scrollOffsetFor } from '../../../clients/console/run/events/virtual-list.ts'
import { eventWords } from '../../../clients/console/run/session/event-words.ts'
import { indexOfSeq } from '../../../clients/console/run/session/run-events.ts'
import type { EventData, EventType, RunEvent } from '../../../shared/runs/event.ts'

const at = '2026-11-22T19:00:00.000Z'
const later = '2026-11-22T19:00:05.000Z'
const stored = { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 2_048 }
const used = { params_hash: 'h', prompt_hash: 'h', tokens_in: 1, tokens_out: 2, latency_ms: 310, finish_reason: 'stop' }
const research = { n: 1, tokens: 120, ref: stored.ref }
const ended = { code: 'completed', reason: 'all 3 blocks completed' }
const failed = { code: 'provider_timeout', reason: 'no answer in 30 s' }
const started = {
  dag_name: 'brief',
  dag_hash: 'h',
  inputs_hash: 'h',
  starter: 'user:ada',
  deadline_at: later,
  caps: {},
}
const held = { holder: 'w1', lease_until: later }
const asked = { approval_id: 'apr_1', digest: 'd' }
const decided = {
  ...asked,
  by: { kind: 'user', id: 'ada' },
  via: 'console',
  waited_ms: 65_000,
  policy: 'anyone_allowed',
}
const goal = { status: 'NOT_MET', met: 3, total: 4, attempt: 1, row: 'PASS x NOT_MET' }
const gate = { gate: 'long-enough', type: 'min_length', input_hash: 'h', facts: {}, duration_ms: 1 }

/** A row a type at least: the table does not compile while one is missing. */
const WORDS: { readonly [T in EventType]: readonly (readonly [EventData<T>, string | RegExp])[] } = {
  'run:started': [
    [started, 'run of brief started by user:ada'],
    [{ ...started, retry_of: 'run_a', queued: true }, /started by user:ada, retrying run_a, waits for a place$/],
    [{ ...started, parent: { run_id: 'run_p', block_id: 'b', epoch: 0, attempt: 1 } }, /, for block b of run_p$/],
  ],
  'run:paused': [
    [{ by: 'user:ada', reason: 'prices' }, 'paused by user:ada (prices): nothing begins, deadlines stand still'],
    [{ by: 'user:ada', parent: 'run_p' }, /^paused by user:ada, with run run_p: /],
  ],
  'run:resumed': [[{ by: 'user:ada', since: later, stood_ms: 65_000 }, 'goes on, by user:ada: it stood for 1 min 5 s']],
  'run:completed': [[ended, 'run completed: all 3 blocks completed']],
  'run:partial': [[{ ...ended, next_run: 'run_b' }, 'run partial: all 3 blocks completed; goes on as run_b']],
  'run:blocked': [[ended, /^run blocked: /]],
  'run:failed': [[ended, /^run failed: /]],
  'run:cancelled': [[ended, /^run cancelled: /]],
  'run:iterated': [[ended, /^run iterated: /]],
  'block:ready': [[{}, /^may start/]],
  'block:started': [
    [{ inputs_hash: 'h', context_version: 0, ...held }, 'attempt 2 started'],
    [{ inputs_hash: 'h', context_version: 0, ...held, child: 'run_c' }, 'attempt 2 started, done by run_c'],
  ],
  'step:started': [[{ holder: 'w1' }, /^its code began/]],
  'step:progress': [[{ fraction: 0.4, note: 'row 400 of 1000' }, '40 %: row 400 of 1000']],
  'block:waiting': [
    [{ for: 'time', until: later, inputs_ref: stored.ref }, /^waits for its time until /],
    [{ for: 'callback', until: later, inputs_ref: stored.ref }, /^waits for its callback until /],
    [
      { for: 'event', until: later, name: 'paid', key: '7', inputs_ref: stored.ref },
      /^waits for event paid of key 7 until /,
    ],
  ],
  'block:match_failed': [[{ event_id: 'evt_1', reason: 'time' }, 'event evt_1 is no match: time']],
  'block:woken': [
    [{ by: 'time' }, 'its time has come'],
    [{ by: 'event', event_id: 'evt_1', came_at: at, payload: stored }, 'event evt_1 came'],
    [{ by: 'callback', came_at: at, payload: stored }, 'its callback came'],
    [{ by: 'limit' }, 'more events are kept for it than it looks at'],
  ],
  'block:output': [
    [
      { ...used, outputs: { text: stored }, provider: 'local', model: 'outline' },
      'local outline gave text (2.0 KiB) in 310 ms',
    ],
    [
      { ...used, outputs: {}, provider: 'local', model: 'x', note: 'no model' },
      'local x gave nothing in 310 ms; no model',
    ],
  ],
  'block:gate': [
    [{ ...gate, phase: 'post', status: 'failed', reason: 'too\n short' }, 'gate long-enough failed: too short'],
    [{ ...gate, phase: 'pre', status: 'passed', reason: 'is' }, 'pre-gate long-enough passed: is'],
  ],
  'block:retrying': [
    [{ ...failed, due_at: later }, 'tries again in 5.0 s: no answer in 30 s'],
    [{ ...failed, due_at: at }, 'tries again at once: no answer in 30 s'],
  ],
  'block:asked': [
    [{ approval_id: 'apr_1', about: 'budget', gates: [], reason: 'r' }, 'asks a person about the budget of the run: r'],
  ],
  'block:resumed': [[{ approval_id: 'apr_1', ...held }, 'goes on after a yes']],
  'block:completed': [
    [{}, 'completed'],
    [{ cached_from: 'run_k' }, 'completed: kept result of run_k'],
  ],
  'block:failed': [[failed, 'failed: no answer in 30 s']],
  'block:skipped': [
    [{ because: ['plan', 'spec'] }, 'skipped because of plan, spec'],
    [{ because: [], condition: 'when' }, 'skipped, as its "when" is not true'],
  ],
  'block:cancelled': [[failed, 'cancelled: no answer in 30 s']],
  'block:rerouted': [
    [
      { to: 'plan', reset: ['plan', 'code'], bounce: 1, max: 3, epoch: 1, reason: 'r' },
      'sent back to plan (bounce 1 of 3; again: plan, code): r',
    ],
  ],
  'approval:requested': [
    [
      { ...asked, prompt_hash: 'h', expires_at: later, approvers: ['user:bo'], quorum: 2 },
      /^waits for approval of 2 people \(user:bo\) until /,
    ],
    [
      { ...asked, prompt_hash: 'h', expires_at: later, approvers: [], quorum: 1, about: 'post_gates' },
      /waits for a waiver until /,
    ],
  ],
  'approval:decided': [
    [
      { ...decided, decision: 'approve', have: 1, need: 2 },
      'approved (1 of 2) by user:ada via console after 1 min 05 s',
    ],
    [
      { ...decided, decision: 'reject', have: 1, need: 1, iterate: 'refine' },
      /^rejected by .*another run goes on \(refine\)$/,
    ],
  ],
  'approval:refused': [
    [
      {
        approval_id: 'apr_1',
        decision: 'approve',
        by: { kind: 'token', id: 't1' },
        person: 'user:ana',
        via: 'token',
        code: 'already_voted',
        reason: 'r',
      },
      'refused to approve for token:t1 (user:ana) via token: r',
    ],
  ],
  'approval:expired': [[{ approval_id: 'apr_1', on_timeout: 'reject' }, 'nobody decided in time: counts as a no']],
  'approval:reminded': [[{ approval_id: 'apr_1', n: 2 }, 'reminder 2: nobody decided yet']],
  'approval:escalated': [[{ approval_id: 'apr_1', to: ['group:leads'] }, 'escalated: group:leads may decide too']],
  'budget:reserved': [[{ tokens: 8_000, usd_micros: 0 }, 'sets aside at most 8,000 tokens, $0']],
  'budget:exceeded': [
    [
      { of: 'block_tokens', cap: 10, wanted: 12 },
      'would go over the cap of the block: 12 tokens wanted, 10 tokens allowed',
    ],
    [{ of: 'run_usd_micros', cap: 50_000, wanted: 100_000 }, /run: \$0\.1000 wanted, \$0\.0500 allowed$/],
  ],
  'spending:near': [
    [
      { cap: 'daily', period: '2026-11-27', usd_micros: 41_000_000, cap_usd_micros: 50_000_000 },
      'spending cap daily of 2026-11-27 is nearly used up: $41.0000 of $50.0000',
    ],
    [{ cap: 'all', period: '2026-11' }, 'spending cap all of 2026-11 is nearly used up'],
    [{ cap: 'all', period: '2026-11', tokens: 900, cap_tokens: 1_000 }, /2026-11 is .*: 900 of 1,000 tokens$/],
  ],
  'goal:evaluated': [
    [
      { ...goal, final_status: 'PARTIAL', action: 'pivot' },
      'goal, attempt 1: NOT_MET, 3 of 4 criteria; PASS x NOT_MET: PARTIAL, next pivot',
    ],
    [{ ...goal, total: 0, status: 'NO_CONTRACT' }, 'goal, attempt 1: NO_CONTRACT'],
  ],
  'research:requested': [[{ ...research, tokens: 0 }, 'the question is asked']],
  'research:classified': [[research, 'the question is understood (120 tokens)']],
  'research:routed': [[{ ...research, action: 'walk' }, /chosen: walk/]],
  'research:executed': [[research, /^sub-queries ran/]],
  'research:assessed': [
    [{ ...research, sufficient: true }, /is enough/],
    [{ ...research, sufficient: false }, /is not enough/],
  ],
  'research:synthesized': [[research, /^the answer is written/]],
  'research:continued': [[research, /^whoever asked was told/]],
  'context:patched': [[{ version: 3, keys: ['a', 'b'] }, 'shared context changed to version 3: a, b']],
}

describe('eventWords()', () => {
  test.each(Object.entries(WORDS))('says %s in words', (type, rows) => {
    for (const [data, words] of rows) {
      const said = eventWords(event(1, type, data, 'draft'))
      if (typeof words === 'string') expect(said).toBe(words)
      else expect(said).toMatch(words)
    }
  })

  test('says a type it does not know by its name', () => {
    expect(eventWords(event(1, 'block:danced', {}))).toBe('block:danced')
  })
})

describe('filterEvents()', () => {
  const events = [
    event(1, 'run:started', started),
    event(2, 'block:started', { inputs_hash: 'h', context_version: 0, ...held }, 'plan'),
    event(3, 'block:failed', failed, 'code'),
    event(4, 'run:failed', ended),
  ]
  const seqs = (filter: Parameters<typeof filterEvents>[1]) => filterEvents(events, filter).map(({ seq }) => seq)

  test('with nothing asked is the list itself', () => {
    expect(filterEvents(events, { text: ' ' })).toBe(events)
  })

  test('by kind, block and text, together', () => {
    expect(seqs({ kind: 'run' })).toEqual([1, 4])
    expect(seqs({ block: 'plan' })).toEqual([2])
    expect(seqs({ text: 'NO ANSWER' })).toEqual([3])
    expect(seqs({ kind: 'block', text: 'plan' })).toEqual([2])
    expect(seqs({ kind: 'goal' })).toEqual([])
  })
})

describe('a windowed list', () => {
  const flat = { count: 10_000, rowHeight: 30, extra: new Map<number, number>() }
  const opened = { ...flat, extra: new Map([[5, 200]]) }

  test('puts opened rows between the others', () => {
    expect([rowTop(opened, 5), rowTop(opened, 6), rowTop(opened, 10_000)]).toEqual([150, 380, 300_200])
  })

  test('shows the rows of the window and a few more, however long it is', () => {
    expect(rowsSeen(flat, { top: 3_000, height: 600, over: 2 })).toEqual({ from: 98, to: 123 })
    expect(rowsSeen(flat, { top: 0, height: 600, over: 8 })).toEqual({ from: 0, to: 29 })
    expect(rowsSeen(opened, { top: 200, height: 90, over: 0 })).toEqual({ from: 5, to: 6 })
    expect(rowsSeen({ ...flat, count: 0 }, { top: 0, height: 600, over: 2 })).toEqual({ from: 0, to: 0 })
  })

  test('scrolls only as far as it must', () => {
    expect(scrollOffsetFor(flat, 3, { top: 0, height: 600 })).toBeUndefined()
    expect(scrollOffsetFor(flat, 40, { top: 0, height: 600 })).toBe(630)
    expect(scrollOffsetFor(flat, 3, { top: 300, height: 600 })).toBe(90)
  })

  test.each([
    ['ArrowDown', 11],
    ['ArrowUp', 9],
    ['PageDown', 30],
    ['PageUp', 0],
    ['Home', 0],
    ['End', 99],
    ['a', undefined],
  ])('%s leads from row 10 of 100 to row %s', (key, to) => {
    expect(rowAfterKey(key, 10, { count: 100, page: 20 })).toBe(to)
  })

  test('finds the newest row that is not after a seq', () => {
    const rows = [2, 4, 9].map((seq) => ({ seq }))
    expect([1, 2, 5, 9, 50].map((seq) => indexOfSeq(rows, seq))).toEqual([-1, 0, 1, 2, 2])
    expect(indexOfSeq([], 3)).toBe(-1)
  })
})

/** The table pairs types with their payloads; a row of it has lost which. */
function event(seq: number, type: string, data: unknown, block_id?: string): RunEvent {
  const where = block_id === undefined ? {} : { block_id, attempt: 2 }
  return { seq, id: `run/x/${seq}/0`, run_id: 'run_x', at, type, data, ...where } as RunEvent
}
