import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { callerOf, isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

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
  const event = (await aws.caller.until(id, isQuestion)).find(isQuestion)
  const { approval_id, digest } = (event?.data ?? {}) as { approval_id: string; digest: string }
  return { approval_id, digest }
}
const as = (role: string, id: string, body: object) =>
  callerOf(aws.place.api.url, role).call('POST', `/api/dag/runs/${id}/approvals`, body)

test('a quorum of people of one role who vote at once, each twice, is one decision of so many different ones; people are reminded meanwhile', async () => {
  const person = (name: string) => `AWSReservedSSO_Release:${name}`
  const id = await callerOf(aws.place.api.url, person('starter')).start({
    dag: asking({ quorum: 3, self_approval: false, remind_sec: 1, timeout_sec: 90 }),
  })
  const question = await questionOf(id)
  await aws.caller.until(id, ({ type }) => type === 'approval:reminded')
  const yes = { ...question, decision: 'approve' }
  expect(await as(person('starter'), id, yes)).toMatchObject({ status: 403, json: { code: 'self_approval' } })
  const roles = ['ana', 'bo', 'cy', 'dee'].map(person)
  const answers = await Promise.all([...roles, ...roles].map((role) => as(role, id, yes)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  const codes = new Set(answers.flatMap(({ status, json }) => (status === 200 ? [] : [json.code])))
  expect([...codes].every((code) => code === 'already_voted' || code === 'already_decided')).toBe(true)
  const events = await aws.caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  const voters = events.flatMap((event) => (event.type === 'approval:decided' ? [event.data.person] : []))
  expect([voters.length, new Set(voters).size]).toEqual([3, 3])
  expect((await aws.caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })
})

test('a rejection puts another run in place of this one, which goes on with what the approver changed', async () => {
  const id = await aws.caller.start({ dag: asking({ on_reject: 'iterate', edit: ['goal'] }) })
  const no = { ...(await questionOf(id)), decision: 'reject' }
  expect(await as('Ana', id, no)).toMatchObject({ status: 422, json: { code: 'reason_required' } })
  expect(await as('Ana', id, { ...no, feedback: 'not there' })).toMatchObject({ status: 200 })
  const end = (await aws.caller.until(id, isEnd)).at(-1)
  expect(end?.type).toBe('run:iterated')
  const next = end?.type === 'run:iterated' ? String(end.data.next_run) : ''
  const yes = { ...(await questionOf(next)), decision: 'approve' }
  expect(await as('Ana', next, { ...yes, edits: { goal: 7 } })).toMatchObject({
    status: 422,
    json: { code: 'invalid_edits' },
  })
  expect(await as('Ana', next, { ...yes, edits: { goal: 'the sea' } })).toMatchObject({ status: 200 })
  expect((await aws.caller.until(next, isEnd)).at(-1)?.type).toBe('run:completed')
  const outputs = await aws.caller.call('GET', `/api/dag/runs/${next}/outputs/go`)
  expect(outputs.text).toContain('go to the sea')
  expect((await aws.caller.call('GET', `/api/dag/runs/${next}`)).json).toMatchObject({
    run: { iterates: id, root: id, starter: 'iam:Deployer' },
  })
  for (const run of [id, next]) {
    expect((await aws.caller.call('GET', `/api/dag/runs/${run}/verify`)).json).toMatchObject({ ok: true })
  }
})

test('a rejection with a rule for it sends the run back', async () => {
  const rule = { when_gate: 'approval', route_to: 'go', max_bounces: 1 }
  const id = await aws.caller.start({ dag: asking({ on_reject: 'route' }, { on_gate_fail: [rule] }) })
  expect(await as('Ana', id, { ...(await questionOf(id)), decision: 'reject', feedback: 'again' })).toMatchObject({
    status: 200,
  })
  const again = (event: RunEvent) => isQuestion(event) && event.id.includes('/1000010/')
  const asked = (await aws.caller.until(id, again)).find(again)
  expect(await aws.caller.decide(id, asked, 'approve')).toMatchObject({ status: 200 })
  expect((await aws.caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
})

describe('what a decision binds', () => {
  const behind = { ...asking({}).blocks[0], id: 'act', approval: undefined }
  const release = (approval: object = {}) => ({
    name: 'bound',
    blocks: [
      { id: 'go', mode: 'approval', outputs: { decided_by: 'string' }, approval: { prompt: 'Go?', ...approval } },
      behind,
    ],
    edges: [{ from: 'go', to: 'act' }],
  })
  const retry = async (id: string, body: object) => {
    const { json, status } = await aws.caller.call('POST', `/api/dag/runs/${id}/retry`, body)
    expect(status).toBe(201)
    return String(json.run_id)
  }
  const patch = (id: string, set: object) =>
    aws.caller.call('PATCH', `/api/dag/runs/${id}/context`, { set, if_version: 0 })
  const output = async (id: string) => (await aws.caller.call('GET', `/api/dag/runs/${id}/outputs/act`)).text
  const verified = async (id: string) =>
    expect((await aws.caller.call('GET', `/api/dag/runs/${id}/verify`)).json).toMatchObject({ ok: true })

  test('an override is shown and bound, a patch while it is open is refused, and what was shown runs', async () => {
    const id = await aws.caller.start({ dag: release(), overrides: { 'act.goal': 'the moon' } })
    const question = await questionOf(id)
    const overrides = [{ port: 'act.goal', value: '"the moon"' }]
    const shown = (await aws.caller.call('GET', `/api/dag/runs/${id}`)).json
    expect(shown).toMatchObject({ run: { changes: { overrides } }, approvals: [{ changes: { overrides } }] })
    await as('Ana', id, { ...question, decision: 'approve' })
    expect((await aws.caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
    expect(await output(id)).toContain('go to the moon')
    await verified(id)
    const plain = await aws.caller.start({ dag: release() })
    const open = await questionOf(plain)
    expect(await patch(plain, { goal: 'the moon' })).toMatchObject({
      status: 409,
      json: { code: 'context_is_decided' },
    })
    await as('Ana', plain, { ...open, decision: 'approve' })
    await aws.caller.until(plain, isEnd)
    expect(await output(plain)).toContain('go to town')
    await verified(plain)
  })

  test('a retry asks again without reuse, and with it where what it binds differs', async () => {
    const first = await aws.caller.start({ dag: release() })
    await as('Ana', first, { ...(await questionOf(first)), decision: 'approve' })
    await aws.caller.until(first, isEnd)
    const again = await retry(first, {})
    const asked = await questionOf(again)
    expect(await as('Ana', again, { ...asked, decision: 'reject' })).toMatchObject({ status: 200 })
    const reusing = await aws.caller.start({ dag: release({ reuse: true }) })
    await as('Ana', reusing, { ...(await questionOf(reusing)), decision: 'approve' })
    await aws.caller.until(reusing, isEnd)
    const same = await retry(reusing, {})
    const events = await aws.caller.until(same, isEnd)
    expect([events.some(isQuestion), events.at(-1)?.type]).toEqual([false, 'run:completed'])
    await verified(same)
    const other = await retry(reusing, { overrides: { 'act.goal': 'the moon' } })
    expect(await questionOf(other)).toMatchObject({ digest: expect.any(String) })
    await as('Ana', other, { ...(await questionOf(other)), decision: 'reject' })
    await aws.caller.until(other, isEnd)
  })

  test('a waiver shows an override too, and a context key that would take a question away is refused', async () => {
    const never = {
      name: 'never',
      check: { type: 'contains', port: 'text', values: ['no such words'] },
      on_fail: 'ask',
    }
    const checked = { ...behind, id: 'check', post_gates: [never] }
    const dag = { name: 'waived', blocks: [checked, behind], edges: [{ from: 'check', to: 'act' }] }
    const id = await aws.caller.start({ dag, overrides: { 'act.goal': 'the moon' } })
    const question = await questionOf(id)
    const overrides = [{ port: 'act.goal', value: '"the moon"' }]
    expect((await aws.caller.call('GET', `/api/dag/runs/${id}`)).json).toMatchObject({
      approvals: [{ changes: { overrides } }],
    })
    expect(await patch(id, { goal: 'the sun' })).toMatchObject({ status: 409 })
    await as('Ana', id, { ...question, decision: 'waive', feedback: 'seen' })
    await aws.caller.until(id, isEnd)
    await verified(id)
    const inputs = { env: { type: 'string', default: 'prod' } }
    const when = 'inputs.env == "prod"'
    const [go] = release().blocks
    const passing = { ...behind, depends: 'go.succeeded || go.skipped' }
    const skips = { name: 'skips', blocks: [{ ...go, inputs, when }, passing] }
    const refused = await aws.caller.call('POST', '/api/dag/run', { dag: skips, context: { env: 'test' } })
    expect(refused).toMatchObject({ status: 422, json: { code: 'context_skips_question' } })
  })
})

test('no function failed in a way nobody expected, or wanted what its role does not allow', async () => {
  await aws.place.lambda.settled()
  expect(aws.place.api.errors).toEqual([])
  expect(aws.place.denied).toEqual([])
})
