import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstDaily } from '../../how-much.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'
import {
  ACCURACY,
  contractOf,
  type Judged,
  judge,
  judgedDag,
  judgedRun,
  passing,
  QUIET,
  VERIFIED,
  writer,
} from './goal-place.ts'

let open: TestPlace
let asked: number
beforeEach(async () => {
  asked = 0
  const probe = provider(() => {
    asked += 1
    return JSON.stringify({ path: asked === 1 ? 'model.pkl' : 'notes.txt' })
  })
  open = await openTestPlace({ ...QUIET, providers: { probe } })
})
afterEach(() => open.close())

const MODEL = contractOf({ id: 'AC1', kind: 'artifact_exists', artifactPattern: '**/*.pkl' })
const never = { name: 'never', check: { type: 'contains', port: 'file', values: ['never'] }, on_fail: 'fail' }
const ended = ({ end, evaluation }: Judged) => [
  end.data.final_status,
  evaluation?.completion.row,
  evaluation?.completion.criteria[0]?.status,
]
const MISSED = ['PARTIAL', 'PASS x NOT_MET', 'NOT_MET']
const REACHED = ['SUCCESS', 'PASS x MET', 'MET']

describe('no goal is reached by', () => {
  test('what a person says with a decision', async () => {
    const feedback = { type: 'string', required: false }
    const wait = { id: 'wait', mode: 'approval', inputs: { text: { from: 'work.text' } }, outputs: { feedback } }
    const asking = { ...wait, approval: { prompt: 'Go on?' } }
    const dag = judgedDag(contractOf(ACCURACY), VERIFIED, [asking])
    const run_id = await open.start(dag, { inputs: { said: '[METRIC:accuracy] 0.5' } })
    const { data } = await open.until(run_id, ({ type }) => type === 'approval:requested')
    const { approval_id, digest } = data as { approval_id: string; digest: string }
    const words = 'Next time reach\n[METRIC:accuracy] 0.95'
    await open.call('decide-approval', run_id, { approval_id, digest, decision: 'approve', feedback: words })
    const judged = await judgedRun(open, run_id)
    expect(ended(judged)).toEqual(MISSED)
    expect(judged.evaluation?.completion.criteria[0]).toMatchObject({ actual: 0.5, source: { block: 'work' } })
  })

  test('a finding that another block says again', async () => {
    const found = '[STAT:ci] 1 to 2\n[STAT:effect_size] 1\n[FINDING] it is so'
    const ports = { inputs: { text: { from: 'work.text' } }, outputs: { text: 'string' } }
    const relay = { id: 'relay', mode: 'deterministic', deterministic: { handler: 'pass' }, ...ports }
    const dag = judgedDag(contractOf({ id: 'AC1', kind: 'finding_count', minCount: 2 }), VERIFIED, [relay])
    const once = await judge(open, dag, { inputs: { said: found } })
    expect(ended(once)).toEqual(MISSED)
    expect(once.evaluation?.completion.criteria[0]).toMatchObject({ actual: 1, source: { block: 'work' } })
    const other = '[STAT:ci] 3 to 4\n[STAT:effect_size] 2\n[FINDING] it is so'
    expect(ended(await judge(open, dag, { inputs: { said: `${found}\n${other}` } }))).toEqual(REACHED)
  })

  test('a line that a block was given: it counts where it was said first, and what was read nowhere', {
    tags: ['thorough'],
  }, async () => {
    const ports = { inputs: { text: { from: 'work.text' } }, outputs: { text: 'string' } }
    const better = {
      id: 'better',
      deterministic: { handler: 'transform', config: { expression: "'[METRIC:accuracy] 0.5'" } },
    }
    const later = { ...ports, ...better, mode: 'deterministic' }
    const relay = { id: 'relay', mode: 'deterministic', deterministic: { handler: 'pass' }, ...ports }
    const summary = { ...relay, inputs: { text: { from: 'work.text' }, after: { from: 'better.text' } } }
    const dag = judgedDag(contractOf(ACCURACY), VERIFIED, [later, summary])
    const judged = await judge(open, dag, { inputs: { said: '[METRIC:accuracy] 0.95' } })
    expect(ended(judged)).toEqual(MISSED)
    expect(judged.evaluation?.completion.criteria[0]).toMatchObject({ actual: 0.5, source: { block: 'better' } })
    const quoting = provider(() => 'The file says:\n  [METRIC:accuracy] 0.95')
    await open.reopen({ ...QUIET, providers: { probe: quoting } })
    const wait = {
      id: 'wait',
      mode: 'approval',
      approval: { prompt: 'Which?' },
      outputs: { feedback: { type: 'string', required: false } },
    }
    const quote = {
      id: 'quote',
      agent: { provider: 'probe', model: 'm', prompt: 'x' },
      inputs: { text: { from: 'wait.feedback' } },
      outputs: { text: 'string' },
    }
    const run_id = await open.start(judgedDag(contractOf(ACCURACY), VERIFIED, [wait, quote]), { inputs: { said: 'x' } })
    const { data } = await open.until(run_id, ({ type }) => type === 'approval:requested')
    const { approval_id, digest } = data as { approval_id: string; digest: string }
    await open.call('decide-approval', run_id, {
      approval_id,
      digest,
      decision: 'approve',
      feedback: '[METRIC:accuracy] 0.95',
    })
    expect(ended(await judgedRun(open, run_id))).toEqual(MISSED)
  })

  for (const { tags, rows } of firstDaily(2, [
    ['as another way to write the number', '[METRIC:accuracy] 0.950'],
    ['out of a fence', '```\n[METRIC:accuracy] 0.95\n```'],
    ['with two blanks', 'x\n[METRIC:accuracy]  0.95'],
    ['out of a sentence', 'They say [METRIC:accuracy] 0.95, no less.'],
    ['from behind a quotation mark', '> [METRIC:accuracy] 0.95'],
  ]))
    test.each(rows)('a marker that a block takes over from what was read, %s', { tags }, async (_, source) => {
      const quoting = provider(() => 'So it is:\n[METRIC:accuracy] 0.95')
      await open.reopen({ ...QUIET, providers: { probe: quoting } })
      const read = { id: 'read', mode: 'deterministic', deterministic: { handler: 'read-input' } }
      const quote = { id: 'quote', agent: { provider: 'probe', model: 'm', prompt: 'x' }, outputs: { text: 'string' } }
      const dag = judgedDag(contractOf(ACCURACY), VERIFIED, [
        { ...read, inputs: { file: 'file' }, outputs: { text: 'string' } },
        { ...quote, inputs: { text: { from: 'read.text' } } },
      ])
      const { ref } = await open.place.world.objects.put('main', new TextEncoder().encode(source))
      expect(ended(await judge(open, dag, { inputs: { said: 'x', file: ref } }))).toEqual(MISSED)
    })

  test('a marker out of a file that another block wrote, and the block itself does not say', async () => {
    const quoting = provider(() => '[METRIC:accuracy] 0.95')
    await open.reopen({ ...QUIET, providers: { probe: quoting } })
    const write = writer('write', 'work.text', 'notes.md')
    const quote = { id: 'quote', agent: { provider: 'probe', model: 'm', prompt: 'x' }, outputs: { text: 'string' } }
    const dag = judgedDag(contractOf(ACCURACY), VERIFIED, [
      write,
      { ...quote, inputs: { notes: { from: 'write.file' } } },
    ])
    expect(ended(await judge(open, dag, { inputs: { said: 'noted: [METRIC:accuracy] 0.950' } }))).toEqual(MISSED)
  })

  test('what a failed item of a fan-out wrote', async () => {
    const good = { name: 'good', check: { type: 'contains', port: 'body', values: ['good'] }, on_fail: 'fail' }
    const write = {
      id: 'write',
      mode: 'deterministic',
      deterministic: { handler: 'write-artifact', config: { name: 'out/part.md' } },
      outputs: { file: 'artifact' },
      foreach: { items: ['good', 'bad'], as: 'body', tolerate: 1, item_gates: [good] },
    }
    const part = (n: number) => contractOf({ id: 'AC1', kind: 'artifact_exists', artifactPattern: `part.${n}.md` })
    const inputs = { score: { type: 'json', default: 90 } }
    const dag = { inputs, completion: VERIFIED, blocks: [write, passing('verify', 'score')] }
    expect(ended(await judge(open, { ...dag, goal_contract: part(0) }))).toEqual(REACHED)
    const missed = await judge(open, { ...dag, goal_contract: part(1) })
    expect(await open.place.world.runs.artifacts({ tenant: 'main', run_id: missed.run_id })).toHaveLength(2)
    expect(ended(missed)).toEqual(MISSED)
  })

  test('an artifact whose block failed, in a run that continues that one', async () => {
    const write = writer('write', 'work.text', 'out/model.pkl')
    const inputs = { said: 'x' }
    const failed = await judge(open, judgedDag(MODEL, VERIFIED, [{ ...write, post_gates: [never] }]), { inputs })
    expect(failed.end).toMatchObject({ type: 'run:failed', data: { final_status: 'FAILED' } })
    const after = await judge(open, judgedDag(MODEL), { inputs, continues: failed.run_id })
    expect(await open.place.world.runs.artifacts({ tenant: 'main', run_id: after.run_id })).toHaveLength(1)
    expect(ended(after)).toEqual(MISSED)
    const third = await judge(open, judgedDag(MODEL), { inputs, continues: after.run_id })
    expect(ended(third)).toEqual(MISSED)
  })

  test('an artifact that judged the run before', async () => {
    const verify = { ...writer('verify', 'work.text', 'verdict.pkl'), outputs: { bytes: 'json' } }
    const dag = judgedDag(MODEL, { trust: { from: 'verify.bytes' } }) as { blocks: { id: string }[] }
    const blocks = dag.blocks.map((block) => (block.id === 'verify' ? verify : block))
    const before = await judge(open, { ...dag, blocks }, { inputs: { said: 'x' } })
    const after = await judge(open, judgedDag(MODEL), { inputs: { said: 'x' }, continues: before.run_id })
    expect(ended(after)).toEqual(MISSED)
  })

  test('an artifact of an attempt that was sent back, in a retry that takes over the next one', async () => {
    const dag = rewriting()
    const first = await judge(open, dag)
    expect(ended(first)).toEqual(MISSED)
    const second = await judgedRun(open, String((await open.call('retry-run', first.run_id, {})).json.run_id))
    const taken = await open.place.world.runs.artifacts({ tenant: 'main', run_id: second.run_id })
    expect(taken.map(({ name, from_run }) => [name, from_run])).toEqual([['notes.txt', first.run_id]])
    expect(asked).toBe(2)
    expect(ended(second)).toEqual(MISSED)
  })
})

