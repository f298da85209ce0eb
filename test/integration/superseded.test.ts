import { afterEach, expect, test } from 'vitest'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const LONG_AGO = '2020-01-01T00:00:00.000Z'

/** As another invocation does that finds the first one's lease over: attempt 1 is lost, attempt 2 is under way. */
async function takeOver({ place }: TestPlace, run: RunKey, block: string): Promise<void> {
  const [at, lane] = [new Date().toISOString(), '0']
  const code = { code: 'ATTEMPT_LOST', reason: 'another invocation says so' }
  const lost = ordinal({ epoch: 0, attempt: 1, phase: PHASE.retrying })
  const started = ordinal({ epoch: 0, attempt: 2, phase: PHASE.claimed })
  const held = { inputs_hash: 'a'.repeat(64), context_version: 0, holder: 'other/1', lease_until: LONG_AGO }
  await place.world.runs.append({
    ...{ run, lane, at, ordinal: lost, guard: { below: lost } },
    events: [{ type: 'block:retrying', block_id: block, attempt: 1, data: { ...code, due_at: at } }],
  })
  await place.world.runs.append({
    ...{ run, lane, at, ordinal: started, guard: { is: lost } },
    events: [{ type: 'block:started', block_id: block, attempt: 2, data: held }],
    projection: { block: 0, ordinal: started, state: 'running', attempt: 2, holder: 'other/1', lease_until: LONG_AGO },
  })
}

test('an invocation whose attempt was superseded does not let the machine go on without an outcome', async () => {
  let calls = 0
  const probe = provider(async () => {
    calls += 1
    if (calls === 1 && open !== undefined) await takeOver(open, { tenant: 'main', run_id: id }, 'a')
    return `answer ${calls}`
  })
  open = await openTestPlace({ providers: { probe }, log: { info: () => undefined, error: () => undefined } })
  const agent = { provider: 'probe', model: 'm', prompt: 'x' }
  const outputs = { text: 'string' }
  let id = ''
  // The provider is asked only after the id is known: its first call comes in a later turn.
  const blocks = [
    { id: 'a', outputs, agent },
    { id: 'b', outputs, agent, inputs: { text: { from: 'a.text' } } },
  ]
  const { place } = open
  const { machine } = place.world
  const start = machine.start.bind(machine)
  Object.assign(machine, {
    start: (order: Parameters<typeof start>[0]) => {
      id = order.name
      return start(order)
    },
  })
  const run_id = await open.start({ blocks })
  const events = await open.ended(run_id)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  const ends = events.filter(({ type }) => /^block:(completed|failed|skipped)$/.test(type))
  expect(ends.map(({ block_id, attempt }) => `${block_id} ${attempt}`)).toEqual(['a 3', 'b 1'])
})
