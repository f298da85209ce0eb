import { describe, expect, test } from 'vitest'
import { auditProblems } from '../../../clients/cli/approvals/audit.ts'
import type { AuditLine } from '../../../shared/approvals/audit.ts'

const line = (seq: number, kind: AuditLine['kind'] = 'decided', run_id = 'run_x'): AuditLine => ({
  kind,
  run_id,
  dag_name: 'release',
  dag_hash: 'f',
  approval_id: 'apr_1',
  block_id: 'deploy',
  about: 'dispatch',
  seq,
  hash: `hash ${seq}`,
  at: '2026-01-01T00:00:00.000Z',
  why: 'it is fine',
})
const OWN = [line(3, 'requested'), line(5, 'vote'), line(8)]
const file = (lines: readonly object[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('')

describe('auditProblems()', () => {
  test('finds nothing in the record as it was made, whole or from some time on', () => {
    expect(auditProblems(file(OWN), 'run_x', OWN)).toEqual([])
    expect(auditProblems(file(OWN.slice(1)), 'run_x', OWN)).toEqual([])
    expect(auditProblems(file([line(3, 'decided', 'run_other'), ...OWN]), 'run_x', OWN)).toEqual([])
    expect(auditProblems('', 'run_x', OWN)).toEqual([])
  })

  test('finds any one byte changed, in which member', () => {
    const text = file(OWN)
    expect(auditProblems(text.replace('fine', 'fire'), 'run_x', OWN)).toEqual(['line 1 (event 3) differs in why'])
    expect(auditProblems(text.replace('hash 8', 'hash 9'), 'run_x', OWN)).toEqual(['line 3 (event 8) differs in hash'])
    for (let i = 0; i < text.length - 1; i += 1) {
      const turned = text.slice(0, i) + (text[i] === 'x' ? 'y' : 'x') + text.slice(i + 1)
      const isRun = /"run_id":"run_[^x]"|"run_id":"[^r]|"run_id":"r[^u]|"run_id":"ru[^n]|"run_id":"run[^_]/.test(turned)
      // A line that names another run is that run's to check; here it is missing where it stood between others.
      if (!isRun)
        expect(auditProblems(turned, 'run_x', OWN), `byte ${i}: ${turned.slice(i - 5, i + 5)}`).not.toEqual([])
    }
  })

  test('finds a line made up, left out, or no JSON', () => {
    expect(auditProblems(file([...OWN, line(9)]), 'run_x', OWN)).toEqual([
      'line 4 tells of event 9, which is no decision of this run',
    ])
    expect(auditProblems(file([OWN[0] ?? {}, OWN[2] ?? {}]), 'run_x', OWN)).toEqual([
      'the line of event 5 (vote) is left out',
    ])
    expect(auditProblems('not json\n', 'run_x', OWN)).toEqual(['line 1 is no JSON object'])
  })
})
