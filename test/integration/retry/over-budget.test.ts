import { afterEach, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { block } from '../asks/ask-place.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const REVIEW = { type: 'llm_review', port: 'text', criteria: 'Fair.', provider: 'judge', model: 'j', samples: 1 }

test('nobody is asked about a block whose earlier result no judge may look at for want of budget: it fails (simulated seed 500375)', async () => {
  const probe = provider(({ prompt }) => {
    if (prompt.startsWith('last')) throw new Fault('InvalidInput', 'refused', 'It is refused.')
    return prompt
  })
  const judge = provider(() => JSON.stringify({ pass: true, rationale: 'So it is.' }))
  open = await openTestPlace({ providers: { probe, judge } })
  const blocks = [
    block('deploy', [], { approval: true, post_gates: [{ name: 'fair', check: REVIEW, on_fail: 'fail' }] }),
    block('last', ['deploy']),
  ]
  const first = await open.start({ blocks })
  const asked = await open.until(first, ({ type }) => type === 'approval:requested')
  const { digest } = asked.data as { readonly digest: string }
  await open.call('decide-approval', first, { block_id: 'deploy', decision: 'approve', digest })
  await open.ended(first)

  const { json } = await open.call('retry-run', first, { dag: { budget: { tokens: 4_100 }, blocks } })
  const retried = (json as unknown as { run_id: string }).run_id
  const events = await open.ended(retried)
  expect(events.filter(({ type }) => type === 'approval:requested')).toEqual([])
  expect(events.find(({ type }) => type === 'budget:exceeded')).toMatchObject({ block_id: 'deploy', attempt: 1 })
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'budget_exceeded' } })
  expect((await open.call('verify-run', retried)).json).toMatchObject({ ok: true })
})
