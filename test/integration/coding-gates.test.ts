import { afterEach, describe, expect, test } from 'vitest'
import { expectFoldStored, story } from './loop.ts'
import { DOCUMENT, movesOf, openTaskPlace, SHIPPED, taskOf, verdictsOf } from './task-place.ts'
import type { TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const GOOD = 'Tested by a golden file.'

/** Runs the shipped document to its end; `review` answers for the reviewer, absent = the shipped agents. */
async function run(review?: Parameters<typeof openTaskPlace>[0], given: object = {}, dag = DOCUMENT) {
  open = await openTaskPlace(review)
  const id = await open.start(dag, given as Record<string, unknown>)
  const events = await open.ended(id)
  await expectFoldStored(open, id)
  return { id, events, end: events.at(-1)?.data, verdicts: verdictsOf(events), task: await taskOf(open, id) }
}

describe('dags/coding-gates.yaml', () => {
  test('as shipped: a rejection goes back with what, where and how, the second change is done', async () => {
    const { id, events, verdicts, task } = await run()
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(movesOf(task, id)).toEqual([
      'plan: none -> PENDING',
      'execute: PENDING -> IN_PROGRESS',
      'review: IN_PROGRESS -> REVIEW',
      'execute~1: REVIEW -> IN_PROGRESS',
      'review~1: IN_PROGRESS -> REVIEW',
      'done: REVIEW -> DONE',
    ])
    expect(verdicts).toEqual([
      'execute needs-assignee: passed',
      'judge-change review-approved: failed',
      'execute structured-feedback: passed',
      'execute max-bounces: passed',
      'judge-change review-approved: passed',
      'done done-evidence: passed',
    ])
    expect(task).toMatchObject({ status: 'DONE', assigned: 'coder', bounce_count: 1 })
    expect(task.notes).toContain('Tested by')
  })

  test('done is never reached before the reviewer approves, whatever the place does in between', async () => {
    const { events } = await run((round) => (round < 3 ? 'There are no tests at all.' : GOOD))
    const told = story(events)
    const approved = told.findIndex((line) => /^judge-change completed/.test(line))
    expect(told.indexOf('done started')).toBeGreaterThan(approved)
    expect(told.filter((line) => line.startsWith('done'))).toEqual(['done started', 'done completed'])
    expect(told.filter((line) => line.startsWith('rerouted'))).toHaveLength(2)
  })

  test('a rejection is the notes of the task while it is worked on again', async () => {
    const seen = Promise.withResolvers<void>()
    const go = Promise.withResolvers<string>()
    open = await openTaskPlace((round) => {
      if (round === 1) return 'There are no tests at all.'
      seen.resolve()
      return go.promise
    })
    const id = await open.start(DOCUMENT)
    await seen.promise
    const context = await open.place.world.runs.context({ tenant: 'main', run_id: id })
    expect(context?.values.task).toMatchObject({ status: 'REVIEW', bounce_count: 1 })
    go.resolve(GOOD)
    await open.ended(id)
  })
})

describe('a gate that does not hold', () => {
  test('needs-assignee keeps the task PENDING, and the run says who refused and why', async () => {
    const { id, events, end, task } = await run(() => GOOD, { inputs: { assigned: ' ' } })
    expect(end).toMatchObject({ code: 'task_gate_refused', block_id: 'execute' })
    expect(JSON.stringify(end)).toMatch(/needs-assignee\\" failed: Nobody works on it.*assigned/)
    expect([task.status, movesOf(task, id)]).toEqual(['PENDING', ['plan: none -> PENDING']])
    expect(story(events)).toContain('write-change skipped')
  })

  test('structured-feedback: a rejection in loose words is refused, and every gate of the move is reported', async () => {
    const loose = DOCUMENT.replace(/error: "WHAT: .*"/, 'error: This is not good enough')
    const { end, verdicts, task } = await run(() => 'No.', {}, loose)
    expect(end).toMatchObject({ code: 'task_gate_refused', block_id: 'execute' })
    expect(JSON.stringify(end)).toMatch(/structured-feedback.*must contain .*WHAT:.*WHERE:.*FIX:/)
    expect(verdicts.slice(-2)).toEqual(['execute structured-feedback: failed', 'execute max-bounces: passed'])
    expect([task.status, task.bounce_count]).toEqual(['REVIEW', 0])
  })

  test('done-evidence: an approval of nine characters is no evidence', async () => {
    const { end, task } = await run(() => 'Tested by')
    expect(end).toMatchObject({ code: 'task_gate_refused', block_id: 'done' })
    expect(JSON.stringify(end)).toMatch(/done-evidence.*at least 10 characters, has 9/)
    expect(task.status).toBe('REVIEW')
  })

  test('max-bounces: three rejections go back, the fourth is refused and the run fails in its name', async () => {
    const { id, events, end, verdicts, task } = await run(() => 'There are no tests at all.')
    expect(end).toMatchObject({ code: 'task_gate_refused', block_id: 'execute' })
    expect(JSON.stringify(end)).toMatch(/max-bounces.*three times at most: must be at most 3, is 4/)
    expect(verdicts.filter((line) => line.includes('max-bounces')).map((line) => line.split(' ').at(-1))).toEqual([
      'passed',
      'passed',
      'passed',
      'failed',
    ])
    expect([task.status, task.bounce_count]).toEqual(['REVIEW', 3])
    expect(movesOf(task, id).filter((line) => line.endsWith('REVIEW -> IN_PROGRESS'))).toHaveLength(3)
    expect(story(events).filter((line) => line.startsWith('done'))).toEqual(['done skipped'])
  })
})

describe('the gates of a run', () => {
  test('are those of its start: a changed sluice.yaml changes the next run only', async () => {
    open = await openTaskPlace(() => 'Tested by')
    const { json } = await open.call('get-run', await open.start(DOCUMENT))
    const pinned = (json as unknown as { dag: { task_gates: { name: string }[] } }).dag.task_gates
    expect(pinned.map(({ name }) => name)).toEqual(SHIPPED.gates.map(({ name }) => name))
  })

  test('stay after the place was opened with others', async () => {
    const seen = Promise.withResolvers<void>()
    const hangs = () => {
      seen.resolve()
      return new Promise<string>(() => {})
    }
    const before = await openTaskPlace(hangs)
    const id = await before.start(DOCUMENT)
    await seen.promise
    // The same data, without any gate: what a new sluice.yaml comes to.
    const { world } = before.place
    Object.assign(world, { settings: { ...world.settings, gates: [], pipelines: {} } })
    open = before
    await expect(before.start(DOCUMENT)).rejects.toThrow('no_pipeline')
    expect((await before.events(id)).at(-1)?.type).toBe('block:started')
    await before.call('stop-run', id, {})
  })

  test('are needed: a DAG that moves a task without a pipeline does not start', async () => {
    open = await openTaskPlace(() => GOOD)
    const other = DOCUMENT.replace('name: coding-gates', 'name: other')
    await expect(open.start(other)).rejects.toThrow(/no_pipeline.*no pipeline of sluice.yaml is for DAG .*other/)
    const { json } = await open.call('validate-dag', '', { dag: other })
    expect(json).toMatchObject({ valid: false, errors: [{ code: 'no_pipeline', path: 'blocks[0].deterministic' }] })
    expect((await open.call('validate-dag', '', { dag: DOCUMENT })).json).toMatchObject({ valid: true })
  })
})

describe('nobody writes past the gates', () => {
  test('the context route refuses the key of a task that blocks move, and takes others', async () => {
    open = await openTaskPlace(() => new Promise(() => {}))
    const id = await open.start(DOCUMENT)
    await open.until(id, ({ type, block_id }) => type === 'block:started' && block_id === 'judge-change')
    const { json } = await open.call('get-context', id)
    const if_version = (json as unknown as { version: number }).version
    const done = { status: 'DONE', assigned: 'me', notes: 'it is good', bounce_count: 0, moves: [] }
    const refused = await open.call('patch-context', id, { set: { task: done }, if_version })
    expect([refused.status, refused.json]).toMatchObject([409, { code: 'task_is_moved' }])
    expect((await open.call('patch-context', id, { set: { note: 'x' }, if_version })).status).toBe(200)
    await open.call('stop-run', id, {})
  })

  test('no start gives a task, however well it is made', async () => {
    open = await openTaskPlace(() => GOOD)
    const task = { status: 'DONE', assigned: 'x', notes: 'it is good', bounce_count: 0 }
    const start = open.start(DOCUMENT, { context: { task }, inputs: {} })
    await expect(start).rejects.toThrow(/invalid_inputs.*moved by its blocks alone/)
  })

  test.each([
    ['DONE', /bad_task.*"task\\" of the context is no task/],
    [{ status: 'DOING' }, /task.status\\" of the context is no task.*PENDING.*saw .*DOING/],
    [{ status: 'REVIEW', assigned: 'x', notes: '', bounce_count: -1, moves: [] }, /bad_task.*bounce_count/],
  ])('a run whose context was given task %j before its first move fails there', async (task, words) => {
    open = await openTaskPlace(() => GOOD)
    const asking = DOCUMENT.replace('    deterministic: { handler: move-task, config: { to: PENDING } }', (line) => {
      return `${line}\n    approval: { prompt: Begin? }`
    })
    const id = await open.start(asking)
    const asked = await open.until(id, ({ type }) => type === 'approval:requested')
    expect((await open.call('patch-context', id, { set: { task }, if_version: 0 })).status).toBe(200)
    const { approval_id, digest } = asked.data as { approval_id: string; digest: string }
    await open.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
    expect(JSON.stringify((await open.ended(id)).at(-1)?.data)).toMatch(words)
  })

  test('inputs that are no text, or too long, fail the move', async () => {
    open = await openTaskPlace(() => GOOD)
    const id = await open.start(DOCUMENT, { inputs: { assigned: 'x'.repeat(201) } })
    expect((await open.ended(id)).at(-1)?.data).toMatchObject({ code: 'bad_task_input', block_id: 'plan' })
  })
})
