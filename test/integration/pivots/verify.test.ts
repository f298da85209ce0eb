import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStoredRun } from '../../../functions/record/stored-run.ts'
import type { GoalEvaluation } from '../../../shared/goals/completion.ts'
import { checkRun } from '../../../shared/invariants/check-run.ts'
import { goal } from '../../../shared/invariants/goal.ts'
import type { RunParts } from '../../../shared/invariants/invariant.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { ACCURACY, contractOf, type Judged, judge, judgedDag, openGoalPlace, writer } from '../goals/goal-place.ts'
import type { TestPlace } from '../test-place.ts'
import { HIGH, keyOf, LOW } from './pivot-place.ts'

/** Invariant 31, broken in each way it can be: what is not found here is not checked. */
type Parts = Pick<RunParts, 'events' | 'meta' | 'read'>

let open: TestPlace
let missed: Judged
let parts: Parts
let success: Parts
let plain: Parts

beforeAll(async () => {
  open = await openGoalPlace()
  const { blocks, ...dag } = judgedDag(contractOf(ACCURACY)) as { readonly blocks: readonly object[] }
  const withFile = { ...dag, blocks: [...blocks, writer('file', 'work.text', 'said.txt')] }
  missed = await judge(open, withFile, { inputs: { said: LOW } })
  parts = await stored(missed.run_id)
  success = await stored((await judge(open, withFile, { inputs: { said: HIGH } })).run_id)
  const without = { blocks: [{ id: 'a', mode: 'deterministic', deterministic: { handler: 'pass' } }] }
  plain = await stored((await judge(open, without)).run_id)
})
afterAll(() => open.close())

async function stored(run_id: string): Promise<Parts> {
  const { world } = open.place
  const meta = await world.runs.meta(keyOf(run_id))
  if (meta === undefined) throw new Error('no META')
  const read = (await readStoredRun(world, keyOf(run_id), meta)).stored
  // readStoredRun() always answers a reader, and META was given to it.
  return { events: read.events, meta, read: read.read as Parts['read'] }
}

const problems = async (run: Parts) => (await checkRun(run, [goal])).flatMap((one) => one.problems)

test('holds of a run that reached its goal, of one that missed it, of one that has none, and of every prefix', async () => {
  for (const run of [parts, success, plain]) {
    for (let n = 1; n <= run.events.length; n += 1) {
      expect(await problems({ ...run, events: run.events.slice(0, n) })).toEqual([])
    }
  }
})

function withEvent(type: RunEvent['type'], change: (data: object) => object) {
  return (run: Parts): Parts => {
    const events = run.events.map((event) => (event.type === type ? { ...event, data: change(event.data) } : event))
    return { ...run, events: events as readonly RunEvent[] }
  }
}

/** The stored evaluation is another one. */
function withEvaluation(change: (evaluation: GoalEvaluation) => object) {
  return (run: Parts): Parts => {
    const ref = missed.evaluated?.data.ref
    const now = Buffer.from(JSON.stringify({ ...missed.evaluation, ...change(missed.evaluation as GoalEvaluation) }))
    return { ...run, read: async (asked) => (asked === ref ? now : run.read(asked)) }
  }
}

const withRequest = (change: (request: GoalEvaluation['request']) => object) =>
  withEvaluation(({ request }) => ({ request: { ...request, ...change(request) } }))

const another = {
  goal_text: 'Anything',
  version: 1,
  max_goal_attempts: 3,
  acceptance_criteria: [{ ...ACCURACY, target: 0.1 }],
}

