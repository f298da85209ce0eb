import { afterEach, expect, test } from 'vitest'
import { type ApprovalPlace, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const large = (prompt: string) => ({
  blocks: [
    {
      id: 'make',
      mode: 'deterministic',
      outputs: { text: { type: 'string' } },
      deterministic: { handler: 'transform', config: { expression: '$pad("x", 500000, "ü")' } },
    },
    {
      id: 'deploy',
      mode: 'deterministic',
      inputs: { text: { from: 'make.text' } },
      outputs: { text: { type: 'string' } },
      deterministic: { handler: 'transform', config: { expression: '"done"' } },
      approval: { prompt, show: [] },
    },
  ],
})

test('a prompt that quotes a large value fits into the record of a question, and says what is missing', async () => {
  open = await openApprovalPlace()
  const id = await open.start(large('Deploy {{inputs.text}}?'))
  const { approval_id, digest } = await open.asked(id, 'deploy')
  const item = await open.place.world.runs.approval({ tenant: 'main', run_id: id }, approval_id)
  expect(item?.prompt.length).toBeLessThan(8_100)
  expect(item?.prompt).toMatch(/^Deploy xü+… \(492,008 more characters\)$/)
  expect(item?.digest).toBe(digest)
  expect(await open.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
})

test('two prompts that differ behind what is told have different digests', async () => {
  open = await openApprovalPlace()
  const ids = [await open.start(large('{{inputs.text}} a')), await open.start(large('{{inputs.text}} b'))]
  const digests = await Promise.all(ids.map(async (id) => (await open?.asked(id, 'deploy'))?.digest))
  expect(new Set(digests).size).toBe(2)
})
