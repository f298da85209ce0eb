import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

let place: Deployment
let caller: Caller

beforeAll(async () => {
  place = await deploy(inject('assembly'))
  caller = callerOf(place.api.url)
})
afterAll(() => place.close())

const template = 'go to {{inputs.goal}}'
const asking = (approval: object, more: object = {}) => ({
  name: 'asking',
  blocks: [
    {
      id: 'go',
      inputs: { goal: { type: 'string', default: 'town' } },
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'template', prompt: template, model_params: { template } },
      approval,
      ...more,
    },
  ],
})

const isQuestion = ({ type }: RunEvent) => type === 'approval:requested'
const questionOf = async (id: string) => {
  const event = (await caller.until(id, isQuestion)).find(isQuestion)
  const { approval_id, digest } = (event?.data ?? {}) as { approval_id: string; digest: string }
  return { approval_id, digest }
}
const as = (role: string, id: string, body: object) =>
  callerOf(place.api.url, role).call('POST', `/api/dag/runs/${id}/approvals`, body)

test('a quorum of roles that vote at once, each twice, is one decision of so many different ones; people are reminded meanwhile', async () => {
  const id = await caller.start({ dag: asking({ quorum: 3, self_approval: false, remind_sec: 1, timeout_sec: 90 }) })
  const question = await questionOf(id)
  await caller.until(id, ({ type }) => type === 'approval:reminded')
  const yes = { ...question, decision: 'approve' }
  expect(await as('Deployer', id, yes)).toMatchObject({ status: 403, json: { code: 'self_approval' } })
  const roles = ['Ana', 'Bo', 'Cy', 'Dee']
  const answers = await Promise.all([...roles, ...roles].map((role) => as(role, id, yes)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  const codes = new Set(answers.flatMap(({ status, json }) => (status === 200 ? [] : [json.code])))
  expect([...codes].every((code) => code === 'already_voted' || code === 'already_decided')).toBe(true)
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  const voters = events.flatMap((event) => (event.type === 'approval:decided' ? [event.data.by.id] : []))
  expect([voters.length, new Set(voters).size]).toEqual([3, 3])
  expect((await caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })
})

test('a rejection puts another run in place of this one, which goes on with what the approver changed', async () => {
  const id = await caller.start({ dag: asking({ on_reject: 'iterate', edit: ['goal'] }) })
  const no = { ...(await questionOf(id)), decision: 'reject' }
  expect(await as('Ana', id, no)).toMatchObject({ status: 422, json: { code: 'reason_required' } })
  expect(await as('Ana', id, { ...no, feedback: 'not there' })).toMatchObject({ status: 200 })
  const end = (await caller.until(id, isEnd)).at(-1)
  expect(end?.type).toBe('run:iterated')
  const next = end?.type === 'run:iterated' ? String(end.data.next_run) : ''
  const yes = { ...(await questionOf(next)), decision: 'approve' }
  expect(await as('Ana', next, { ...yes, edits: { goal: 7 } })).toMatchObject({
    status: 422,
    json: { code: 'invalid_edits' },
  })
  expect(await as('Ana', next, { ...yes, edits: { goal: 'the sea' } })).toMatchObject({ status: 200 })
  expect((await caller.until(next, isEnd)).at(-1)?.type).toBe('run:completed')
  const outputs = await caller.call('GET', `/api/dag/runs/${next}/outputs/go`)
  expect(outputs.text).toContain('go to the sea')
  expect((await caller.call('GET', `/api/dag/runs/${next}`)).json).toMatchObject({
    run: { iterates: id, root: id, starter: 'iam:Deployer' },
  })
  for (const run of [id, next]) {
    expect((await caller.call('GET', `/api/dag/runs/${run}/verify`)).json).toMatchObject({ ok: true })
  }
})

test('a rejection with a rule for it sends the run back', async () => {
  const rule = { when_gate: 'approval', route_to: 'go', max_bounces: 1 }
  const id = await caller.start({ dag: asking({ on_reject: 'route' }, { on_gate_fail: [rule] }) })
  expect(await as('Ana', id, { ...(await questionOf(id)), decision: 'reject', feedback: 'again' })).toMatchObject({
    status: 200,
  })
  const again = (event: RunEvent) => isQuestion(event) && event.id.includes('/1000010/')
  const asked = (await caller.until(id, again)).find(again)
  expect(await caller.decide(id, asked, 'approve')).toMatchObject({ status: 200 })
  expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
})

test('no function failed in a way nobody expected, or wanted what its role does not allow', async () => {
  await place.lambda.settled()
  expect(place.api.errors).toEqual([])
  expect(place.denied).toEqual([])
})
