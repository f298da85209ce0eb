import { afterEach, beforeEach, expect, test } from 'vitest'
import { child, deployDocument } from '../child-place.ts'
import { expectFoldStored } from '../loop.ts'
import { ai, type EndedRun, openRetryPlace, type RetryPlace } from './retry-place.ts'

let place: RetryPlace
beforeEach(async () => {
  place = await openRetryPlace()
})
afterEach(() => place.place.close())

async function expectSound(run: EndedRun): Promise<void> {
  const { json } = await place.place.call('verify-run', run.id)
  const { checks } = json as unknown as { checks: readonly { readonly problems: readonly string[] }[] }
  expect(checks.flatMap(({ problems }) => problems)).toEqual([])
  await expectFoldStored(place.place, run.id)
}

test('a retry that takes over every kind of result holds every invariant', async () => {
  deployDocument(place.place, 'inner', [ai('one'), ai('two', ['one'])])
  const gate = { name: 'some', check: { type: 'not_empty', port: 'text' } }
  const keep = { handler: 'write-artifact', config: { name: 'out.md' } }
  const each = { foreach: { items: ['x', 'y'], as: 'word' }, outputs: { text: 'string' } }
  const dag = {
    blocks: [
      ai('a', [], { post_gates: [gate] }),
      ai('asked', ['a'], { approval: { required: true, prompt: 'Go on with {{inputs.a}}?', reuse: true } }),
      child('sub', 'inner'),
      {
        id: 'keep',
        mode: 'deterministic',
        inputs: { body: { from: 'a.text' } },
        outputs: { file: 'artifact' },
        deterministic: keep,
      },
      { id: 'each', ...each, agent: { provider: 'probe', model: 'm', prompt: '{{inputs.word}}' } },
      ai('end', ['asked', 'a']),
    ],
  }
  place.failing.add('end')
  const id = await place.place.start(dag)
  const asked = await place.place.until(id, ({ type }) => type === 'approval:requested')
  const digest = asked.type === 'approval:requested' ? asked.data.digest : ''
  await place.place.call('decide-approval', id, { decision: 'approve', digest })
  await place.place.ended(id)
  place.failing.clear()
  place.asked()
  const again = await place.retry(id)
  expect([again.end, place.asked()]).toEqual(['run:completed', ['end']])
  expect(Object.keys(again.taken).sort()).toEqual(['a', 'asked', 'each', 'keep', 'sub'])
  await expectSound(again)
  const third = await place.retry(again, { from_block: 'end' })
  await expectSound(third)
})

test('so does one that takes over items and a part of a child', async () => {
  deployDocument(place.place, 'inner', [ai('one'), ai('two', ['one'])])
  const each = { foreach: { items: ['x', 'y', 'z'], as: 'word' }, outputs: { text: 'string' } }
  const dag = {
    blocks: [
      child('sub', 'inner'),
      { id: 'each', ...each, agent: { provider: 'probe', model: 'm', prompt: '{{inputs.word}}' } },
    ],
  }
  place.failing.add('two').add('y')
  const first = await place.run(dag)
  place.failing.clear()
  place.asked()
  const again = await place.retry(first)
  expect([again.end, [...place.asked()].sort()]).toEqual(['run:completed', ['two', 'y']])
  await expectSound(again)
})
