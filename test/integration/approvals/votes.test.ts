import { afterEach, describe, expect, test } from 'vitest'
import type { Decision } from '../../../shared/api/control-routes.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type ApprovalPlace, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const SLACK = {
  team_id: 'T012AB3CD',
  channel: 'C012AB3CD',
  token: { env: 'NO_TOKEN' },
  signing_secret: { env: 'NO_SECRET' },
  users: { U012AB3CD: 'user:ana' },
}
const GROUPS = { approvals: { groups: { release: ['user:ana', 'user:bo', 'user:cy'] } } }
const yes = (digest: string): Decision => ({ decision: 'approve', digest })
const decided = ({ type }: { readonly type: string }) => type === 'approval:decided'

describe('a quorum', () => {
  test('takes so many different people; the run goes on with the last of them', async () => {
    open = await openApprovalPlace(GROUPS)
    const id = await open.start(deploy({ quorum: 2, approvers: ['group:release'] }))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('pending')
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('already_voted')
    expect(await open.decide(id, 'user:dee', yes(digest))).toBe('not_an_approver')
    expect((await open.call('get-run', id)).json).toMatchObject({
      run: { state: 'paused_approval' },
      approvals: [{ status: 'pending', quorum: 2, votes: [{ by: 'user:ana', via: 'api' }] }],
    })
    expect(await open.decide(id, 'user:bo', yes(digest))).toBe('approved')
    expect(await open.decide(id, 'user:cy', yes(digest))).toBe('already_decided')
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(decided).map(({ data }) => data)).toMatchObject([
      { by: { kind: 'user', id: 'ana' }, have: 1, need: 2, policy: 'group:release' },
      { by: { kind: 'user', id: 'bo' }, have: 2, need: 2, policy: 'group:release' },
    ])
    expect(events.filter(({ type }) => type === 'approval:refused').map(({ data }) => data)).toMatchObject([
      {
        by: { id: 'ana' },
        decision: 'approve',
        code: 'already_voted',
        reason: expect.stringContaining('approved it already'),
      },
      { by: { id: 'dee' }, code: 'not_an_approver', via: 'api' },
    ])
    expect(await open.problems(id)).toEqual([])
  })

  test('of racing voters counts each once, and makes one decision', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ quorum: 3 }))
    const { digest } = await open.asked(id, 'deploy')
    const place = open
    // Eight people, each twice, all at once.
    const people = Array.from({ length: 16 }, (_, i) => `user:p${i % 8}`)
    const told = await Promise.all(people.map((who) => place.decide(id, who, yes(digest))))
    expect(told.filter((one) => one === 'pending')).toHaveLength(2)
    expect(told.filter((one) => one === 'approved')).toHaveLength(1)
    const others = told.filter((one) => one !== 'pending' && one !== 'approved')
    expect(others.every((one) => one === 'already_voted' || one === 'already_decided')).toBe(true)
    const events = await open.ended(id)
    const voters = events.filter(decided).map(({ data }) => JSON.stringify((data as { by: object }).by))
    expect(new Set(voters).size).toBe(3)
    expect(voters).toHaveLength(3)
    expect(await open.problems(id)).toEqual([])
  })

  test('is over with one rejection', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ quorum: 3 }))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('pending')
    expect(await open.decide(id, 'user:bo', { decision: 'reject', feedback: 'no' })).toBe('rejected')
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected' } })
    expect(await open.problems(id)).toEqual([])
  })

  test('keeps its votes over a kill and a restart while it waits', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy({ quorum: 2 }))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('pending')
    await open.kill()
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('already_voted')
    expect(await open.decide(id, 'user:bo', yes(digest))).toBe('approved')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(await open.problems(id)).toEqual([])
  })
})

describe('who may decide', () => {
  test('is who is in the group when they decide, not who was when it was asked', async () => {
    open = await openApprovalPlace(GROUPS)
    const id = await open.start(deploy({ approvers: ['group:release'] }))
    const { digest } = await open.asked(id, 'deploy')
    const moved = SettingsSchema.parse({ approvals: { groups: { release: ['user:dee'] } } })
    Object.assign(open.place.world.settings, { approvals: moved.approvals })
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('not_an_approver')
    expect(await open.decide(id, 'user:dee', yes(digest))).toBe('approved')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
  })

  test('is the default group where the document names nobody', async () => {
    open = await openApprovalPlace({ approvals: { ...GROUPS.approvals, default_group: 'release' } })
    const id = await open.start(deploy(true))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:dee', yes(digest))).toBe('not_an_approver')
    expect(await open.decide(id, 'user:cy', yes(digest))).toBe('approved')
    const events = await open.ended(id)
    expect(events.find(decided)?.data).toMatchObject({
      policy: 'default_group:release',
      policy_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(await open.problems(id)).toEqual([])
  })

  test('is one person, whether they come by Slack or not', async () => {
    open = await openApprovalPlace({ slack: SLACK })
    const id = await open.start(deploy({ quorum: 2, approvers: ['user:ana', 'user:bo'] }))
    const { digest } = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'slack:U012AB3CD', yes(digest))).toBe('pending')
    expect(await open.decide(id, 'user:ana', yes(digest))).toBe('already_voted')
    expect(await open.decide(id, 'user:bo', yes(digest))).toBe('approved')
    const events = await open.ended(id)
    expect(events.find(decided)?.data).toMatchObject({ by: { kind: 'slack' }, policy: 'alias:user:ana' })
    expect(await open.problems(id)).toEqual([])
  })

  test.each([
    ['the block', { self_approval: false }, {}],
    ['the safety policy', true, { safety: { self_approval: false } }],
  ])('is not the starter where %s says so', async (_, approval, settings) => {
    open = await openApprovalPlace(settings)
    const id = await open.start(deploy(approval))
    const { digest } = await open.asked(id, 'deploy')
    const starter = (await open.place.world.runs.meta({ tenant: 'main', run_id: id }))?.starter ?? ''
    expect(await open.decide(id, starter, yes(digest))).toBe('self_approval')
    expect(await open.decide(id, starter, { decision: 'reject' })).toBe('self_approval')
    expect((await open.events(id)).some(decided)).toBe(false)
    expect(await open.decide(id, 'user:bo', yes(digest))).toBe('approved')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
  })

  test('a group nobody configured is refused before the run starts', async () => {
    open = await openApprovalPlace(GROUPS)
    const start = open.start(deploy({ approvers: ['group:relase'] }))
    await expect(start).rejects.toThrow('unknown_group')
  })
})

describe('two questions in parallel branches', () => {
  const branches = {
    blocks: ['a', 'b'].map((id) => ({
      id,
      outputs: { text: { type: 'string' } },
      agent: { provider: 'probe', model: 'm', prompt: id },
      approval: { quorum: 2 },
    })),
  }

  test.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('collect their votes apart, %s first', async (first, second) => {
    open = await openApprovalPlace()
    const id = await open.start(branches)
    const one = await open.asked(id, first)
    const other = await open.asked(id, second)
    const vote = (who: string, { approval_id, digest }: typeof one) =>
      open?.decide(id, who, { ...yes(digest), approval_id })
    expect(await vote('user:ana', one)).toBe('pending')
    expect(await vote('user:ana', other)).toBe('pending')
    expect(await open.decide(id, 'user:bo', yes(one.digest))).toBe('several_pending')
    expect(await vote('user:bo', one)).toBe('approved')
    expect(await vote('user:bo', { ...other, digest: one.digest })).toBe('digest_changed')
    expect(await vote('user:bo', other)).toBe('approved')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(await open.problems(id)).toEqual([])
  })
})
