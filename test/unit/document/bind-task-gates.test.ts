import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bindAgents } from '../../../shared/document/bind-agents.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { bindTaskGates } from '../../../shared/document/task-gates.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const SETTINGS = parseSettings(readFileSync('sluice.yaml', 'utf8'), 'sluice.yaml')
const SHIPPED = readFileSync('dags/coding-gates.yaml', 'utf8')

function bind(document: string | object, settings = SETTINGS) {
  const parsed = parseDag(document, { name: 'given', providers: ['local'], routing: settings })
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
  const bound = bindAgents(parsed.dag, settings)
  if (!bound.ok) throw new Error('not bound')
  return bindTaskGates(bound.dag, settings)
}

const codes = (bound: ReturnType<typeof bind>) =>
  bound.ok ? [] : bound.issues.map(({ code, path }) => `${code} ${path}`)

const move = (id: string, to: string, more: object = {}) => ({
  id,
  mode: 'deterministic',
  outputs: { status: 'string' },
  deterministic: { handler: 'move-task', config: { to } },
  ...more,
})
const holds = { name: 'approved', check: { type: 'contains', port: 'text', values: ['yes'] } }
const judge = (more: object = {}) => ({
  id: 'judge',
  outputs: { text: 'string' },
  agent: { role: 'reviewer', prompt: 'Judge' },
  post_gates: [holds],
  ...more,
})
/** judge -> middle -> done; `done` and `middle` as a test wants them. */
const reviewed = (reviewer: object, done: object = {}, middle: object = {}) => ({
  name: 'coding-gates',
  blocks: [
    reviewer,
    {
      id: 'middle',
      mode: 'deterministic',
      inputs: { text: { from: 'judge.text' } },
      outputs: { text: 'string' },
      deterministic: { handler: 'pass' },
      ...middle,
    },
    move('done', 'DONE', { inputs: { notes: { from: 'middle.text' } }, ...done }),
  ],
})

describe('bindTaskGates()', () => {
  test('gives the document its pipeline’s gates, in the pipeline’s order, with parsed checks', () => {
    const gates = ['max-bounces', 'done-evidence']
    const bound = bind(SHIPPED, { ...SETTINGS, pipelines: { p: { dag: 'coding-gates', gates } } })
    expect(bound).toMatchObject({
      ok: true,
      dag: {
        task_gates: [
          {
            name: 'max-bounces',
            from: 'REVIEW',
            to: 'IN_PROGRESS',
            check: { type: 'max_value', port: 'bounce_count', max: 3 },
          },
          { name: 'done-evidence', to: 'DONE', check: { type: 'min_length', port: 'notes', min: 10 }, on_fail: 'fail' },
        ],
      },
    })
  })

  test('leaves a document that moves no task as it is, also one of a pipeline', () => {
    const bound = bind({ name: 'coding-gates', blocks: [judge()] })
    expect(bound.ok && 'task_gates' in bound.dag).toBe(false)
  })

  test('refuses one without a pipeline, naming those there are', () => {
    const bound = bind({ name: 'mine', blocks: [move('plan', 'PENDING')] })
    expect(codes(bound)).toEqual(['no_pipeline blocks[0].deterministic'])
    expect(bound).toMatchObject({
      issues: [{ message: expect.stringContaining('"coding-gates"'), hint: expect.stringContaining('dag: mine') }],
    })
  })

  test('refuses a move that goes over a list', () => {
    const blocks = [move('a', 'PENDING'), move('b', 'IN_PROGRESS', { foreach: { items: [1, 2] }, edges: undefined })]
    expect(codes(bind({ name: 'coding-gates', blocks }))).toEqual(['task_move_once blocks[1].foreach'])
  })
})

describe('the move to DONE needs a reviewer that has to succeed before it', () => {
  test.each<[string, object]>([
    ['an ai block of role reviewer whose gate must hold', reviewed(judge())],
    ['a person asked about the move', reviewed(judge({ agent: { role: 'worker', prompt: 'x' } }), { approval: true })],
    ['a person asked before it', reviewed(judge({ agent: { role: 'worker', prompt: 'x' } }), {}, { approval: true })],
  ])('%s is one', (_what, document) => {
    expect(codes(bind(document))).toEqual([])
  })

  test.each<[string, object]>([
    ['a worker', reviewed(judge({ agent: { role: 'worker', prompt: 'x' } }))],
    ['a reviewer without gates', reviewed(judge({ post_gates: [] }))],
    ['a reviewer whose gate only warns', reviewed(judge({ post_gates: [{ ...holds, on_fail: 'warn' }] }))],
    ['a reviewer of whose gates any is enough', reviewed(judge({ gate_composition: { post: 'any' } }))],
    ['a reviewer whose failure is no matter', reviewed(judge(), { depends: 'middle.done' })],
    ['a reviewer before a block that runs without it', reviewed(judge(), {}, { depends: 'judge.failed' })],
    ['nobody', { name: 'coding-gates', blocks: [move('done', 'DONE')] }],
  ])('%s is none', (_what, document) => {
    const at = (document as { blocks: object[] }).blocks.length - 1
    expect(codes(bind(document))).toEqual([`no_review blocks[${at}]`])
  })
})
