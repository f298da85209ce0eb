import { describe, expect, test } from 'vitest'
import type { Principal } from '../../../shared/principal.ts'
import { approvalDigest, decidedWords, refusalOf } from '../../../shared/runs/approval-rules.ts'

const ana: Principal = { kind: 'user', id: 'ana', tenant: 'main', scopes: [] }

describe('refusalOf()', () => {
  test('an empty list lets everybody decide who may approve here', () => {
    expect(refusalOf({ approvers: [], self_approval: true }, ana, 'user:ana')).toBeUndefined()
  })
  test('a list refuses everybody else', () => {
    expect(refusalOf({ approvers: ['user:bob'], self_approval: true }, ana, 'user:bob')?.code).toBe('not_an_approver')
    expect(refusalOf({ approvers: ['user:ana'], self_approval: true }, ana, 'user:bob')).toBeUndefined()
  })
  test('self_approval: false refuses the starter', () => {
    expect(refusalOf({ approvers: [], self_approval: false }, ana, 'user:ana')?.code).toBe('self_approval')
    expect(refusalOf({ approvers: [], self_approval: false }, ana, 'user:bob')).toBeUndefined()
  })
})

describe('approvalDigest()', () => {
  const asked = { prompt: 'Deploy?', shown: { build: { ref: 'r', sha256: 'a', bytes: 1 } }, block_hash: 'h' }
  test.each([
    ['the prompt', { ...asked, prompt: 'Deploy now?' }],
    ['a shown value', { ...asked, shown: { build: { ref: 'r', sha256: 'b', bytes: 1 } } }],
    ['the ports shown', { ...asked, shown: {} }],
    ['the block definition', { ...asked, block_hash: 'i' }],
  ])('changes with %s', (_what, other) => {
    expect(approvalDigest(other)).not.toBe(approvalDigest(asked))
  })
})

test('decidedWords() says who, when and how', () => {
  const decided = {
    block: 1,
    status: 'approved',
    expires_at: 'e',
    digest: 'd',
    decided_by: 'user:ana',
    decided_at: 't',
    via: 'cli',
  } as const
  expect(decidedWords(decided)).toBe('approved by user:ana at t via cli')
})
