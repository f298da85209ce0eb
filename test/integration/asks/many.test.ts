import { afterEach, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, asks, block, counting, decide, expectVerified } from './ask-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const MOST = 200

test('a run asks 200 questions; what would be one more fails as if it could not ask', {
  tags: ['thorough'],
  timeout: 90_000,
}, async () => {
  const { probe } = counting()
  open = await openTestPlace({ providers: { probe } })
  const ids = Array.from({ length: MOST + 2 }, (_, i) => `b${i}`)
  const blocks = ids.map((id) => block(id, [], { post_gates: [asks('good', 'good')] }))
  const run = await open.start({ blocks }, { options: { max_parallel: 1 } })
  const counts = async () => {
    const events = (await open?.events(run)) ?? []
    return [all(events, 'block:failed').length, all(events, 'approval:requested').length]
  }
  await expect.poll(counts, { timeout: 50_000 }).toEqual([2, MOST])
  const events = await open.events(run)
  expect(all(events, 'block:failed').map(({ data }) => data.code)).toEqual(['post_gate_failed', 'post_gate_failed'])
  const first = all(events, 'approval:requested')[0]?.block_id ?? ''
  expect((await decide(open, run, await asked(open, run, first), 'waive', 'good enough')).status).toBe(200)
  await open.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === first)
  await expectVerified(open, run)
})
