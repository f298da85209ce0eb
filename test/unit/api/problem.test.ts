import { describe, expect, it } from 'vitest'
import { problemHeaders, problemOf } from '../../../shared/api/problem.ts'
import { ProblemSchema } from '../../../shared/api/route-schema.ts'
import { Fault } from '../../../shared/errors.ts'

describe('problemOf()', () => {
  it('says a Fault in the words of RFC 9457, with its issues, facts and run', () => {
    const issues = [{ path: 'options.max_parallel', message: 'Too big', hint: 'at most 1000' }]
    const fault = new Fault('Conflict', 'already_decided', 'Cannot decide.', {
      issues,
      facts: { decided_by: 'user:ana' },
    })
    const problem = problemOf(fault, 'run_1')
    expect(ProblemSchema.parse(problem)).toEqual({
      type: 'urn:sluice:problem:already_decided',
      title: 'The request conflicts with the present state',
      status: 409,
      code: 'already_decided',
      detail: 'Cannot decide.',
      errors: issues,
      run_id: 'run_1',
      facts: { decided_by: 'user:ana' },
    })
  })

  it.each([
    ['an Error', new Error('password in /etc/secret')],
    ['a Bug', new Fault('Bug', 'object_corrupt', 'table secret is broken', { facts: { secret: 1 } })],
    ['no error at all', 'secret'],
    ['nothing', undefined],
  ])('keeps the words of %s inside', (_name, error) => {
    const problem = problemOf(error)
    expect(problem.status).toBe(500)
    expect(JSON.stringify(problem)).not.toMatch(/secret|password/)
    expect(problem.facts).toBeUndefined()
  })

  it('lists at most 20 issues', () => {
    const issues = Array.from({ length: 50 }, (_, n) => ({ path: String(n), message: 'bad' }))
    expect(problemOf(new Fault('InvalidInput', 'bad_body', 'bad', { issues })).errors).toHaveLength(20)
  })

  it('says what HTTP has a header for in the header', () => {
    const method = new Fault('InvalidInput', 'method_not_allowed', 'no', {
      status: 405,
      facts: { allow: ['GET', 'POST'] },
    })
    expect(problemHeaders(method)).toMatchObject({ allow: 'GET, POST', 'content-type': 'application/problem+json' })
    const busy = new Fault('LimitExceeded', 'too_many', 'no', { facts: { retry_after_ms: 1_200 } })
    expect(problemHeaders(busy)['retry-after']).toBe('2')
  })
})