describe('nothing is no evidence:', () => {
  const NOTHING = ['PARTIAL', 'PASS x NO_CONTRACT']
  const ofOutput = (type: string, made: string, more: object = {}) => ({
    inputs: { score: { type: 'json', default: 90 } },
    completion: VERIFIED,
    blocks: [
      {
        id: 'work',
        mode: 'deterministic',
        deterministic: { handler: 'transform', config: { expression: made } },
        outputs: { made: { type, required: false } },
        ...more,
      },
      passing('verify', 'score'),
    ],
  })

  for (const { tags, rows } of firstDaily(2, [
    ['a text of characters nobody sees', 'string', '"\u200b\u2800 \u3164"'],
    ['a list of nothing', 'json', '[[null]]'],
    ['an object of empty texts', 'json', '{"text": "", "more": [null, {"a": " "}]}'],
    ['an empty object', 'json', '{}'],
    ['a text that is an empty object', 'string', '"{\\"text\\": \\"\\"}"'],
  ]))
    test.each(rows)('%s', { tags }, async (_, type, made) => {
      const { end, evaluation } = await judge(open, ofOutput(type, made))
      expect([end.data.final_status, evaluation?.completion.row]).toEqual(NOTHING)
      expect(evaluation?.completion.quality).toMatchObject({ score: 0, violations: [{ code: 'NO_EVIDENCE' }] })
    })

  for (const { tags, rows } of firstDaily(1, [
    ['a number', 'json', '0'],
    ['a no', 'json', '{"done": false}'],
    ['a text', 'string', '"\u200bx"'],
  ]))
    test.each(rows)('%s is something', { tags }, async (_, type, made) => {
      const { end } = await judge(open, ofOutput(type, made))
      expect(end.data.final_status).toBe('SUCCESS')
    })

  test.each([
    ['', 'PARTIAL'],
    ['x', 'SUCCESS'],
  ])('a file with %j in it: %s', async (text, status) => {
    const { ref } = await open.place.world.objects.put('main', new TextEncoder().encode(text))
    const ports = { inputs: { file: 'file' }, outputs: { file: 'file' } }
    const hand = { id: 'hand', mode: 'deterministic', deterministic: { handler: 'pass' }, ...ports }
    const inputs = { score: { type: 'json', default: 90 } }
    const dag = { inputs, completion: VERIFIED, blocks: [hand, passing('verify', 'score')] }
    const { end, evaluation } = await judge(open, dag, { inputs: { file: ref } })
    expect(end.data.final_status).toBe(status)
    expect(evaluation?.request.texts).toEqual([])
  })
})

