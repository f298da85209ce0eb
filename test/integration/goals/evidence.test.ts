import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gatherEvidence } from '../../../functions/goals/evidence.ts'
import { readPinned } from '../../../functions/record/pinned-run.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedDag, passing, QUIET, VERIFIED, worker, writer } from './goal-place.ts'

let open: TestPlace
let asked: string[]
beforeEach(async () => {
  asked = []
  const probe = provider(({ prompt }) => {
    asked.push(prompt)
    return `attempt ${asked.length} [${prompt}]\n[METRIC:accuracy] 0.9${asked.length}`
  })
  open = await openTestPlace({ ...QUIET, providers: { probe } })
})
afterEach(() => open.close())

const FILE = { id: 'AC1', kind: 'artifact_exists', artifactPattern: '**/*.md' }
const said = '[METRIC:accuracy] 0.95'
const ai = (id: string, more: object = {}) => ({
  id,
  agent: { provider: 'probe', model: 'm', prompt: id },
  outputs: { text: 'string' },
  ...more,
})
const evidenceOf = async (run_id: string) => {
  const run = { tenant: 'main', run_id }
  return gatherEvidence(open.place.world, run, await readPinned(open.place.world, run))
}

describe('evidence of a run', () => {
  test('says which block, attempt and event a metric came from', async () => {
    const { evaluation, events } = await judge(open, judgedDag(contractOf(ACCURACY)), { inputs: { said } })
    const output = events.find(({ type, block_id }) => type === 'block:output' && block_id === 'work')
    expect(evaluation?.completion.criteria[0]?.source).toEqual({ block: 'work', attempt: 1, seq: output?.seq, line: 1 })
  })

  test('is what the later event said, whichever block the document names first', async () => {
    const late = worker('late', 'also', 'text', { inputs: { also: 'string', before: { from: 'work.text' } } })
    const dag = judgedDag(contractOf(ACCURACY), VERIFIED, [late]) as { blocks: object[]; inputs: object }
    const turned = { ...dag, inputs: { ...dag.inputs, also: 'string' }, blocks: dag.blocks.toReversed() }
    const { evaluation } = await judge(open, turned, { inputs: { said, also: '[METRIC:accuracy] 0.5' } })
    expect(evaluation?.completion.criteria[0]).toMatchObject({
      status: 'NOT_MET',
      actual: 0.5,
      source: { block: 'late' },
    })
  })

  test('has no word of verifiers, claims and blockers', async () => {
    const completion = { trust: { from: 'verify.verdict' }, claim: 'claim.claimed', blockers: 'stop.blockers' }
    const verdict = { trust_score: 95, note: '[METRIC:accuracy] 0.99', blockers: [] }
    const quoting = { ...worker('verify', 'verdict', 'words'), inputs: { verdict: 'string' } }
    const dag = judgedDag(contractOf(ACCURACY), completion, [
      { ...passing('stop', 'blockers') },
      { ...passing('claim', 'claimed') },
    ]) as { blocks: { id: string }[] }
    const blocks = dag.blocks.map((block) =>
      block.id === 'verify' ? { ...quoting, ...passing('verify', 'verdict') } : block,
    )
    const inputs = { said: '[METRIC:accuracy] 0.5', verdict, blockers: { blockers: [] }, claimed: 'SUCCESS' }
    const { evaluation, run_id } = await judge(open, { ...dag, blocks }, { inputs })
    expect(evaluation?.completion).toMatchObject({
      final_status: 'PARTIAL',
      criteria: [{ actual: 0.5 }],
      trust_passed: true,
    })
    expect((await evidenceOf(run_id)).texts.map(({ block }) => block)).toEqual(['work'])
  })

  test('does not take a text of a verifier for the metric it quotes', async () => {
    const dag = judgedDag(contractOf(ACCURACY), { trust: { from: 'verify.score' } }) as { blocks: { id: string }[] }
    const verify = ai('verify', { outputs: { score: 'json', text: 'string' }, inputs: { text: { from: 'work.text' } } })
    const probe = provider(() => JSON.stringify({ score: 90, text: '[METRIC:accuracy] 0.99' }))
    await open.reopen({ ...QUIET, providers: { probe } })
    const blocks = dag.blocks.map((block) => (block.id === 'verify' ? verify : block))
    const { evaluation } = await judge(open, { ...dag, blocks }, { inputs: { said: '[METRIC:accuracy] 0.5' } })
    expect(evaluation?.completion).toMatchObject({ trust_passed: true, criteria: [{ status: 'NOT_MET', actual: 0.5 }] })
  })

  test('forgets what was said before a bounce and before a retry', async () => {
    const gate = { name: 'fourth', check: { type: 'contains', port: 'text', values: ['attempt 4'] }, on_fail: 'route' }
    const on_gate_fail = [{ when_gate: 'fourth', route_to: 'first', max_bounces: 2 }]
    const review = ai('review', { inputs: { text: { from: 'first.text' } }, post_gates: [gate], on_gate_fail })
    const { evaluation, run_id } = await judge(open, {
      blocks: [ai('first'), review],
      completion: {},
      goal_contract: contractOf(ACCURACY),
    })
    expect(asked).toHaveLength(4)
    const { texts } = await evidenceOf(run_id)
    expect(texts.map(({ block, attempt, text }) => [block, attempt, text.slice(0, 9)])).toEqual([
      ['first', 1, 'attempt 3'],
      ['review', 1, 'attempt 4'],
    ])
    expect(evaluation?.completion.criteria[0]).toMatchObject({ actual: 0.94, source: { block: 'review', attempt: 1 } })
  })

  test('forgets an attempt whose gates refused it', async () => {
    const gate = { name: 'second', check: { type: 'contains', port: 'text', values: ['attempt 2'] }, on_fail: 'retry' }
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 0, jitter: 'none' }
    const { run_id } = await judge(open, { blocks: [ai('work', { post_gates: [gate], retry })], completion: {} })
    expect((await evidenceOf(run_id)).texts.map(({ attempt, text }) => [attempt, text.slice(0, 9)])).toEqual([
      [2, 'attempt 2'],
    ])
  })

  test('has the texts of a fan-out in item order', async () => {
    const foreach = { items: ['a', 'b', 'c'], as: 'item', max_concurrency: 1 }
    const each = {
      id: 'each',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: "'[METRIC:accuracy] 0.' & inputs.item" } },
      inputs: { item: 'json' },
      outputs: { text: 'string' },
      foreach: { ...foreach, items: [95, 96, 91] },
    }
    const { inputs: _, ...block } = each
    const { run_id, evaluation } = await judge(open, {
      blocks: [block],
      completion: {},
      goal_contract: contractOf(ACCURACY),
    })
    expect((await evidenceOf(run_id)).texts.map(({ text }) => text.slice(-4))).toEqual(['0.95', '0.96', '0.91'])
    expect(evaluation?.completion.criteria[0]?.actual).toBe(0.91)
  })
})

