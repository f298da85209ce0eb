import { afterEach, describe, expect, test } from 'vitest'
import type { ApprovalEntry } from '../../shared/api/approval-routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** GET /api/dag/approvals on a local place: what people are asked over all runs. */
let place: TestPlace
afterEach(() => place.close())

const text = { text: 'string' }
const probe = provider(({ prompt }) => `answer to ${prompt}`)
const deploy = (approval: object, more: object = {}) => ({
  name: 'release',
  blocks: [
    { id: 'build', outputs: text, agent: { provider: 'probe', model: 'm', prompt: 'build' } },
    {
      id: 'deploy',
      inputs: { text: { from: 'build.text' } },
      outputs: text,
      agent: { provider: 'probe', model: 'm', prompt: 'deploy' },
      approval,
      ...more,
    },
  ],
})
const asked = ({ type }: RunEvent) => type === 'approval:requested'

interface Page {
  readonly approvals: readonly ApprovalEntry[]
  readonly next_cursor: string | null
}

async function list(
  query: Record<string, string> = {},
): Promise<Page & { readonly status: number; readonly code?: string }> {
  const answer = await place.place.invoke('list-approvals', {
    httpMethod: 'GET',
    path: '/api/dag/approvals',
    pathParameters: null,
    queryStringParameters: query,
    headers: {},
    body: null,
    isBase64Encoded: false,
  })
  const { statusCode, body } = answer as { statusCode: number; body: string }
  return { status: statusCode, ...JSON.parse(body) }
}

async function waiting(approval: object = { prompt: 'Deploy {{inputs.text}}?' }, more: object = {}): Promise<string> {
  const id = await place.start(deploy(approval, more))
  await place.until(id, asked)
  return id
}

async function decide(runId: string, decision: object = { decision: 'reject', feedback: 'not today' }) {
  const [entry] = (await list()).approvals.filter(({ run_id }) => run_id === runId)
  return place.call('decide-approval', runId, { digest: entry?.digest, ...decision })
}

