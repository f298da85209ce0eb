import { describe, expect, test } from 'vitest'
import { approvalLine, approvalLines, type InboxApproval } from '../../../clients/cli/approvals/approval-commands.ts'
import { decidedLine, rejectionFields } from '../../../clients/cli/approvals/decide-approval.ts'
import { eventLine } from '../../../clients/cli/run/events.ts'
import { readEdits } from '../../../clients/cli/terminal/input-values.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'

const ENTRY: InboxApproval = {
  approval_id: 'apr_1',
  run_id: 'run_1',
  dag_name: 'release',
  block_id: 'deploy',
  status: 'pending',
  prompt: 'Deploy this?',
  shown: { note: 'hello' },
  digest: 'd'.repeat(64),
  expires_at: '2026-01-02T00:00:00.000Z',
  age_ms: 72_000,
  reminders: 0,
  may_decide: { allowed: true },
  risk: { level: 'high', because: ['a yes waives 1 failed gate: tone', '2 blocks to run after a yes'] },
  cost: {
    spent: { tokens: 12, usd: 0.5 },
    to_come: { tokens: { low: 1, expected: 20, high: 300 }, usd: { low: 0, expected: 0.25, high: 4 } },
  },
}
const START = Date.parse('2026-01-01T00:00:00.000Z')
const event = (type: string, data: object) => ({ type, data, block_id: 'deploy' }) as unknown as RunEvent

describe('approvalLine()', () => {
  test('has id, risk or outcome, age, place and question on one line that fits', () => {
    expect(approvalLine(ENTRY, 200)).toBe('apr_1  high risk     1 min 12 s  release/deploy  Deploy this?')
    expect(approvalLine({ ...ENTRY, status: 'rejected' }, 200)).toMatch(/^apr_1 {2}rejected {4,}1 min 12 s /)
    const hostile = { ...ENTRY, prompt: `\u001b[2Jtwo\nlines\u202e`, may_decide: { allowed: false } }
    expect(approvalLine(hostile, 200)).toBe('apr_1  high risk     1 min 12 s  release/deploy (not yours)  two lines')
    expect(approvalLine(ENTRY, 20)).toHaveLength(20)
    const changed = { ...ENTRY, changes: { context: [{ key: 'env', version: 1 }] } }
    expect(approvalLine(changed, 200)).toContain('release/deploy (not as deployed)  Deploy this?')
    expect(approvalLines(changed, 'sluice').slice(0, 3)).toEqual([
      'Approval apr_1 of run run_1 (release): pending',
      '!! Not a plain start of the deployed document:',
      '!! Context patched: env (version 1)',
    ])
  })
})

describe('approvalLines()', () => {
  test('tells risk, cost, gates, votes and what is shown', () => {
    const more = {
      about: 'post_gates',
      gates: [{ name: 'tone', reason: 'is\u001b[1m rude' }],
      quorum: 2,
      votes: [{ by: 'user:ana', via: 'slack', at: '2026-01-01T00:00:00.000Z' }],
      reminders: 2,
      escalated_to: ['group:leads'],
      edit: ['goal'],
    }
    expect(approvalLines({ ...ENTRY, ...more }, 'sluice')).toEqual([
      'Approval apr_1 of run run_1 (release): pending',
      'Waits for 1 min 12 s.',
      'Risk high: a yes waives 1 failed gate: tone; 2 blocks to run after a yes.',
      'Spent so far: 12 tokens, $0.5. To come after a yes: about 20 tokens, $0.25, $4 at the most.',
      'Block deploy asks: Deploy this?',
      'Expires 2026-01-02T00:00:00.000Z.',
      'Failed gate tone: is rude',
      'A yes waives what failed: it needs `run waive` and a reason.',
      'May be changed with `run approve --edit`: goal.',
      '1 of 2 approved: user:ana via slack at 2026-01-01T00:00:00.000Z.',
      'Reminded 2 times.',
      'Escalated: group:leads may decide too.',
      '--- note',
      '  hello',
      '---',
    ])
  })

  test('says who may not decide why, an unknown price as unknown, and what became of it', () => {
    const cost = { spent: { tokens: 1, usd: null }, to_come: { ...ENTRY.cost.to_come, usd: null } }
    const mine = { allowed: false, code: 'self_approval', reason: 'somebody else must decide' }
    const lines = approvalLines({ ...ENTRY, cost, may_decide: mine }, 'sluice')
    expect(lines).toContain('You may not decide: somebody else must decide')
    expect(lines.join('\n')).toMatch(/1 token, at an unknown price\. To come .* at an unknown price\./)
    const decided = { status: 'approved', decided_by: 'user:bo', decided_at: 'then' }
    expect(approvalLines({ ...ENTRY, ...decided }, 'sluice')[0]).toMatch(/: approved by user:bo at then$/)
  })
})

