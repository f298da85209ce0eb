import { Fault } from '../../shared/errors.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { at, keyOf, newRun, step } from '../conformance/run-store-fixture.ts'
import type { Mutant } from '../faults/mutant.ts'

interface Place {
  readonly store: RunStore
  readonly mutant: Mutant | undefined
}

const run = keyOf(newRun(1).meta)

/** What the mutants of agents break, each on its own: true as long as nothing is broken. */
export const AGENT_PROMISES: Readonly<Record<string, (place: Place) => Promise<boolean>>> = {
  async 'turn-asked-again'({ store }) {
    const answer = { type: 'block:output', data: { outputs: { turn: {} } } }
    const events = [answer, { type: 'block:completed', data: {} }].map((one) => ({ ...one, block_id: 'b0', item: 0 }))
    const projection = { block: 0, ordinal: at(1, 90), state: 'completed', attempt: 1 } as const
    await store.append(step(run, '0', at(1, 90), { events: events as never, projection }))
    return (await store.events(run, 2, 1))[0]?.type === 'block:completed'
  },
  async 'lost-call-again'({ store }) {
    const data = {
      approval_id: `apr_${run.run_id.slice(4)}_0_0_i1a1`,
      about: 'lost_step',
      reason: 'nobody heard of it',
    }
    const events = [{ type: 'block:asked', data, block_id: 'b0', item: 1 }]
    const projection = { block: 0, ordinal: at(1, 60), state: 'paused_approval', attempt: 1 } as const
    await store.append(step(run, '0', at(1, 60), { events: events as never, projection }))
    return (await store.events(run, 1, 1))[0]?.type === 'block:asked'
  },
  async 'call-retried-by-client'({ mutant }) {
    let calls = 0
    const call = async () => {
      calls += 1
      throw new Fault('Unavailable', 'mcp_answer_lost', 'nobody heard of it')
    }
    const { mcp } = blockWorld({ mcp: { call } as never }, mutant)
    await mcp.call('crm', ASKED).catch(() => undefined)
    return calls === 1
  },
  async 'tool-as-it-is'({ mutant }) {
    let expected = ''
    const tools = async () => [{ name: 'note', description: 'now', input_schema: {} }]
    const call = async (_server: string, asked: typeof ASKED) => {
      expected = asked.expected.hash
      return { text: '', is_error: false }
    }
    const { mcp } = blockWorld({ mcp: { call, tools } as never }, mutant)
    await mcp.call('crm', ASKED)
    return expected === ASKED.expected.hash
  },
  'call-gate-skipped': async ({ mutant }) => (await toolRead(mutant)).includes('"small"'),
  'call-unapproved': async ({ mutant }) => (await toolRead(mutant)).includes('"approval"'),
  async 'refused-result-shown'({ mutant }) {
    const failure = { code: 'post_gate_failed', reason: 'too long' }
    const failed = { block: 0, item: 1, ordinal: at(1, 90), state: 'failed', attempt: 1, failure }
    const output = { id: '0.1/1', type: 'block:output', data: { outputs: { text: {} } } }
    const runs = { itemProjections: async () => [failed], events: async () => [output] }
    const world = blockWorld({ runs: runs as never }, mutant)
    return (await world.runs.itemProjections(run, 0))[0]?.state === 'failed'
  },
  async 'taint-forgotten'({ mutant }) {
    let stored = ''
    const put = async (_tenant: string, body: Uint8Array) => {
      stored = Buffer.from(body).toString('utf8')
    }
    await blockWorld({ objects: { put } as never }, mutant).objects.put('main', Buffer.from('{"tainted":true}'))
    return stored === '{"tainted":true}'
  },
  async 'edits-ignored'({ mutant }) {
    const approvals = { apr_1: { about: 'call', edits_ref: 'objstore://main/1' } }
    const world = blockWorld({ runs: { head: async () => ({ approvals }) } as never }, mutant)
    return (await world.runs.head(run))?.approvals.apr_1?.edits_ref !== undefined
  },
}

const ASKED = {
  ...{ tool: 'note', args: {}, key: 'k', signal: new AbortController().signal },
  expected: { hash: 'as it was', description: 'then', input_schema: {} },
}

/** A document with one tool that has a gate and asks, as run-block reads it. */
async function toolRead(mutant: Mutant | undefined): Promise<string> {
  const tool = { use: 'crm.pay', gates: [{ name: 'small', after: false }], approval: { allow_rest: false } }
  const dag = { blocks: [{ id: 'act', mode: 'ai', agent: { acting: { tools: [tool] } } }] }
  const objects = { get: async () => Buffer.from(JSON.stringify(dag)) }
  const world = blockWorld({ objects: objects as never }, mutant)
  return Buffer.from(await world.objects.get('main', 'objstore://main/1')).toString('utf8')
}

function blockWorld(ports: Partial<World>, mutant: Mutant | undefined): World {
  // Mutants use no other port.
  const world = ports as World
  return mutant?.world?.(world, 'run-block') ?? world
}