describe('the inbox', () => {
  test('shows run, block, what is asked and shown, until when, by whom, at which risk and cost', async () => {
    place = await openTestPlace({ providers: { probe } })
    const id = await waiting({ prompt: 'Deploy {{inputs.text}}?', approvers: ['user:ana'], on_timeout: 'approve' })
    const { status, approvals, next_cursor } = await list()
    expect({ status, next_cursor }).toEqual({ status: 200, next_cursor: null })
    const request = await place.until(id, asked)
    const digest = request.type === 'approval:requested' ? request.data.digest : ''
    expect(approvals).toMatchObject([
      {
        run_id: id,
        dag_name: 'release',
        block_id: 'deploy',
        about: 'dispatch',
        status: 'pending',
        prompt: 'Deploy answer to build?',
        shown: { text: 'answer to build' },
        digest,
        requested_at: request.at,
        approvers: ['user:ana'],
        quorum: 1,
        votes: [],
        reminders: 0,
        edit: [],
        may_decide: { allowed: false, code: 'not_an_approver', reason: expect.stringContaining('user:ana') },
        risk: { level: 'medium' },
        links: { run: `/api/dag/runs/${id}`, decide: `/api/dag/runs/${id}/approvals` },
      },
    ])
    const [entry] = approvals
    expect(entry?.age_ms).toBeGreaterThanOrEqual(0)
    expect(entry?.shown_refs.text?.ref).toMatch(/^objstore:/)
    expect(entry?.risk.because).toEqual([
      'it is approved by itself if nobody decides in time',
      'what models cost is unknown in deploy',
      '1 block to run after a yes',
      expect.stringMatching(/^\d+ tokens spent so far, \$0$/),
    ])
    expect(entry?.cost).toMatchObject({
      spent: { usd: 0, unpriced: [] },
      to_come: { usd: null, unpriced: ['deploy'] },
    })
    expect(entry?.cost.spent.tokens).toBeGreaterThan(0)
  })

  test('leaves out what is decided, and has it with who decided when asked for', async () => {
    place = await openTestPlace({ providers: { probe } })
    const [one, two] = [await waiting(), await waiting()]
    expect((await decide(one)).status).toBe(200)
    await place.ended(one)
    expect((await list()).approvals.map(({ run_id }) => run_id)).toEqual([two])
    const { approvals } = await list({ status: 'decided' })
    expect(approvals).toMatchObject([
      {
        run_id: one,
        status: 'rejected',
        decided_by: expect.stringMatching(/^user:/),
        may_decide: { allowed: false, code: 'already_decided' },
      },
    ])
    expect((await list({ status: 'all' })).approvals.map(({ run_id }) => run_id)).toEqual([two, one])
  })

  test('of a run that was stopped the question is cancelled', async () => {
    place = await openTestPlace({ providers: { probe } })
    const id = await waiting()
    await place.call('stop-run', id, {})
    expect((await list()).approvals).toEqual([])
    expect((await list({ status: 'decided' })).approvals).toMatchObject([{ run_id: id, status: 'cancelled' }])
  })

  test('pages through both lists, each question once; a cursor fits its list alone', async () => {
    place = await openTestPlace({ providers: { probe } })
    const ids: string[] = []
    for (let i = 0; i < 5; i += 1) ids.push(await waiting())
    for (const id of ids.slice(0, 2)) await decide(id)
    const seen: string[] = []
    let cursor: string | null | undefined
    do {
      const page: Page = await list({ status: 'all', limit: '2', ...(cursor ? { cursor } : {}) })
      expect(page.approvals.length).toBeLessThanOrEqual(2)
      seen.push(...page.approvals.map(({ run_id, status }) => `${ids.indexOf(run_id)} ${status}`))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(['2 pending', '3 pending', '4 pending', '1 rejected', '0 rejected'])
    const { next_cursor } = await list({ limit: '1' })
    const [open, none] = [next_cursor ?? '', 'o.']
    for (const query of [
      { status: 'decided', cursor: open },
      { status: 'pending', cursor: `c.${open.slice(2)}` },
      { status: 'all', cursor: `c.${open.slice(2)}` },
      { status: 'all', cursor: `x${open}` },
      { cursor: `${open}A` },
    ]) {
      expect(await list(query)).toMatchObject({ status: 400, code: 'bad_cursor' })
    }
    expect((await list({ cursor: none })).status).toBe(200)
    expect(await list({ status: 'lost' })).toMatchObject({ status: 400 })
  })

  test('a large value is named, not shown, and the values of a page have an end', async () => {
    place = await openTestPlace({ providers: { probe: provider(() => 'x'.repeat(60_000)) } })
    const id = await waiting({ prompt: 'Go?', show: ['build.text'] })
    for (let i = 0; i < 19; i += 1) await waiting({ prompt: 'Go?', show: ['build.text'] })
    const { approvals } = await list({ limit: '20' })
    expect(approvals).toHaveLength(20)
    const whole = approvals.filter(({ shown }) => typeof shown['build.text'] === 'string')
    expect(whole.length).toBe(17)
    expect(approvals.at(-1)?.shown['build.text']).toMatchObject({ ref: expect.any(String), bytes: 60_002 })
    const [bare] = (await list({ values: 'refs', limit: '1' })).approvals
    expect(bare).toMatchObject({ run_id: id, shown: { 'build.text': { bytes: 60_002 } } })
  })

  test('a value that is lost is named, and hides nothing else', async () => {
    place = await openTestPlace({ providers: { probe } })
    const id = await waiting()
    const [before] = (await list()).approvals
    const { ref = '', sha256 = '' } = before?.shown_refs.text ?? {}
    expect(ref).toContain(sha256)
    await place.breakObjects(undefined, sha256)
    const [entry] = (await list()).approvals
    expect(entry).toMatchObject({ run_id: id, prompt: before?.prompt, shown: { text: { ref } } })
  })

  test('no answer has a task token in it', async () => {
    place = await openTestPlace({ providers: { probe } })
    const id = await waiting()
    const [entry] = (await list()).approvals
    const tokens = await place.place.world.runs.approvalTokens({ tenant: 'main', run_id: id }, entry?.approval_id ?? '')
    expect(tokens.length).toBe(1)
    const answers = JSON.stringify([await list(), await list({ status: 'all' }), await place.call('get-run', id)])
    for (const token of tokens) expect(answers).not.toContain(token)
  })
})
