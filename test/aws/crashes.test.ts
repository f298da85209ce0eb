import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { runIdOfIdempotencyKey } from '../../shared/runs/ids.ts'
import { isEnd } from './caller.ts'
import { problemsOf } from './invariants.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const block = (id: string, upstream: readonly string[], more = {}) => ({
  id,
  inputs: Object.fromEntries(upstream.map((other) => [other, { from: `${other}.text` }])),
  outputs: { text: { type: 'string' } },
  agent: { provider: 'local', model: 'outline', prompt: `Plan part ${id} of a small garden.` },
  post_gates: [{ name: 'there', check: { type: 'not_empty', port: 'text' } }],
  ...more,
})
const ASKS = { approval: { required: true, prompt: 'Go on?' } }
/** No series-parallel graph, so it needs joins; the last block asks. */
const JOINS = JSON.stringify({
  name: 'joins',
  blocks: [block('a', []), block('b', []), block('c', ['a']), block('d', ['a', 'b']), block('e', ['b', 'c'], ASKS)],
})
const SHORT = JSON.stringify({ name: 'short', blocks: [block('a', []), block('e', ['a'], ASKS)] })
/** Sent back once: the second build obeys the verdict. */
const LOOP = JSON.stringify({
  name: 'loop',
  blocks: [
    block('a', []),
    block('b', ['a'], {
      post_gates: [{ name: 'undo', check: { type: 'contains', port: 'a', values: ['Rollback'] }, on_fail: 'route' }],
      on_gate_fail: [{ when_gate: 'undo', route_to: 'a', max_bounces: 2 }],
    }),
    block('c', ['b']),
  ],
})
const blocksOf = (dag: string) => JSON.parse(dag).blocks.length

/** Starts a run as a client that repeats what failed, approves what it asks, and answers its events at the end. */
async function runToEnd(
  key: string,
  dag: string,
): Promise<{ readonly id: string; readonly events: readonly RunEvent[] }> {
  const id = await started(key, dag)
  for (const end = Date.now() + 180_000; Date.now() < end; await sleep(3_000)) {
    const events = await aws.caller.events(id)
    if (events.some(isEnd)) return { id, events }
    const asked = events.find(({ type }) => type === 'approval:requested')
    if (asked !== undefined && !events.some(({ type }) => type === 'approval:decided')) {
      await aws.caller.decide(id, asked, 'approve')
    }
  }
  return { id, events: await aws.caller.events(id) }
}

async function started(key: string, dag: string): Promise<string> {
  for (let tries = 0; tries < 5; tries += 1) {
    const { status, json } = await aws.caller.call('POST', '/api/dag/run', { dag }, { 'idempotency-key': key })
    if (status < 300) return String(json.run_id)
  }
  throw new Error('the run did not start')
}

const lost = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'block:retrying').length
const again = (events: readonly RunEvent[]) =>
  events.reduce((sum, event) => sum + (event.type === 'block:rerouted' ? event.data.reset.length : 0), 0)
const outputs = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'block:output').length

/**
 * Crashes after each answer of AWS from the last reads before a function's first write to one past its last call (a
 * crash before anything was written is the one after `first`).
 */
const CRASHES = [
  { name: 'run-block', first: 4, last: 17, dag: JOINS },
  { name: 'wait-join', first: 1, last: 3, dag: JOINS },
  { name: 'send-outbox', first: 2, last: 5, dag: SHORT },
  { name: 'request-approval', first: 9, last: 32, dag: SHORT },
  { name: 'decide-approval', first: 7, last: 17, dag: SHORT },
  { name: 'settle', first: 3, last: 16, dag: SHORT },
  { name: 'close-module', first: 2, last: 7, dag: LOOP },
  { name: 'start-run', first: 1, last: 30, dag: SHORT },
]

test('a function that dies after any answer of AWS: the run completes and nothing is done twice', async () => {
  const plans = CRASHES.flatMap(({ name, first, last, dag }) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({ name, after: first + i, key: `${name}-${first + i}`, dag })),
  )
  for (const { name, after, key } of plans) {
    const id = runIdOfIdempotencyKey('main', 'iam:Deployer', 'POST /api/dag/run', key)
    const isPlanned = (event: unknown) => isOf(event, key, id) && (name !== 'run-block' || isBlock(event, 'a'))
    aws.place.sandboxes(name).crash(isPlanned, after)
  }
  for (let after = 1; after <= 8; after += 1) aws.place.sandboxes('sweep').crash(() => true, after)
  const ended = await Promise.all(plans.map(async (plan) => ({ ...plan, ...(await runToEnd(plan.key, plan.dag)) })))
  const lostAttempts = ended.reduce((sum, { events }) => sum + lost(events), 0)
  const crashes = [...CRASHES.map(({ name }) => name), 'sweep'].map((name) => aws.place.sandboxes(name).counts.crashed)
  process.stdout.write(`${ended.length} runs; crashes: ${crashes.join(', ')}; attempts lost: ${lostAttempts}\n`)
  expect(ended.flatMap(({ key, dag, events }) => wrongIn(events, dag).map((what) => `${key}: ${what}`))).toEqual([])
  // The last calls were reached: of each function fewer crashes happened than were planned.
  for (const { name, first, last } of CRASHES) {
    expect(aws.place.sandboxes(name).counts.crashed, name).toBeLessThan(last - first + 1)
  }
  // wait-join makes a second call only when its sources were done before it: whether they are is a matter of time.
  for (const { name } of [...CRASHES, { name: 'sweep' }]) {
    expect(aws.place.sandboxes(name).counts.crashed, name).toBeGreaterThanOrEqual(name === 'wait-join' ? 1 : 2)
  }
  expect(lostAttempts).toBeGreaterThan(0)
  // Some seventy runs at once: a minute on two cores that have nothing else to do.
}, 400_000)

/** The event of a route holds the key, that of a machine or of the outbox the run. */
function isOf(event: unknown, key: string, id: string): boolean {
  const text = JSON.stringify(event)
  return text.includes(`"${key}"`) || text.includes(id)
}

function isBlock(event: unknown, id: string): boolean {
  return (event as { readonly block?: string }).block === id
}

function wrongIn(events: readonly RunEvent[], dag: string): readonly string[] {
  const wrong = [...problemsOf(events, dag)]
  if (events.at(-1)?.type !== 'run:completed') wrong.push(`events ${events.map(({ type }) => type).join(' ')}`)
  if (outputs(events) > blocksOf(dag) + again(events) + lost(events)) wrong.push('a block was dispatched again')
  return wrong
}

test.each([
  ['joins', JOINS, 5],
  ['bounce', LOOP, 5],
])(
  '%s: every call of a machine delivered twice at once, and all of them again at the end, change nothing',
  async (...row) => {
    const [name, dag, dispatched] = row
    const key = `twice-${name}`
    const id = await started(key, dag)
    aws.place.twice.add(id)
    const { events } = await runToEnd(key, dag)
    expect(problemsOf(events, dag)).toEqual([])
    expect([events.at(-1)?.type, outputs(events)]).toEqual(['run:completed', dispatched])
    const deliveries = aws.place.deliveries.filter(({ run_id }) => run_id === id)
    expect(deliveries.length).toBeGreaterThan(5)
    for (const { arn, payload } of deliveries) await aws.place.lambda.invoke(arn, payload)
    expect(await aws.caller.events(id)).toEqual(events)
  },
)
