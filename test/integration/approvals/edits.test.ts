import { afterEach, describe, expect, test } from 'vitest'
import { type ApprovalPlace, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const started = ({ type, block_id }: { readonly type: string; readonly block_id?: string }) =>
  type === 'block:started' && block_id === 'deploy'

describe('an edit', () => {
  test('changes the inputs the block works with and its pre-gates judge; what was shown stays as it was', async () => {
    open = await openApprovalPlace()
    const gate = { name: 'short', check: { type: 'max_length', port: 'goal', max: 8 } }
    const id = await open.start(deploy({ edit: ['goal'] }, { pre_gates: [gate] }))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest, edits: { goal: 'today' } })).toBe(
      'approved',
    )
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(open.prompts).toEqual(['build', 'deploy <build> today'])
    const decided = events.find(({ type }) => type === 'approval:decided')?.data
    expect(decided).toMatchObject({ digest, edits_hash: expect.any(String), edits_ref: expect.any(String) })
    expect((await open.call('get-run', id)).json).toMatchObject({ approvals: [{ edits_ref: expect.any(String) }] })
    expect(await open.problems(id)).toEqual([])
  })

  test('that its pre-gates refuse fails the block in their words, without a dispatch', async () => {
    open = await openApprovalPlace()
    const gate = { name: 'short', check: { type: 'max_length', port: 'goal', max: 8 } }
    const id = await open.start(deploy({ edit: ['goal'] }, { pre_gates: [gate] }))
    const { digest } = await open.asked(id, 'deploy')
    const edits = { goal: 'far too long a goal' }
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest, edits })).toBe('approved')
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'pre_gate_failed' } })
    expect(open.prompts).toEqual(['build'])
    expect(await open.problems(id)).toEqual([])
  })

  test('outlives a kill between the decision and the work', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ edit: ['text'] }))
    const { digest } = await open.asked(id, 'deploy')
    const edits = { text: 'mended' }
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest, edits })).toBe('approved')
    await open.kill()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(open.prompts.at(-1)).toBe('deploy mended soon')
    expect(events.filter(started)).not.toEqual([])
  })

  test.each([
    ['of an input that may not be', { edits: { text: 'x' } }, 'invalid_edits'],
    ['of what is no input', { edits: { toString: 'x' } }, 'invalid_edits'],
    ['of another type', { edits: { goal: 7 } }, 'invalid_edits'],
    ['that takes a value away', { edits: { goal: null } }, 'invalid_edits'],
    ['that is too large', { edits: { goal: 'x'.repeat(204_801) } }, 'edits_too_large'],
    ['with a rejection', { decision: 'reject', edits: { goal: 'x' } }, 'invalid_edits'],
    ['with another digest', { digest: 'a'.repeat(64), edits: { goal: 'x' } }, 'digest_changed'],
  ] as const)('%s is refused and changes nothing', async (_, over, code) => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ edit: ['goal'] }))
    const { digest, approval_id } = await open.asked(id, 'deploy')
    const before = await open.events(id)
    expect(await open.decide(id, 'user:ana', { decision: 'approve', digest, ...over })).toBe(code)
    const after = await open.events(id)
    expect(after.slice(0, before.length)).toEqual(before)
    // What was sent cannot be meant: that is told, not recorded. A word on what was not shown is.
    const recorded = code === 'digest_changed' ? [['approval:refused', { code }]] : []
    expect(after.slice(before.length).map(({ type, data }) => [type, data])).toMatchObject(recorded)
    const head = await open.place.world.runs.head({ tenant: 'main', run_id: id })
    expect(head?.approvals[approval_id]?.status).toBe('pending')
  })

  test('is answered over the route with 422 and the place of each mistake', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ edit: ['goal'] }))
    const { digest } = await open.asked(id, 'deploy')
    const edits = { goal: 7, text: 'x' }
    expect(await open.call('decide-approval', id, { decision: 'approve', digest, edits })).toMatchObject({
      status: 422,
      json: { code: 'invalid_edits', errors: [{ path: 'edits.goal' }, { path: 'edits.text' }] },
    })
  })
})

test('a word that does not fit the question is refused', async () => {
  open = await openApprovalPlace()
  const id = await open.start(deploy({ prompt: 'Deploy {{inputs.goal}}?' }))
  const { digest } = await open.asked(id, 'deploy')
  expect(await open.decide(id, 'user:ana', { decision: 'waive', digest, feedback: 'fine' })).toBe('nothing_to_waive')
  expect(await open.decide(id, 'user:ana', { decision: 'waive', digest, block_id: 'build' })).toBe('no_open_ask')
  expect(await open.decide(id, 'user:ana', { decision: 'reject', iterate: true })).toBe('iterate_not_allowed')
  expect(await open.decide(id, 'user:ana', { decision: 'approve', digest, restart_mode: 'refine' })).toBe(
    'iterate_not_allowed',
  )
  expect(await open.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
  await open.ended(id)
  expect(await open.decide(id, 'user:ana', { decision: 'waive', digest, block_id: 'deploy' })).toBe('no_open_ask')
})
