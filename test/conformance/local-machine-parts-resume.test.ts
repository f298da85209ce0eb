import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createLocalMachine, type LocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import type { MachineInput } from '../../shared/runs/machine.ts'
import type { Json } from '../../shared/text/json.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** What the local machine promises of parts across the ends of its process. */
const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
const MACHINE = 'local:h'

type Loose = Readonly<Record<string, unknown>>
type Call = (name: string, payload: Json) => Json | Promise<Json>
interface Life {
  readonly machine: LocalMachine
  readonly clock: VirtualClock
  readonly db: DatabaseSync
  readonly called: string[]
  /** What the host was told. */
  readonly ended: string[]
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-parts-'))
let files = 0
const lives: Life[] = []
afterEach(async () => {
  for (const life of lives.splice(0)) {
    const closing = life.machine.close()
    await life.clock.advance(2_000)
    await closing
    life.db.close()
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

function live(call: Call, file = join(folder, `${files++}.db`), now?: number): Life {
  const clock = createVirtualClock(now)
  const db = new DatabaseSync(file)
  const called: string[] = []
  const ended: string[] = []
  const machine = createLocalMachine({
    async invoke(name, payload) {
      called.push(name)
      return await call(name, payload)
    },
    clock,
    ids: { random: (bytes) => randomBytes(bytes), boot: `boot${files}` },
    journal: createSqliteJournal(db),
    bind: (text) => text,
    onEnd: (name, { status }) => void ended.push(`${name} ${status}`),
  })
  const life = { machine, clock, db, called, ended }
  lives.push(life)
  return life
}

/** What kill -9 leaves: everything committed by now, in a process that knows nothing else. */
function killed(life: Life, call: Call): Life {
  const file = join(folder, `${files++}.db`)
  life.db.exec(`VACUUM INTO '${file}'`)
  return live(call, file, life.clock.now())
}

const task = (name: string, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: { FunctionName: name, Payload: {} },
  Output: {},
  ...rest,
})
const run = (k: number, rest: Loose = { End: true }): Loose => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::states:startExecution.sync:2',
  Arguments: {
    StateMachineArn: `\${Part${k}}`,
    Name: `{% $states.context.Execution.Input.run_id & '-${k}' %}`,
    Input: '{% $states.context.Execution.Input %}',
  },
  Output: {},
  ...rest,
})
const text = (states: Loose) =>
  JSON.stringify({ QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0], States: states })

const MAIN = text({ a: task('a', { Next: 'p' }), p: run(2, { Next: 'z' }), z: task('z') })
const PARTS = [
  { key: 'Part1', text: text({ d: task('d', { Next: 'e' }), e: task('e') }) },
  { key: 'Part2', text: text({ b: task('b', { Next: 'c' }), c: run(1, { Next: 'f' }), f: task('f') }) },
]
const forever = () => new Promise<Json>(() => undefined)
const until = (name: string) => (called: string) => (called === name ? forever() : {})

async function begin(call: Call): Promise<Life> {
  const life = live(call)
  await life.machine.ensure(MAIN, 'h', PARTS)
  await life.machine.start({ machine: MACHINE, name: 'run_a', input: INPUT })
  await life.clock.settle()
  return life
}

const status = async ({ machine }: Life, id = MACHINE, name = 'run_a') => (await machine.describe(id, name))?.status

test('a machine and its parts run as one', async () => {
  const life = await begin(() => ({}))
  expect([life.called, await status(life)]).toEqual([['a', 'b', 'd', 'e', 'f', 'z'], 'SUCCEEDED'])
  // The host is told of the run, not of its parts.
  expect(life.ended).toEqual(['run_a SUCCEEDED'])
})

test.each(['a', 'b', 'd', 'e', 'f', 'z'])(
  'killed at %s, everything goes on where it was, nothing twice',
  async (at) => {
    const all = ['a', 'b', 'd', 'e', 'f', 'z']
    const first = await begin(until(at))
    expect(first.called).toEqual(all.slice(0, all.indexOf(at) + 1))
    const second = killed(first, () => ({}))
    await second.machine.resume()
    await second.clock.settle()
    expect([second.called, await status(second)]).toEqual([all.slice(all.indexOf(at)), 'SUCCEEDED'])
    expect(second.ended).toEqual(['run_a SUCCEEDED'])
  },
)

