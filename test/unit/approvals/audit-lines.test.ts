import { describe, expect, test } from 'vitest'
import { auditLines } from '../../../shared/approvals/audit.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'
import { hashAfter } from '../../../shared/runs/hash-chain.ts'

const at = (seq: number) => `2026-01-01T00:00:${String(seq).padStart(2, '0')}.000Z`
const DIGEST = 'd'.repeat(64)
const asked = (id: string, more: object = {}): NewEvent => ({
  type: 'approval:requested',
  block_id: 'deploy',
  data: {
    approval_id: id,
    digest: DIGEST,
    prompt_hash: 'p',
    expires_at: '2026-01-01T01:00:00.000Z',
    approvers: ['group:release'],
    quorum: 2,
    ...more,
  },
})
const decided = (id: string, person: string, more: object = {}): NewEvent => ({
  type: 'approval:decided',
  block_id: 'deploy',
  data: {
    approval_id: id,
    decision: 'approve',
    by: { kind: 'user', id: person },
    via: 'cli',
    digest: DIGEST,
    have: 1,
    need: 2,
    waited_ms: 5,
    policy: 'group:release',
    policy_hash: 'h',
    ...more,
  },
})
const waived: NewEvent = {
  type: 'block:gate',
  block_id: 'deploy',
  attempt: 1,
  data: {
    gate: 'tone',
    type: 'contains',
    phase: 'post',
    status: 'waived',
    reason: 'waived by user:bo',
    input_hash: 'i',
    facts: { by: 'user:bo', via: 'cli', approval_id: 'apr_2', reason_ref: 'r' },
    duration_ms: 0,
  },
}
const LOG = numbered([
  { type: 'block:ready', block_id: 'deploy', data: {} },
  asked('apr_1'),
  { type: 'approval:reminded', block_id: 'deploy', data: { approval_id: 'apr_1', n: 1 } },
  { type: 'approval:escalated', block_id: 'deploy', data: { approval_id: 'apr_1', to: ['user:boss'] } },
  decided('apr_1', 'ana', { feedback_ref: 'objstore://main/a' }),
  decided('apr_1', 'bo', {
    have: 2,
    feedback_ref: 'objstore://main/b',
    edits_hash: 'e',
    edits_ref: 'objstore://main/e',
  }),
  asked('apr_2', { about: 'post_gates', quorum: 1 }),
  decided('apr_2', 'bo', { decision: 'waive', need: 1 }),
  waived,
  asked('apr_3', { quorum: 1 }),
  { type: 'approval:expired', block_id: 'deploy', data: { approval_id: 'apr_3', on_timeout: 'reject' } },
])

function numbered(events: readonly NewEvent[]): readonly RunEvent[] {
  return events.map((event, i) => ({ ...event, seq: i + 1, id: `x/${i}/0`, run_id: 'run_x', at: at(i + 1) }))
}

const shown_refs = { note: { sha256: 'a'.repeat(64) } }
const RUN = {
  run_id: 'run_x',
  dag_name: 'release',
  dag_hash: 'f'.repeat(64),
  approvals: [
    {
      approval_id: 'apr_1',
      prompt: 'Deploy?',
      shown_refs,
      feedback: 'go',
      votes: [{ by: 'user:ana', at: at(5), feedback: 'looks good' }],
    },
    {
      approval_id: 'apr_2',
      prompt: 'Waive?',
      shown_refs,
      gates: [{ name: 'tone', reason: 'rude' }],
      raise: { tokens: 9 },
    },
  ],
}

describe('auditLines()', () => {
  const lines = auditLines(LOG, RUN)

  test('has a line for each question, vote, reminder, escalation, decision, waiver and expiry, in order', () => {
    expect(lines.map(({ seq, kind, approval_id }) => `${seq} ${kind} ${approval_id}`)).toEqual([
      '2 requested apr_1',
      '3 reminded apr_1',
      '4 escalated apr_1',
      '5 vote apr_1',
      '6 decided apr_1',
      '7 requested apr_2',
      '8 decided apr_2',
      '9 waived apr_2',
      '10 requested apr_3',
      '11 expired apr_3',
    ])
  })

  test('each has the hash of the event chain at its event', () => {
    for (const { seq, hash } of lines) expect(hash).toBe(hashAfter(LOG.slice(0, seq)))
  })

  test('a decision says who, from where, why, on what, under which rule, and how far it brought the quorum', () => {
    const common = {
      run_id: 'run_x',
      dag_name: 'release',
      dag_hash: RUN.dag_hash,
      block_id: 'deploy',
      about: 'dispatch',
    }
    expect(lines[4]).toEqual({
      ...common,
      kind: 'decided',
      approval_id: 'apr_1',
      seq: 6,
      hash: hashAfter(LOG.slice(0, 6)),
      at: at(6),
      decision: 'approve',
      who: { kind: 'user', id: 'bo' },
      source: 'cli',
      why: 'go',
      why_ref: 'objstore://main/b',
      digest: DIGEST,
      shown: { note: 'a'.repeat(64) },
      policy: 'group:release',
      policy_hash: 'h',
      have: 2,
      need: 2,
      edits_hash: 'e',
      waited_ms: 5,
    })
    expect(lines[3]).toMatchObject({ kind: 'vote', who: { id: 'ana' }, why: 'looks good', have: 1, need: 2 })
    expect(lines[6]).toMatchObject({ decision: 'waive', about: 'post_gates', have: 1, need: 1 })
    expect(lines[6]).not.toHaveProperty('why')
    expect(lines[7]).toMatchObject({ gate: 'tone', phase: 'post', who: 'user:bo', source: 'cli' })
    expect(lines[5]).toMatchObject({
      prompt: 'Waive?',
      gates: [{ name: 'tone', reason: 'rude' }],
      raise: { tokens: 9 },
      quorum: 1,
    })
    expect(lines[9]).toMatchObject({ on_timeout: 'reject' })
  })

  test('any byte of any event changed shows in every line from there on', () => {
    for (const [i] of LOG.entries()) {
      const other = LOG.map((event, k) => (k === i ? { ...event, at: event.at.replace('2026', '2027') } : event))
      const changed = auditLines(other, RUN)
      for (const [k, { seq, hash }] of lines.entries()) {
        expect(changed[k]?.hash === hash, `event ${i + 1}, line of ${seq}`).toBe(seq <= i)
      }
    }
  })

  test('a gate that only failed is no line, nor is a waiver that names no approval', () => {
    const others = numbered([
      { ...waived, data: { ...waived.data, status: 'failed' } } as NewEvent,
      { ...waived, data: { ...waived.data, facts: null } } as NewEvent,
    ])
    expect(auditLines(others, RUN)).toEqual([])
  })
})
