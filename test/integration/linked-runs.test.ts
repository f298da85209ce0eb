import { afterEach, describe, expect, test } from 'vitest'
import { readContinuedRun } from '../../functions/runs/continued-run.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { DOCUMENT, movesOf, openTaskPlace, taskOf } from './task-place.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const NOTHING = { providers: {} }
const pass = (id: string, more: object = {}) => ({
  id,
  mode: 'deterministic',
  inputs: { text: { type: 'string', default: 'nothing' } },
  outputs: { text: 'string' },
  deterministic: { handler: 'pass' },
  ...more,
})
const writing = (name: string) => ({
  id: 'keep',
  mode: 'deterministic',
  inputs: { text: { type: 'string', default: `text of ${name}` } },
  outputs: { file: 'artifact' },
  deterministic: { handler: 'write-artifact', config: { name } },
})

async function finished(place: TestPlace, dag: string | object, given: object = {}): Promise<string> {
  const id = await place.start(dag, given as Record<string, unknown>)
  expect((await place.ended(id)).at(-1)?.type).toBe('run:completed')
  return id
}

const artifactsOf = async ({ place }: TestPlace, run_id: string) => {
  const items = await place.world.runs.artifacts({ tenant: 'main', run_id })
  const text = async (ref: string) => Buffer.from(await place.world.objects.get('main', ref)).toString('utf8')
  return Promise.all(
    items.map(async ({ name, ref, attempt, from_run }) => ({ name, text: await text(ref), attempt, from_run })),
  )
}

describe('PLAN -> EXECUTE -> REVIEW -> DONE -> PLAN', () => {
  test('the next cycle is a linked run: it begins with the task that was done, and its change', async () => {
    open = await openTaskPlace((round) => (round === 1 ? 'There are no tests.' : 'Tested by a golden file.'))
    const first = await finished(open, DOCUMENT, { inputs: { assigned: 'ana' } })
    const done = await taskOf(open, first)
    expect(done).toMatchObject({ status: 'DONE', bounce_count: 1 })
    const second = await finished(open, DOCUMENT, { inputs: { goal: 'Document the flag' }, continues: first })
    const task = await taskOf(open, second)
    expect(task.moves.slice(0, done.moves.length)).toEqual(done.moves)
    expect(movesOf(task, second)).toEqual([
      'plan: DONE -> PENDING',
      'execute: PENDING -> IN_PROGRESS',
      'review: IN_PROGRESS -> REVIEW',
      'done: REVIEW -> DONE',
    ])
    expect(task).toMatchObject({ bounce_count: 0, assigned: 'ana' })
    const third = await finished(open, DOCUMENT, { continues: second })
    expect((await taskOf(open, third)).moves).toHaveLength(done.moves.length + 8)
    // The earlier runs keep what they had.
    expect(await taskOf(open, first)).toEqual(done)
  })

  test('of a task whose bounces are used up the next cycle has none left either', async () => {
    open = await openTaskPlace(() => 'There are no tests.')
    const first = await open.start(DOCUMENT)
    await open.ended(first)
    const second = await open.start(DOCUMENT, { continues: first })
    const end = (await open.ended(second)).at(-1)
    expect(JSON.stringify(end?.data)).toMatch(/max-bounces.*at most 3, is 4/)
    expect(movesOf(await taskOf(open, second), second)).toHaveLength(3)
  })

  test('only a run that moved the task hands it on', async () => {
    open = await openTaskPlace(() => 'Tested by a golden file.')
    const forged = {
      status: 'DONE',
      assigned: 'x',
      notes: 'it is good',
      bounce_count: 0,
      moves: [{ run_id: 'r', block_id: 'b', epoch: 0, from: null, to: 'DONE', version: 1 }],
    }
    const other = await finished(open, { blocks: [pass('a')] }, { context: { task: forged, kept: 1 } })
    const id = await finished(open, DOCUMENT, { continues: other })
    expect(movesOf(await taskOf(open, id), id)[0]).toBe('plan: none -> PENDING')
    const { json } = await open.call('get-context', id)
    expect(json).toMatchObject({ values: { kept: 1 } })
  })
})