const ROWS: readonly (readonly [string, (run: Parts) => Parts, RegExp])[] = [
  [
    'SUCCESS without an evaluation that says so',
    (run) => ({ ...run, events: run.events.map((one) => asSuccess(one)) }),
    /event \d+ run:completed \(SUCCESS, PASS x MET\), judged was PARTIAL, PASS x NOT_MET/,
  ],
  [
    'an end without any evaluation',
    (run) => ({ ...run, events: run.events.filter(({ type }) => type !== 'goal:evaluated') }),
    /run:partial \(PARTIAL\) without an evaluation/,
  ],
  ['two evaluations', (run) => ({ ...run, events: run.events.flatMap(twice) }), /evaluates the goal again/],
  [
    'an evaluation that is gone',
    (run) => ({ ...run, read: async () => undefined }),
    /the evaluation of event \d+ is not there/,
  ],
  ['an event that says more', withEvent('goal:evaluated', (data) => ({ ...data, met: 1 })), /another met than/],
  ['another row', withEvent('goal:evaluated', (data) => ({ ...data, row: 'PASS x MET' })), /another row than/],
  [
    'verdicts that do not come out again',
    withEvaluation(({ completion }) => ({ completion: { ...completion, met_count: 1 } })),
    /comes out otherwise/,
  ],
  ['a higher trust score', withRequest(() => ({ trust_scores: [10] })), /comes out otherwise/],
  [
    'a contract that is not the frozen one',
    withRequest(() => ({ contract: another })),
    /judged by the contract .*, frozen is/,
  ],
  ['no contract', withRequest(() => ({ contract: undefined })), /judged by the contract undefined, frozen is/],
  [
    'a run that says it was started with another contract',
    withEvent('run:started', (data) => ({ ...data, goal: { contract_hash: 'f'.repeat(64) } })),
    /event 1 names the contract f+/,
  ],
  [
    'META that names another object',
    (run) => ({
      ...run,
      meta: { ...run.meta, goal: { ...run.meta.goal, contract_ref: 'objstore://main/x' } as never },
    }),
    /META names objstore:\/\/main\/x as the contract/,
  ],
  [
    'words nobody said',
    withRequest(({ texts }) => ({ texts: texts.map((one) => ({ ...one, text: `${one.text} ` })) })),
    /block "work" did not say in event \d+ what it was judged by/,
  ],
  [
    'words of an attempt that failed in the end',
    (run) => ({ ...run, events: run.events.map(failing) }),
    /block "work" did not say/,
  ],
  [
    'an artifact of other bytes',
    withRequest(({ artifacts }) => ({ artifacts: artifacts.map((one) => ({ ...one, bytes: 1 })) })),
    /artifact "said.txt" it was judged by is not there, or has other bytes/,
  ],
  [
    'a goal nobody set',
    (run) => ({ ...run, meta: { ...run.meta, goal: undefined } as unknown as Parts['meta'] }),
    /evaluates a goal, and the run has none/,
  ],
]

test.each(ROWS)('finds %s', async (_, breaks, says) => {
  expect((await problems(breaks(parts))).join('\n')).toMatch(says)
})

test('finds a partial end of a run without a goal, and a failure that tells no status', async () => {
  const ended = (type: RunEvent['type'], run: Parts) => ({
    ...run,
    events: run.events.map((one, i) => (i === run.events.length - 1 ? ({ ...one, type } as RunEvent) : one)),
  })
  expect(await problems(ended('run:partial', plain))).toEqual([expect.stringContaining('the run has no goal')])
  const unjudged = { ...success, events: success.events.filter(({ type }) => type !== 'goal:evaluated') }
  expect(await problems(ended('run:failed', unjudged))).toEqual([expect.stringContaining('without an evaluation')])
})

function twice(event: RunEvent): readonly RunEvent[] {
  return event.type === 'goal:evaluated' ? [event, event] : [event]
}

function asSuccess(event: RunEvent): RunEvent {
  if (event.type !== 'run:partial') return event
  return { ...event, type: 'run:completed', data: { ...event.data, final_status: 'SUCCESS', row: 'PASS x MET' } }
}

function failing(event: RunEvent): RunEvent {
  if (event.type !== 'block:completed' || event.block_id !== 'work') return event
  return { ...event, type: 'block:failed', data: { code: 'x', reason: 'x' } }
}
