import { afterEach, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, asks, block, counting, decide, expectVerified } from './ask-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const kinds = async (place: TestPlace, run: string, id: string) =>
  (await place.events(run)).filter(({ block_id }) => block_id === id).map(({ type }) => type)

describe('a post-gate with on_fail: ask', () => {
  test('that is waived lets the outputs out as they are: dispatched once, published only then', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start({ blocks: [block('plan', [], { post_gates: [asks('good', 'good')] }), block('use', ['plan'])] })
    const question = await asked(open, run, 'plan')
    expect(question).toMatchObject({ about: 'post_gates', quorum: 1 })
    const view = (await open.call('get-run', run)).json
    expect(view).toMatchObject({
      run: { state: 'paused_approval' },
      blocks: { plan: { state: 'paused_approval', gates: [{ gate: 'good', status: 'failed' }] }, use: { state: 'pending' } },
    })
    expect((await decide(open, run, question, 'waive', 'good enough')).status).toBe(200)
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await kinds(open, run, 'plan')).toEqual([
      'block:ready',
      'block:started',
      'block:output',
      'block:gate',
      'block:asked',
      'approval:requested',
      'approval:decided',
      'block:gate',
      'block:completed',
    ])
    expect([calls('plan'), calls('use')]).toEqual([1, 1])
    await expectVerified(open, run)
  })
})
