import { expect, test } from 'vitest'
import { type Task, TaskSchema } from '../../shared/dag/task-status.ts'
import { story } from '../integration/loop.ts'
import { movesOf, verdictsOf } from '../integration/task-place.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

/** The shipped document and settings, deployed: the task on DynamoDB, its moves by run-block, its gates of the stage. */
const aws = shippedStack()

async function taskOf(id: string): Promise<Task> {
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/context`)
  return TaskSchema.parse((json.values as Readonly<Record<string, unknown>>).task)
}

test('coding-gates goes back once and is done; the next cycle continues it with its task and its change', async () => {
  const { json } = await aws.caller.call('GET', '/api/gates')
  expect((json.configured as { name: string }[]).map(({ name }) => name)).toContain('max-bounces')
  const first = await aws.caller.start({ name: 'coding-gates' })
  const events = await aws.caller.until(first, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(verdictsOf(events).filter((line) => line.startsWith('execute') || line.startsWith('done'))).toEqual([
    'execute needs-assignee: passed',
    'execute structured-feedback: passed',
    'execute max-bounces: passed',
    'done done-evidence: passed',
  ])
  const done = await taskOf(first)
  expect(done).toMatchObject({ status: 'DONE', bounce_count: 1, notes: expect.stringContaining('Tested by') })
  const second = await aws.caller.start({
    name: 'coding-gates',
    inputs: { goal: 'Document the flag' },
    continues: first,
  })
  const started = (await aws.caller.until(second, isEnd))[0]
  expect(started).toMatchObject({ type: 'run:started', data: { continues: first } })
  expect(movesOf(await taskOf(second), second)[0]).toBe('plan: DONE -> PENDING')
  const { json: run } = await aws.caller.call('GET', `/api/dag/runs/${second}`)
  expect(run).toMatchObject({ run: { continues: first, state: 'completed' } })
})

test('a run that continues one sees its artifacts, and replaces those it writes itself', async () => {
  const first = await aws.caller.start({ name: 'coding-gates' })
  await aws.caller.until(first, isEnd)
  const reader = { blocks: [{ id: 'a', mode: 'deterministic', outputs: {}, deterministic: { handler: 'pass' } }] }
  const second = await aws.caller.start({ dag: reader, continues: first })
  await aws.caller.until(second, isEnd)
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${second}/artifacts`)
  expect(json).toMatchObject({ artifacts: [{ name: 'change.md', from_run: first, attempt: 0 }] })
  const { text } = await aws.caller.call('GET', `/api/dag/runs/${second}/artifacts/change.md`)
  expect(text).toContain('Tested by')
  const third = await aws.caller.start({ name: 'coding-gates', continues: first })
  await aws.caller.until(third, isEnd)
  const own = await aws.caller.call('GET', `/api/dag/runs/${third}/artifacts`)
  expect(own.json).toMatchObject({ artifacts: [{ name: 'change.md', attempt: 1 }] })
  expect(JSON.stringify(own.json)).not.toContain('from_run')
})

test('every call of the machine delivered once more, out of order, changes nothing', async () => {
  const id = await aws.caller.start({ name: 'coding-gates' })
  const before = { events: await aws.caller.until(id, isEnd), task: await taskOf(id) }
  const deliveries = aws.place.deliveries.filter(({ run_id }) => run_id === id)
  expect(deliveries.length).toBeGreaterThan(12)
  for (const { arn, payload } of deliveries.toReversed()) await aws.place.lambda.invoke(arn, payload)
  expect({ events: await aws.caller.events(id), task: await taskOf(id) }).toEqual(before)
  const versions = before.events.flatMap(({ type, data }) => (type === 'context:patched' ? [data.version] : []))
  expect(versions).toEqual([1, 2, 3, 4, 5, 6])
})

test('nobody is assigned: the machine goes on to its end, and the run says which gate refused', async () => {
  const id = await aws.caller.start({ name: 'coding-gates', inputs: { assigned: '' } })
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)?.data).toMatchObject({ code: 'task_gate_refused', block_id: 'execute' })
  expect(story(events).filter((line) => line.startsWith('done'))).toEqual(['done skipped'])
  expect((await taskOf(id)).status).toBe('PENDING')
})