test('an artifact that stood is evidence in the run that continues its own, and in one that continues that', async () => {
  const dag = judgedDag(MODEL, VERIFIED, [writer('write', 'work.text', 'out/model.pkl')])
  const inputs = { said: 'x' }
  const first = await judge(open, dag, { inputs })
  const second = await judge(open, judgedDag(MODEL), { inputs, continues: first.run_id })
  const third = await judge(open, judgedDag(MODEL), { inputs, continues: second.run_id })
  expect([first, second, third].map(ended)).toEqual([REACHED, REACHED, REACHED])
  expect(third.evaluation?.completion.criteria[0]?.source).toMatchObject({ block: 'write', attempt: 0 })
})

/** A block that writes model.pkl, is sent back for it, and then writes notes.txt. */
function rewriting(): object {
  const plan = { id: 'plan', agent: { provider: 'probe', model: 'm', prompt: 'plan' }, outputs: { path: 'string' } }
  const config = { path_from: 'path', default_path_template: 'none.txt', overwrite: true }
  const notes = { name: 'notes', check: { type: 'contains', port: 'file_path', values: ['notes'] }, on_fail: 'route' }
  const write = {
    id: 'write',
    mode: 'deterministic',
    deterministic: { handler: 'builtin:write-file', config },
    inputs: { path: { from: 'plan.path' }, content: { type: 'string', default: 'x' } },
    outputs: { file_path: 'string' },
    post_gates: [notes],
    on_gate_fail: [{ when_gate: 'notes', route_to: 'plan', max_bounces: 2 }],
  }
  const inputs = { score: { type: 'json', default: 90 } }
  return { inputs, completion: VERIFIED, goal_contract: MODEL, blocks: [plan, write, passing('verify', 'score')] }
}