test('a part that ended in the moment of the kill is not asked for again', async () => {
  const first = await begin(until('e'))
  // As if its end were committed and that of the state waiting for it were not.
  first.db.exec(`UPDATE machine_executions SET end = '{"status":"SUCCEEDED","output":{},"ended_at":1}'
    WHERE name = 'run_a-1'; DELETE FROM machine_steps WHERE execution = 3`)
  const second = killed(first, () => ({}))
  await second.machine.resume()
  await second.clock.settle()
  expect([second.called, await status(second)]).toEqual([['f', 'z'], 'SUCCEEDED'])
})

test('a process that closes leaves machine and parts to the next one', async () => {
  const first = await begin(until('d'))
  const closing = first.machine.close()
  await first.clock.advance(2_000)
  await closing
  const second = killed(first, () => ({}))
  expect(await second.machine.resume()).toBe(3)
  await second.clock.settle()
  expect([second.called, await status(second)]).toEqual([['d', 'e', 'f', 'z'], 'SUCCEEDED'])
})

test('stopped before it is resumed, its parts are stopped with it', async () => {
  const second = killed(await begin(until('d')), () => ({}))
  await second.machine.stop(MACHINE, 'run_a', 'enough')
  expect(await status(second)).toBe('ABORTED')
  expect(await status(second, 'local:h/Part2', 'run_a-2')).toBe('ABORTED')
  expect(await status(second, 'local:h/Part1', 'run_a-1')).toBe('ABORTED')
  expect(await second.machine.resume()).toBe(0)
  expect([second.called, second.ended]).toEqual([[], ['run_a ABORTED']])
})

test('parts whose machine ended without them are aborted and not run', async () => {
  const first = await begin(until('d'))
  first.db.exec(`UPDATE machine_executions SET end = '{"status":"ABORTED","ended_at":1}' WHERE name = 'run_a'`)
  const second = killed(first, () => ({}))
  expect(await second.machine.resume()).toBe(0)
  await second.clock.settle()
  expect([second.called, second.ended]).toEqual([[], []])
  expect(await status(second, 'local:h/Part1', 'run_a-1')).toBe('ABORTED')
})

test('a newer text of the same document is a machine of its own; what began on the older one ends on it', async () => {
  const first = await begin(until('d'))
  const second = killed(first, () => ({}))
  const newer = text({ p: run(1, { Next: 'y' }), y: task('y') })
  const id = await second.machine.ensure(newer, 'h', [{ key: 'Part1', text: text({ x: task('x') }) }])
  expect(id).toMatch(/^local:h\.[0-9a-f]{8}$/)
  await second.machine.start({ machine: id, name: 'run_b', input: { ...INPUT, run_id: 'run_b' } })
  await second.machine.resume()
  await second.clock.settle()
  expect([...second.called].sort()).toEqual(['d', 'e', 'f', 'x', 'y', 'z'])
  // Again, and in the next process, it is the same.
  const third = killed(second, () => ({}))
  expect(await third.machine.ensure(newer, 'h', [{ key: 'Part1', text: text({ x: task('x') }) }])).toBe(id)
  expect(await third.machine.ensure(MAIN, 'h', PARTS)).toBe(MACHINE)
})

test('a part nobody made is an error that can be caught', async () => {
  const life = live(() => ({}))
  const Catch = [{ ErrorEquals: ['StepFunctions.StateMachineDoesNotExistException'], Output: {}, Next: 'z' }]
  const states = text({ p: run(1, { Catch, Next: 'z' }), z: task('z') }).replace(/\$\{Part1\}/, 'local:h/Part1')
  await life.machine.ensure(states, 'h')
  await life.machine.start({ machine: MACHINE, name: 'run_a', input: INPUT })
  await life.clock.settle()
  expect([life.called, await status(life)]).toEqual([['z'], 'SUCCEEDED'])
})
