import { afterEach, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { block } from '../asks/ask-place.ts'
import { provider } from '../test-place.ts'
import { type ApprovalPlace, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
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
const ofDeploy = (events: readonly RunEvent[]) =>
  events.filter(({ block_id }) => block_id === 'deploy').map(({ type }) => type)

/** A judge that says no to the one and yes to the other of two calls of `_approve_<id>` (simulated seed 9000984). */
test('a block that somebody is asked about while its gates fail is not failed over the question', async () => {
  let verdicts = 0
  const judge = provider(() => {
    verdicts += 1
    // No to the question, and to the block state that is to say why; yes to the call that comes again.
    return JSON.stringify({ pass: verdicts > 2, rationale: 'So it is.' })
  })
  const place = await openApprovalPlace({}, { providers: { probe: provider(({ prompt }) => prompt), judge } })
  open = place
  const runs = place.place.world.runs as { append: RunStore['append'] }
  const { append } = runs
  let met = false
  runs.append = async (given) => {
    if (!met && given.events.some(({ type, block_id }) => type === 'block:started' && block_id === 'deploy')) {
      met = true
      await place.place.invoke('request-approval', {
        in: { v: 1, tenant: 'main', run_id: given.run.run_id },
        block: 'deploy',
        token: 'a token of nobody',
      })
    }
    return append(given)
  }
  const id = await place.start(DAG)
  const { approval_id } = await place.asked(id, 'deploy')
  expect(await place.decide(id, 'user:ana', { decision: 'approve', approval_id })).toBe('approved')
  const events = await place.ended(id)
  expect(met).toBe(true)
  expect(ofDeploy(events)).toEqual([
    'block:ready',
    'approval:requested',
    'approval:decided',
    'block:started',
    'block:gate',
    'block:output',
    'block:completed',
  ])
  expect(await place.problems(id)).toEqual([])
})
