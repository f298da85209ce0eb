import { afterEach, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import { block } from '../asks/ask-place.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const REVIEW = { type: 'llm_review', port: 'text', criteria: 'Fair.', provider: 'judge', model: 'j', samples: 1 }

test('nobody is asked about a block whose earlier result no judge may look at for want of budget: it fails (simulated seed 500375)', async () => {
  // The first time `eat` fails and uses nothing; in the retry it uses what the judge would have needed.
  let asked_eat = 0
  const probe: Provider = {
    async dispatch({ prompt, model }) {
      const used = { tokens_in: 1, tokens_out: 1, usd: 0, model, finish_reason: 'stop' }
      if (prompt.startsWith('last')) throw new Fault('InvalidInput', 'refused', 'It is refused.')
      if (!prompt.startsWith('eat')) return { text: prompt, ...used }
      asked_eat += 1
      if (asked_eat === 1) throw new Fault('InvalidInput', 'refused', 'It is refused.')
      return { text: prompt, ...used, tokens_in: 5_000 }
    },
  }
  const judge = provider(() => JSON.stringify({ pass: true, rationale: 'So it is.' }))
  open = await openTestPlace({ providers: { probe, judge } })
  const blocks = [
    block('eat'),
    block('deploy', [], {
      depends: 'eat.done',
      approval: { reuse: true },
      post_gates: [{ name: 'fair', check: REVIEW, on_fail: 'fail' }],
    }),
    block('last', ['deploy']),
  ]
  const document = { budget: { tokens: 9_000 }, blocks }
  const first = await open.start(document)
  const asked = await open.until(first, ({ type }) => type === 'approval:requested')
  const { digest } = asked.data as { readonly digest: string }
  await open.call('decide-approval', first, { block_id: 'deploy', decision: 'approve', digest })
  await open.ended(first)

  const { json } = await open.call('retry-run', first, {})
  const retried = (json as unknown as { run_id: string }).run_id
  const events = await open.ended(retried)
  expect(events.filter(({ type }) => type === 'approval:requested')).toEqual([])
  expect(events.find(({ type }) => type === 'budget:exceeded')).toMatchObject({ block_id: 'deploy', attempt: 1 })
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'budget_exceeded' } })
  expect((await open.call('verify-run', retried)).json).toMatchObject({ ok: true })
})
