import { afterEach, describe, expect, test } from 'vitest'
import { type ApprovalPlace, agent, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const document = (approval: object) => ({
  inputs: { shared: { type: 'string' } },
  blocks: [
    {
      id: 'deploy',
      inputs: { goal: { type: 'string', required: true }, where: { type: 'string', default: 'here' } },
      outputs: { text: { type: 'string' } },
      agent: agent('deploy {{inputs.goal}} {{inputs.where}} {{inputs.shared}}'),
      approval,
    },
  ],
})
const set = { goal: 'production', where: 'there', shared: 'other' }

async function begin(approval: object): Promise<readonly [ApprovalPlace, string, string]> {
  open = await openApprovalPlace()
  const id = await open.start(document(approval), { context: { goal: 'staging', shared: 'this' } })
  const { digest } = await open.asked(id, 'deploy')
  return [open, id, digest]
}

/** Past the route, as a change would come that was made between its look and the question. */
async function slipIn(place: ApprovalPlace, id: string): Promise<void> {
  const run = { tenant: 'main', run_id: id }
  await place.place.world.runs.putContext(run, { version: 1, values: set }, 0)
}

describe('a context that is patched while a person is asked', () => {
  test('is refused where the question, or what a yes lets happen, reads it; other keys may change', async () => {
    const [place, id] = await begin({})
    expect(await place.call('patch-context', id, { set, if_version: 0 })).toMatchObject({
      status: 409,
      json: { code: 'context_is_decided', detail: expect.stringContaining('people were asked about block "deploy"') },
    })
    expect((await place.call('patch-context', id, { set: { other: 1 }, if_version: 0 })).status).toBe(200)
    expect((await place.call('patch-context', id, { set: { goal: 'staging' }, if_version: 1 })).status).toBe(200)
  })

  test.each([
    ['all inputs', {}],
    ['some of them', { show: ['goal'] }],
  ])('changes nothing of what they approve: %s are shown', async (_what, more) => {
    const [place, id, digest] = await begin(more)
    await slipIn(place, id)
    expect(await place.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
    await place.ended(id)
    expect(place.prompts).toEqual(['deploy staging here this'])
    expect(await place.problems(id)).toEqual([])
  })

  test('changes nothing of what they edit either', async () => {
    const [place, id, digest] = await begin({ edit: ['where'] })
    await slipIn(place, id)
    await place.decide(id, 'user:ana', { decision: 'approve', digest, edits: { where: 'nowhere' } })
    await place.ended(id)
    expect(place.prompts).toEqual(['deploy staging nowhere this'])
    expect(await place.problems(id)).toEqual([])
  })

  test('nor of what is approved because nobody decided', async () => {
    const [place, id] = await begin({ timeout_sec: 1, on_timeout: 'approve' })
    await slipIn(place, id)
    await place.ended(id)
    expect(place.prompts).toEqual(['deploy staging here this'])
  })
})
