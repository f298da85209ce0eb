import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { configuredGates } from '../../../shared/document/task-gates.ts'
import { Fault } from '../../../shared/errors.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const SHIPPED = readFileSync('sluice.yaml', 'utf8')

function issuesOf(text: string) {
  try {
    parseSettings(text, 'sluice.yaml')
  } catch (error) {
    if (error instanceof Fault)
      return error.issues.map(({ path, line, message, hint }) => ({ path, line, told: `${message} ${hint ?? ''}` }))
    throw error
  }
  return []
}

const gate = (change: string) => `gates:
  - name: evidence
    on: { to: DONE }
    check: { type: min_length, port: notes, min: 10 }
    error: Say why
${change}`
const instead = (from: string, to: string) => gate('').replace(from, to)

describe('gates and pipelines of sluice.yaml', () => {
  test('the shipped ones are the four of pipeline coding', () => {
    const settings = parseSettings(SHIPPED, 'sluice.yaml')
    expect(configuredGates(settings).map(({ name, on, pipelines }) => [name, on.from, on.to, pipelines])).toEqual([
      ['needs-assignee', 'PENDING', 'IN_PROGRESS', ['coding']],
      ['structured-feedback', 'REVIEW', 'IN_PROGRESS', ['coding']],
      ['done-evidence', undefined, 'DONE', ['coding']],
      ['max-bounces', 'REVIEW', 'IN_PROGRESS', ['coding']],
    ])
  })

  test.each([
    [
      'a status there is none of',
      instead('to: DONE', 'to: DOEN'),
      'gates.0.on.to',
      3,
      /"IN_PROGRESS".*saw "DOEN".*Did you mean "DONE"/,
    ],
    ['a side there is none of', instead('to: DONE', 'too: DONE'), 'gates.0.on.too', 3, /did you mean "to"/],
    [
      'a gate type there is none of',
      instead('min_length', 'min_lenght'),
      'gates.0.check.type',
      4,
      /Did you mean "min_length"/,
    ],
    ['a wrong parameter', instead('min: 10', 'min: many'), 'gates.0.check.min', 4, /min/],
    [
      'a port a task has not',
      instead('port: notes', 'port: note'),
      'gates.0.check',
      4,
      /No port "note"; a task has .*Did you mean "notes"/,
    ],
    [
      'a check that reads no task',
      instead('{ type: min_length, port: notes, min: 10 }', '{ type: cost, max: 1 }'),
      'gates.0.check',
      4,
      /"cost" reads nothing of a task/,
    ],
    [
      'a port of a nested check',
      instead('{ type: min_length, port: notes, min: 10 }', '{ any_of: [{ type: not_empty, port: note }] }'),
      'gates.0.check',
      4,
      /No port "note"/,
    ],
    ['no words', instead('    error: Say why\n', ''), 'gates.0.error', 2, /string/],
    ['a key there is none of', instead('error:', 'eror:'), 'gates.0.eror', 5, /did you mean "error"/],
    [
      'two gates of one name',
      `${gate('')}${gate('').replace('gates:\n', '')}`,
      'gates.1.name',
      6,
      /Two gates have the name "evidence"/,
    ],
    [
      'a pipeline of an unknown gate',
      gate('pipelines: { p: { dag: d, gates: [evidense] } }'),
      'pipelines.p.gates.0',
      6,
      /configured are "evidence".*Did you mean "evidence"/,
    ],
    [
      'a gate named twice',
      gate('pipelines: { p: { dag: d, gates: [evidence, evidence] } }'),
      'pipelines.p.gates.1',
      6,
      /named twice/,
    ],
    [
      'two pipelines of one DAG',
      gate('pipelines: { p: { dag: d, gates: [] }, q: { dag: d, gates: [] } }'),
      'pipelines.q.dag',
      6,
      /DAG "d" has a pipeline already/,
    ],
  ])('refuse %s, where it is and with what there is', (_what, text, path, line, words) => {
    const [issue, ...others] = issuesOf(text).filter((one) => one.path === path)
    expect([issue?.line, others]).toEqual([line, []])
    expect(issue?.told).toMatch(words)
  })
})
