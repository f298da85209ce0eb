import { describe, expect, test } from 'vitest'
import { chooseApproval, questionWithWarnings } from '../../../clients/cli/approvals/question-lines.ts'
import type { Approval } from '../../../clients/cli/server/approval-schema.ts'
import type { RunAnswer } from '../../../clients/cli/server/fetch-run.ts'
import { ANSWER } from './run-events-sample.ts'

const asked = (block: string, status = 'pending'): Approval => ({
  approval_id: `apr_${block}`,
  block_id: block,
  status,
  prompt: `Publish ${block}?`,
  shown: {},
  digest: 'd'.repeat(64),
  expires_at: '2026-01-02T00:00:00.000Z',
})

const run = (...approvals: Approval[]): RunAnswer => ({ ...ANSWER, approvals })

describe('chooseApproval()', () => {
  test('takes the only pending one', () => {
    expect(chooseApproval(run(asked('a', 'approved'), asked('b')), {}).block_id).toBe('b')
  })

  test('takes the one named by block or by approval', () => {
    const both = run(asked('a'), asked('b'))
    expect(chooseApproval(both, { block: 'b' }).block_id).toBe('b')
    expect(chooseApproval(both, { approval: 'apr_a' }).block_id).toBe('a')
  })

  test('lists several with exit code 2 and how to name one', () => {
    const reason = {
      code: 'several_pending',
      errors: [
        { path: 'a', message: 'Publish a?', hint: '--block a, or --approval apr_a' },
        { path: 'b', message: 'Publish b?', hint: '--block b, or --approval apr_b' },
      ],
    }
    const refusal = expect.objectContaining({ exitCode: 2, reason: expect.objectContaining(reason) })
    expect(() => chooseApproval(run(asked('a'), asked('b')), {})).toThrow(refusal)
  })

  test('says who decided already, with exit code 1', () => {
    const decided = { ...asked('a', 'approved'), decided_by: 'user:ana', decided_at: '2026-01-01T01:00:00.000Z' }
    const words =
      /no approval of \S+ is pending, the run is running\. Block a was approved by user:ana at 2026-01-01T01/
    expect(() => chooseApproval(run(decided), {})).toThrow(
      expect.objectContaining({ exitCode: 1, message: expect.stringMatching(words) }),
    )
  })

  test('calls the yes to failed gates a waiver', () => {
    const waived = { ...asked('a', 'approved'), about: 'post_gates', decided_by: 'user:ana' }
    expect(() => chooseApproval(run(waived), {})).toThrow(/Block a was waived by user:ana\./)
  })

  test('says which are pending when another was named', () => {
    expect(() => chooseApproval(run(asked('a')), { block: 'z' })).toThrow(/Pending: a\./)
  })
})

describe('shownLines()', () => {
  test('shows the prompt and every value, safe to print and bounded', () => {
    const approval = { ...asked('a'), shown: { text: `one\u001b[2J\ntwo${'x'.repeat(5_000)}`, facts: { n: 1 } } }
    const lines = questionWithWarnings(approval, 100)
    expect(lines.slice(0, 4)).toEqual([
      'Block a asks: Publish a?',
      'Expires 2026-01-02T00:00:00.000Z.',
      '--- text',
      '  one',
    ])
    expect(lines).toContain('  … 4911 more characters: sluice run status --json shows all of it')
    expect(lines.slice(-5)).toEqual(['--- facts', '  {', '    "n": 1', '  }', '---'])
  })

  test('begins with what is not as deployed, before the words of the question', () => {
    const overrides = [
      { port: 'act.target', value: '"production"', sha256: 'a'.repeat(64) },
      { port: 'act.note', value: 'x'.repeat(300), sha256: 'b'.repeat(64) },
    ]
    const context = [{ key: 'env', version: 2, by: 'user:bo\u001b[2J' }]
    expect(questionWithWarnings({ ...asked('a'), changes: { overrides, context } }).slice(0, 5)).toEqual([
      '!! Not a plain start of the deployed document:',
      '!! Override: act.target = "production"',
      `!! Override: act.note = ${'x'.repeat(300)}… (its first 300 characters; SHA-256 bbbbbbbbbbbb)`,
      '!! Context patched: env (version 2, by user:bo)',
      'Block a asks: Publish a?',
    ])
  })

  test('a value cannot pass for another one, nor for the end of the question', () => {
    const text = 'fine\n---\n--- target\nstaging\r--- target\n---\nBlock a asks: Something else?'
    const lines = questionWithWarnings({ ...asked('a'), shown: { text, target: 'production' } })
    expect(lines.filter((line) => !line.startsWith('  '))).toEqual([
      'Block a asks: Publish a?',
      'Expires 2026-01-02T00:00:00.000Z.',
      '--- text',
      '--- target',
      '---',
    ])
  })
})