describe('what is sent', () => {
  test('edits have the types of their ports; what cannot be meant ends with exit code 2', () => {
    const types = { goal: { type: 'string' }, n: { type: 'number' }, list: { type: 'json' }, on: { type: 'boolean' } }
    expect(readEdits(['goal=a=b', 'n=3', 'list=[1]', 'on=true', 'other=x'], types)).toEqual({
      goal: 'a=b',
      n: 3,
      list: [1],
      on: true,
      other: 'x',
    })
    for (const pairs of [['goal'], ['=x'], ['n=three'], ['list=[', 'goal=x'], ['goal=a', 'goal=b']]) {
      expect(() => readEdits(pairs, types)).toThrow(expect.objectContaining({ exitCode: 2 }))
    }
  })

  test('a restart mode means another run; nothing said leaves it to the document', () => {
    expect(rejectionFields({})).toEqual({})
    expect(rejectionFields({ restartMode: 'from_scratch', feedback: 'no' })).toEqual({
      feedback: 'no',
      iterate: true,
      restart_mode: 'from_scratch',
    })
    expect(rejectionFields({ iterate: false })).toEqual({ iterate: false })
  })
})

describe('what is told', () => {
  test('a vote that is not the last is no decision yet', () => {
    const decided = (status: string, votes?: Record<string, unknown>[]) => ({
      approval: { status, ...(votes && { votes }) },
      run: {},
    })
    expect(decidedLine('approve', decided('approved'), 'block a of run_1')).toBe('Approved block a of run_1.')
    expect(decidedLine('waive', decided('approved'), 'block a')).toBe('Waived the failed gates of block a.')
    expect(decidedLine('approve', decided('pending', [{}]), 'block a')).toBe(
      'Voted for block a: 1 vote so far, it waits for more.',
    )
  })

  test('events of questions in words', () => {
    const by = { kind: 'user', id: 'ana' }
    const decided = { by, via: 'slack', waited_ms: 1_000, have: 1, need: 2, decision: 'approve' }
    const said = (type: string, data: object, feedback?: string) =>
      eventLine({ ...event(type, data), at: '2026-01-01T00:00:00.000Z' }, START, { feedback })
    const asked = { expires_at: 'T', approvers: ['user:ana'], quorum: 2, about: 'post_gates' }
    expect(said('approval:requested', asked)).toMatch(
      /deploy: gates after it failed: waits for a waiver of 2 people \(user:ana\) until T$/,
    )
    expect(said('approval:decided', decided)).toMatch(/: approved \(1 of 2\) by user:ana via slack after 1.00 s$/)
    const iterated = { ...decided, need: 1, decision: 'reject', iterate: 'refine' }
    expect(said('approval:decided', iterated, 'again, please')).toMatch(
      /: rejected by user:ana via slack after 1.00 s, another run goes on \(refine\): again, please$/,
    )
    expect(said('approval:reminded', { n: 1 })).toMatch(/: reminder 1: nobody decided yet$/)
    expect(said('approval:escalated', { to: ['user:b'] })).toMatch(/: escalated: user:b may decide too$/)
    expect(said('approval:expired', { on_timeout: 'reject' })).toMatch(/: nobody decided in time: counts as a no$/)
    expect(said('block:ready', {})).toBeUndefined()
  })
})
