import { afterEach, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { block } from '../asks/ask-place.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const REVIEW = { type: 'llm_review', port: 'first', criteria: 'Fair.', provider: 'judge', model: 'j', samples: 1 }
const DAG = {
  blocks: [
    block('first'),
    block('deploy', ['first'], { approval: true, pre_gates: [{ name: 'fair', check: REVIEW, on_fail: 'fail' }] }),
  ],
}

test('nobody is asked about a block whose attempt was claimed to record what its pre-gates said', async () => {
  let verdicts = 0
  // No to the question, no again to the block state, which claims an attempt to fail by it; then yes.
  const judge = provider(() => {
    verdicts += 1
    return JSON.stringify({ pass: verdicts > 2, rationale: 'So it is.' })
  })
  open = await openTestPlace({ providers: { probe: provider(({ prompt }) => prompt), judge } })
  const { runs } = open.place.world
  const append = runs.append.bind(runs)
  let claimed = false
  // The function dies behind its claim.
  Object.assign(runs, {
    append: async (step: Parameters<typeof append>[0]) => {
      if (claimed && step.lane === '1') throw new Fault('Unavailable', 'store_busy', 'The store is away.')
      claimed ||= step.events.some(({ type, block_id }) => type === 'block:started' && block_id === 'deploy')
      return append(step)
    },
  })
  const run = await open.start(DAG)
  await open.until(run, ({ type, block_id }) => type === 'block:started' && block_id === 'deploy')
  // What asked comes once more, late.
  await open.place.invoke('request-approval', {
    in: { v: 1, tenant: 'main', run_id: run },
    block: 'deploy',
    token: 'a token of nobody',
  })
  expect(verdicts).toBe(2)
  expect((await open.events(run)).filter(({ type }) => type === 'approval:requested')).toEqual([])
})
