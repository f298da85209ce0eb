import { describe, expect, test } from 'vitest'
import { sluice } from '../../e2e/run-cli.ts'

/** No server is there: a refusal for want of a person comes before anything is asked of one. */
const NOWHERE = ['--url', 'http://127.0.0.1:9']
const RUN = `run_${'0'.repeat(26)}`

describe('a decision off a terminal', () => {
  test.each([
    ['run', 'approve', RUN],
    ['run', 'waive', RUN, '--feedback', 'why'],
    ['run', 'reject', RUN],
    ['approvals', 'approve', 'apr_1'],
    ['approvals', 'reject', 'apr_1'],
  ])('%s %s refuses without --yes, with exit code 2 and how to look', async (...args) => {
    const { code, err } = await sluice([...args, ...NOWHERE])
    expect(err).toContain(`Cannot ${args[1]} here: nobody can be asked`)
    expect(err).toContain('approvals show')
    expect(err).toContain('--yes')
    expect(code).toBe(2)
    const sent = await sluice([...args, '--yes', ...NOWHERE])
    expect(sent.err).toContain('No Sluice server answers')
  })
})
