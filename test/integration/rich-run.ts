import { vi } from 'vitest'
import { block, bounce, goodFrom, probe } from './loop.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/**
 * A run in which every kind of thing happens: a second try, a bounce, items of which one fails, a decision, a skip, a
 * warning. `stop` before the decision leaves it waiting for a person.
 */
export async function richRun(
  settings: Parameters<typeof openTestPlace>[1] = {},
  decide = true,
  options: Parameters<typeof openTestPlace>[0] = {},
): Promise<{ place: TestPlace; run_id: string }> {
  const gate = (min: number, more: object = {}) => ({
    name: 'long',
    check: { type: 'min_length', port: 'text', min },
    ...more,
  })
  const retry = { max_attempts: 2, backoff: 'none', delay_ms: 0, jitter: 'none' }
  const each = { items: ['a', 'b', 'c'], as: 'one', tolerate: 1, item_gates: [gate(6)] }
  const blocks = [
    block('plan', [], { retry, post_gates: [gate(20), { ...gate(9_000, { on_fail: 'warn' }), name: 'longer' }] }),
    block('each', ['plan'], { foreach: each, outputs: { text: 'string' } }),
    block('build', ['plan']),
    block('review', ['build'], bounce('build', 2)),
    block('deploy', ['review'], { approval: { required: true, prompt: 'Deploy it?', timeout_sec: 600 } }),
    block('extra', ['review'], { when: 'inputs.review == "never"' }),
  ]
  let asked = 0
  const answers = {
    plan: (round: number) => (round === 1 ? 'short' : 'a plan that is long enough, ü and all'),
    each: () => ['one', 'long enough', 'long as well'][asked++ % 3] ?? '',
    review: goodFrom(2),
  }
  const place = await openTestPlace({ providers: { probe: probe(answers) }, ...options }, settings)
  const run_id = await place.start({ blocks })
  if (!decide) {
    await place.until(run_id, ({ type }) => type === 'approval:requested')
    return { place, run_id }
  }
  const asks = await place.until(run_id, ({ type }) => type === 'approval:requested')
  if (asks.type !== 'approval:requested') throw new Error('nothing was asked')
  const { approval_id, digest } = asks.data
  await place.call('decide-approval', run_id, { approval_id, decision: 'approve', digest, feedback: 'go' })
  await place.ended(run_id)
  await vi.waitUntil(async () => (await place.place.world.runs.head({ tenant: 'main', run_id }))?.outbox.length === 0)
  return { place, run_id }
}