describe('artifacts are looked up, not believed:', () => {
  /** A run that wrote an artifact and waits for a yes before it goes on; `meanwhile` happens in between. */
  async function waiting(
    meanwhile: (sha256: string) => Promise<void> | void,
  ): Promise<{ evaluation: unknown; end: unknown }> {
    const wait = { id: 'wait', mode: 'approval', inputs: { file: { from: 'write.file' } }, approval: { prompt: 'Go?' } }
    const dag = judgedDag(contractOf(FILE), VERIFIED, [writer('write', 'work.text', 'out/report.md'), wait])
    const run_id = await open.start(dag, { inputs: { said } })
    const { data } = (await open.until(run_id, ({ type }) => type === 'approval:requested')) as never as {
      data: { approval_id: string; digest: string }
    }
    const [item] = await open.place.world.runs.artifacts({ tenant: 'main', run_id })
    await meanwhile(item?.sha256 ?? '')
    await open.call('decide-approval', run_id, { ...pick(data), decision: 'approve' })
    const events = await open.ended(run_id)
    const ref = events.find((event) => event.type === 'goal:evaluated')?.data.ref ?? ''
    const body = await open.place.world.objects.get('main', ref)
    return { evaluation: JSON.parse(Buffer.from(body).toString()), end: events.at(-1) }
  }
  const pick = ({ approval_id, digest }: { approval_id: string; digest: string }) => ({ approval_id, digest })

  test('one that is there counts, with its size and hash', async () => {
    const { evaluation } = await waiting(() => undefined)
    expect(evaluation).toMatchObject({
      completion: {
        final_status: 'SUCCESS',
        criteria: [{ status: 'MET', source: { block: 'write', attempt: 1, bytes: said.length } }],
      },
    })
    expect(evaluation).not.toHaveProperty('left_out')
  })

  test('one that is recorded and gone does not, and the evaluation names it', async () => {
    const { evaluation, end } = await waiting((sha256) => open.breakObjects(undefined, sha256))
    expect(evaluation).toMatchObject({
      completion: { final_status: 'PARTIAL', criteria: [{ status: 'NOT_MET' }] },
      left_out: [{ artifact: 'out/report.md', why: 'it is not in the object store' }],
    })
    expect(end).toMatchObject({ type: 'run:partial' })
  })

  test('nor does one whose content was changed', async () => {
    const { evaluation } = await waiting((sha256) => open.breakObjects('x'.repeat(said.length), sha256))
    expect(evaluation).toMatchObject({
      completion: { criteria: [{ status: 'NOT_MET' }] },
      left_out: [{ artifact: 'out/report.md', why: 'its content was damaged after it was stored' }],
    })
  })

  test('of a fan-out that was sent back only what it wrote again', async () => {
    let lists = 0
    const probe = provider(({ prompt }) => {
      if (!prompt.startsWith('list')) return `reviewed ${lists}`
      lists += 1
      return JSON.stringify({ rows: lists === 1 ? ['a', 'b', 'c'] : ['a'] })
    })
    await open.reopen({ ...QUIET, providers: { probe } })
    const config = { name: 'out/part.md' }
    const again = { name: 'again', check: { type: 'contains', port: 'text', values: ['reviewed 2'] }, on_fail: 'route' }
    const blocks = [
      ai('list', { outputs: { rows: 'json' } }),
      {
        id: 'write',
        mode: 'deterministic',
        deterministic: { handler: 'write-artifact', config },
        inputs: { rows: { from: 'list.rows' } },
        outputs: { file: 'artifact' },
        foreach: { items: '{{inputs.rows}}', as: 'body' },
      },
      ai('review', {
        inputs: { files: { from: 'write.file' } },
        post_gates: [again],
        on_gate_fail: [{ when_gate: 'again', route_to: 'list', max_bounces: 1 }],
      }),
    ]
    const { run_id } = await judge(open, { blocks, completion: {}, goal_contract: contractOf(FILE) })
    expect(await open.place.world.runs.artifacts({ tenant: 'main', run_id })).toHaveLength(3)
    expect((await evidenceOf(run_id)).artifacts.map(({ name }) => name)).toEqual(['out/part.0.md'])
  })

  test('what a verifier wrote is none', async () => {
    const verify = { ...writer('verify', 'work.text', 'verdict.md'), outputs: { bytes: 'json' } }
    const dag = judgedDag(contractOf(FILE), {}) as { blocks: { id: string }[] }
    const blocks = dag.blocks.map((block) => (block.id === 'verify' ? verify : block))
    const { evaluation } = await judge(
      open,
      { ...dag, blocks, completion: { trust: { from: 'verify.bytes' } } },
      { inputs: { said } },
    )
    expect(evaluation?.completion.criteria[0]?.status).toBe('NOT_MET')
  })
})