describe('a run that continues another', () => {
  test('sees its context under its own values, and says so in META, run:started and GET run', async () => {
    open = await openTestPlace(NOTHING)
    const dag = { inputs: { text: { type: 'string', default: 'of the document' } }, blocks: [pass('a')] }
    const first = await finished(open, dag, { inputs: { text: 'first' }, context: { x: 1, y: 1 } })
    const second = await finished(open, dag, { context: { y: 2 }, continues: first })
    const { json } = await open.call('get-context', second)
    expect(json).toMatchObject({ version: 0, values: { text: 'first', x: 1, y: 2 } })
    const started = (await open.events(second))[0]
    expect(started).toMatchObject({ type: 'run:started', data: { continues: first } })
    expect((await open.call('get-run', second)).json).toMatchObject({ run: { continues: first } })
    expect((await open.call('get-run', first)).json).not.toHaveProperty('run.continues')
    const third = await finished(open, dag, { inputs: { text: 'third' }, continues: second })
    expect((await open.call('get-context', third)).json).toMatchObject({ values: { text: 'third', x: 1, y: 2 } })
  })

  test('has a required input when the earlier run has it', async () => {
    open = await openTestPlace(NOTHING)
    const dag = { inputs: { text: { type: 'string', required: true } }, blocks: [pass('a')] }
    const first = await finished(open, dag, { inputs: { text: 'given once' } })
    await expect(open.start(dag)).rejects.toThrow('invalid_inputs')
    await finished(open, dag, { continues: first })
  })

  test('has its artifacts, list and content, from its start; what it writes itself takes their place', async () => {
    open = await openTestPlace(NOTHING)
    const first = await finished(open, { blocks: [writing('a.md')] })
    const second = await finished(open, { blocks: [writing('b.md')] }, { continues: first })
    expect(await artifactsOf(open, second)).toEqual([
      { name: 'a.md', text: 'text of a.md', attempt: 0, from_run: first },
      { name: 'b.md', text: 'text of b.md', attempt: 1, from_run: undefined },
    ])
    const own = { ...writing('a.md'), inputs: { text: { type: 'string', default: 'rewritten' } } }
    const third = await finished(open, { blocks: [own] }, { continues: second })
    expect(await artifactsOf(open, third)).toEqual([
      { name: 'a.md', text: 'rewritten', attempt: 1, from_run: undefined },
      { name: 'b.md', text: 'text of b.md', attempt: 0, from_run: second },
    ])
    expect((await artifactsOf(open, first)).map(({ name }) => name)).toEqual(['a.md'])
    const { json } = await open.call('list-artifacts', third)
    expect(json).toMatchObject({ artifacts: [{ name: 'a.md' }, { name: 'b.md', from_run: second }] })
  })

  test('gets the artifacts though the place died between its record and its start', async () => {
    open = await openTestPlace(NOTHING)
    const first = await finished(open, { blocks: [writing('a.md')] })
    const hung = Promise.withResolvers<void>()
    Object.assign(open.place.world.runs, {
      putArtifact: () => {
        hung.resolve()
        return new Promise(() => {})
      },
    })
    const started = open.start({ blocks: [pass('a')] }, { continues: first }, { 'idempotency-key': 'k' })
    started.catch(() => undefined)
    await hung.promise
    await open.kill()
    const id = await open.start({ blocks: [pass('a')] }, { continues: first }, { 'idempotency-key': 'k' })
    await open.ended(id)
    expect((await artifactsOf(open, id)).map(({ text }) => text)).toEqual(['text of a.md'])
  })

  test.each([
    ['an unknown one', `run_${'0'.repeat(26)}`, 404, 'unknown_run'],
    ['what is no run id', 'run_1', 400, 'bad_body'],
    ['an empty text', '', 400, 'bad_body'],
  ])('is refused for %s', async (_what, continues, status, code) => {
    open = await openTestPlace(NOTHING)
    const refused = await open
      .start({ blocks: [pass('a')] }, { continues })
      .catch((error: Error) => JSON.parse(error.message))
    expect(refused).toMatchObject({ status, code })
  })

  test('is refused while the other one runs, and not after it was stopped', async () => {
    open = await openTestPlace(NOTHING)
    const waiting = await open.start({ blocks: [pass('a', { approval: true })] }, { context: { x: 1 } })
    const start = () => open?.start({ blocks: [pass('a')] }, { continues: waiting })
    await expect(start()).rejects.toThrow(/run_not_ended.*it has not ended/)
    await open.call('stop-run', waiting, {})
    const id = await start()
    expect((await open.call('get-context', String(id))).json).toMatchObject({ values: { x: 1 } })
  })

  test('tells nothing of another tenant’s run: the words are those of an unknown one', async () => {
    open = await openTestPlace(NOTHING)
    const mine = await finished(open, { blocks: [pass('a')] })
    const unknown = mine.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const words = async (tenant: string, continues: string) => {
      const principal: Principal = { kind: 'user', id: 'x', tenant, scopes: SCOPES }
      const dag = { name: 'd', inputs: {}, blocks: [] }
      const told = readContinuedRun((open as TestPlace).place.world, principal, { dag, continues })
      return told.then(
        () => 'seen',
        (error: Error) => error.message.replaceAll(continues, 'RUN'),
      )
    }
    expect(await words('main', mine)).toBe('seen')
    expect(await words('other', mine)).toBe(await words('main', unknown))
  })
})
