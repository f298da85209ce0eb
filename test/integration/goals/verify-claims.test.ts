import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Challenge } from '../../../shared/goals/challenges.ts'
import type { TestPlace } from '../test-place.ts'
import { ACCURACY, contractOf, judge, judgedRun, openGoalPlace, worker, writer } from './goal-place.ts'

let open: TestPlace
beforeEach(async () => {
  open = await openGoalPlace()
})
afterEach(() => open.close())

const SOUND = `[OBJECTIVE] Tell who leaves
[DATA] 400 rows
[EXPERIMENT] Five folds
[METRIC:accuracy] 0.93
[ARTIFACT] out/model.json
[STAT:ci] 95 % CI [0.90, 0.95]
[STAT:effect_size] h = 0.9
[FINDING] The model tells it: accuracy = 0.93
[CONCLUSION] It does
[LIMITATION] One sample`

/** A worker that says what it is told and keeps a model, and the verifier that checks it. */
const dag = (goal_contract: object = contractOf(ACCURACY), verifier: object = {}) => ({
  name: 'verified',
  inputs: { said: 'string', model: 'string' },
  completion: { trust: { from: 'verify.verification' } },
  goal_contract,
  blocks: [
    worker('work', 'said', 'text'),
    { ...writer('keep', 'work.text', 'out/model.json') },
    {
      id: 'verify',
      mode: 'deterministic',
      deterministic: { handler: 'verify-claims' },
      depends: 'work.succeeded && keep.succeeded',
      outputs: { verification: 'json' },
      ...verifier,
    },
  ],
})

interface Verification {
  readonly trust_score: number
  readonly challenges: readonly Challenge[]
  readonly findings_verified: number
  readonly findings_rejected: number
}
async function verification(run_id: string): Promise<Verification> {
  const output = (await open.events(run_id)).findLast(
    (event) => event.type === 'block:output' && event.block_id === 'verify',
  )
  const ref = output?.type === 'block:output' ? output.data.outputs.verification?.ref : undefined
  return JSON.parse(Buffer.from(await open.place.world.objects.get('main', ref ?? '')).toString('utf8'))
}
const run = (said: string, document: object = dag()) => judge(open, document, { inputs: { said, model: '{}' } })
const refuted = ({ challenges }: Verification) =>
  challenges.filter(({ outcome }) => outcome === 'refuted').map(({ type, message }) => `${type}: ${message}`)

describe('a run whose verifier is verify-claims', () => {
  test('is trusted where every claim is what is stored, and names who said it', async () => {
    const { run_id, end, evaluation } = await run(SOUND)
    expect([end.type, evaluation?.completion.final_status]).toEqual(['run:completed', 'SUCCESS'])
    const found = await verification(run_id)
    expect(found).toMatchObject({ trust_score: 100, findings_verified: 1, findings_rejected: 0 })
    expect(found.challenges.find(({ type }) => type === 'ci')?.source).toMatchObject({ block: 'work', line: 6 })
    expect(found.challenges.find(({ type }) => type === 'artifact')?.source).toMatchObject({
      block: 'keep',
      attempt: 1,
    })
  })

  test.each([
    ['a metric that was not measured', 'accuracy = 0.93', 'accuracy = 0.99', 'metric: accuracy is stated as 0.99'],
    ['an artifact nobody wrote', '[ARTIFACT] out', '[ARTIFACT] nowhere', 'artifact: the artifact "nowhere/model.json"'],
    [
      'an interval that ends before it begins',
      '[0.90, 0.95]',
      '[0.95, 0.90]',
      'ci: the interval ends before it begins',
    ],
    ['a source that is not stored', '[ARTIFACT] out', '[CITATION:x] "y"\n[ARTIFACT] out', 'reference: the source "x"'],
  ])('is not trusted for %s', async (_, from, to, words) => {
    const { run_id, end, evaluation } = await run(SOUND.replace(from, to))
    expect([end.type, evaluation?.completion.row]).toEqual(['run:partial', 'FAIL x MET'])
    const found = await verification(run_id)
    expect(found.findings_rejected).toBe(1)
    expect(refuted(found).some((line) => line.startsWith(words))).toBe(true)
  })

  test('holds a claim of SUCCESS against the contract the run was started with, at no cost', async () => {
    const { run_id, evaluation } = await run(SOUND, dag(contractOf({ ...ACCURACY, target: 0.95 })))
    const found = await verification(run_id)
    expect(refuted(found)).toEqual(['GOAL_CLAIM_MISMATCH: SUCCESS is claimed, and 0 of 1 criteria are met'])
    expect([found.trust_score, evaluation?.completion.row]).toEqual([100, 'PASS x NOT_MET'])
  })

  test('takes a claim, sources and another contract as inputs', async () => {
    const inputs = {
      claimed_status: { type: 'string', default: 'PARTIAL' },
      sources: { type: 'json', default: [{ id: 'x', text: 'They leave in the first three months.' }] },
    }
    const said = SOUND.replace('[ARTIFACT]', '[CITATION:x] "They leave in the first three months."\n[ARTIFACT]')
    const modest = await run(said, dag(contractOf({ ...ACCURACY, target: 0.95 }), { inputs }))
    expect(refuted(await verification(modest.run_id))).toEqual([])
    const contract = { type: 'json', default: contractOf({ ...ACCURACY, target: 0.94 }) }
    const other = await run(SOUND, dag(undefined, { inputs: { contract } }))
    expect(refuted(await verification(other.run_id))).toHaveLength(1)
  })

  test('fails its block, in words, where a source is none', async () => {
    const { events } = await run(SOUND, dag(undefined, { inputs: { sources: { type: 'json', default: [{ id: 7 }] } } }))
    const failed = events.find((event) => event.type === 'block:failed')
    expect(failed?.data).toMatchObject({
      code: 'bad_sources',
      reason: expect.stringContaining(
        'input "sources"[0] is no source; a list of {"id": text, "text": text} is needed',
      ),
    })
  })

  test('is asked again in a retried run, whose other results are taken over', async () => {
    const first = await run(SOUND.replace('accuracy = 0.93', 'accuracy = 0.99'))
    const { json } = await open.call('retry-run', first.run_id, {})
    const second = await judgedRun(open, String(json.run_id))
    const completed = second.events.flatMap((event) =>
      event.type === 'block:completed' ? [[event.block_id, event.data.cached_from]] : [],
    )
    expect(completed).toEqual([
      ['work', first.run_id],
      ['keep', first.run_id],
      ['verify', undefined],
    ])
    expect(await verification(second.run_id)).toMatchObject({ findings_rejected: 1 })
  })
})
