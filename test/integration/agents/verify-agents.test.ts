import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readStoredRun } from '../../../functions/record/stored-run.ts'
import { isActing } from '../../../shared/agents/agent-items.ts'
import type { Acting, ToolUse } from '../../../shared/dag/dag.ts'
import { checkRun } from '../../../shared/invariants/check-run.ts'
import type { RunParts } from '../../../shared/invariants/invariant.ts'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { AGENT_CHECKS } from './agent-checks.ts'

/** What is promised of agents is broken in each way it can be: what is not found here is not checked. */
let place: TestPlace
let whole: Omit<RunParts, 'before' | 'max_attempts'>

/** Two turns call a tool that asks; the person changes what the first one writes. */
async function dispatch({ conversation = [], model }: DispatchRequest): Promise<DispatchAnswer> {
  const turn = conversation.filter(({ role }) => role === 'assistant').length
  const args = JSON.stringify({ name: `${turn}.md`, text: 'as its model wrote it' })
  const calls = turn < 2 ? [{ id: `call_${turn}`, tool: 'artifact__write', arguments: args }] : []
  return { text: 'Done.', calls, tokens_in: 10, tokens_out: 5, usd: 0.001, model, finish_reason: 'stop' }
}

beforeAll(async () => {
  place = await openTestPlace({ providers: { probe: { dispatch } } })
  const tools = [{ use: 'artifact.write', approval: { edit: ['text'] } }]
  const agent = { provider: 'probe', model: 'm', prompt: 'Write.', tools }
  const run_id = await place.start({ blocks: [{ id: 'act', outputs: { answer: 'string' }, agent }] })
  for (const edits of [{ text: 'as it was changed' }, undefined]) {
    const known = new Set((await place.events(run_id)).map(({ id }) => id))
    const asks = await place.until(run_id, ({ type, id }) => type === 'approval:requested' && !known.has(id))
    if (asks.type !== 'approval:requested') throw new Error('nothing was asked')
    const { approval_id, digest } = asks.data
    const decision = { approval_id, digest, decision: 'approve', ...(edits === undefined ? {} : { edits }) }
    expect((await place.call('decide-approval', run_id, decision)).status).toBe(200)
  }
  await place.ended(run_id)
  const run = { tenant: 'main', run_id }
  const { world } = place.place
  await vi.waitUntil(async () => (await world.runs.head(run))?.outbox.length === 0)
  const meta = await world.runs.meta(run)
  if (meta === undefined) throw new Error('no META')
  whole = (await readStoredRun(world, run, meta)).stored as typeof whole
})
afterAll(() => place.close())

type Parts = typeof whole

function withActing(over: Partial<Acting>, tool: Partial<ToolUse> = {}) {
  return (parts: Parts): Parts => {
    const blocks = parts.dag.blocks.map((block) => {
      if (!isActing(block)) return block
      const tools = block.agent.acting.tools.map((one) => ({ ...one, ...tool }))
      return { ...block, agent: { ...block.agent, acting: { ...block.agent.acting, tools, ...over } } }
    })
    return { ...parts, dag: { ...parts.dag, blocks } }
  }
}

/** The first event of an item is told once more, at its beginning or its end. */
function startedAgain(item: number, to: 'start' | 'end') {
  return (parts: Parts): Parts => {
    const found = parts.events.find((event) => event.type === 'block:started' && event.item === item)
    if (found === undefined) throw new Error(`item ${item} never began`)
    const at = to === 'start' ? 3 : parts.events.length
    const events = parts.events.toSpliced(at, 0, { ...found, id: `${found.id}x` })
    return { ...parts, events: events.map((event, i) => ({ ...event, seq: i + 1 })) }
  }
}

const withEvents = (change: (event: RunEvent) => RunEvent) => (parts: Parts) => ({
  ...parts,
  events: parts.events.map(change),
})

const ROWS: readonly (readonly [n: number, what: string, breaking: (parts: Parts) => Parts])[] = [
  [46, 'a turn begins again that was answered', startedAgain(0, 'end')],
  [48, 'a turn begins before the call of the one before it has ended', startedAgain(100, 'start')],
  [
    50,
    'a person changed what is called, and nothing else was made of it',
    withEvents((event) => {
      if (event.type !== 'approval:decided') return event
      const { edits_ref: _, ...data } = event.data
      return { ...event, data }
    }),
  ],
  [
    50,
    'nobody said yes',
    withEvents((event) => {
      return event.type === 'approval:decided' ? { ...event, data: { ...event.data, decision: 'reject' } } : event
    }),
  ],
  [
    50,
    'the person was shown something else',
    (parts) => ({
      ...parts,
      approvals: parts.approvals.map((item) => {
        const [name] = Object.values(item.shown)
        return name === undefined ? item : { ...item, shown: { ...item.shown, text: name } }
      }),
    }),
  ],
  [51, 'it writes although taint is forbid', withActing({ taint: 'forbid' }, { untrusted: true, effect: 'write' })],
  [
    52,
    'the run is frozen to another tool',
    withActing({}, { pin: { description: 'other', input_schema: {}, hash: '0'.repeat(64), outputs: {} } }),
  ],
]

test('a run whose agent asks twice holds every invariant', async () => {
  const wrong = (await checkRun(whole)).filter(({ ok, left_out }) => !ok || left_out !== undefined)
  expect(wrong).toEqual([])
})

test.each(ROWS)('%i is broken when %s', async (n, _what, breaking) => {
  const failed = (await checkRun(breaking(whole))).flatMap((one) => (one.ok ? [] : [one.n]))
  expect(failed).toContain(n)
})

test('every invariant of agents has a row', () => {
  expect([...new Set(ROWS.map(([n]) => n))]).toEqual(AGENT_CHECKS)
})
