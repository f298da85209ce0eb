import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

/** Votes are people's: however many tokens somebody makes, they are one voter, and what they say of themselves is no proof. */
let at: LoginPlace
let first = ''
beforeAll(async () => {
  at = await openLoginPlace({ mode: 'token' })
  first = `Bearer ${at.firstToken()}`
})
afterAll(() => at.close())

const asking = (approval: object) => ({
  name: 'asking',
  blocks: [
    {
      id: 'go',
      mode: 'deterministic',
      outputs: { text: 'string' },
      deterministic: { handler: 'transform', config: { expression: '"x"' } },
      approval: { prompt: 'Go?', ...approval },
    },
  ],
})

const SCOPES = ['runs:read', 'runs:write', 'approvals:decide']

async function minted(name: string, more: object = {}): Promise<string> {
  return `Bearer ${(await at.create({ name, scopes: SCOPES, ...more })).token}`
}

/** A run by that credential, once it asks. */
async function asked(
  credential: string,
  approval: object,
): Promise<{ readonly run_id: string; readonly body: object }> {
  const started = await at.send('POST', '/api/dag/run', credential, { dag: asking(approval) })
  expect(started.status, started.text).toBe(201)
  const run_id = String(started.json.run_id)
  for (let tries = 0; tries < 200; tries += 1) {
    const { json } = await at.send('GET', `/api/dag/runs/${run_id}`, credential)
    const [question] = json.approvals as unknown as readonly { approval_id: string; digest: string }[]
    if (question !== undefined) {
      const { approval_id, digest } = question
      return { run_id, body: { approval_id, digest, decision: 'approve' } }
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('nobody was asked')
}

const decide = (run_id: string, credential: string, body: object) =>
  at.send('POST', `/api/dag/runs/${run_id}/approvals`, credential, body)

describe('persons', () => {
  test('two tokens that one person made are no quorum', async () => {
    const { run_id, body } = await asked(first, { quorum: 2 })
    const one = await decide(run_id, await minted('one'), body)
    expect(one.json).toMatchObject({
      approval: { status: 'pending', votes: [{ person: expect.stringMatching(/^user:/) }] },
    })
    const two = await decide(run_id, await minted('two'), body)
    expect([two.status, two.json.code]).toEqual([409, 'already_voted'])
    const again = await decide(run_id, first, body)
    expect([again.status, again.json.code]).toEqual([409, 'already_voted'])
  })

  test('a token made by a token is of the same person', async () => {
    const maker = await minted('maker', { scopes: [...SCOPES, 'admin:tokens'] })
    const made = await at.send('POST', '/api/tokens', maker, { name: 'grandchild', scopes: SCOPES })
    const { run_id, body } = await asked(first, { quorum: 2 })
    expect((await decide(run_id, first, body)).status).toBe(200)
    expect((await decide(run_id, `Bearer ${made.json.token}`, body)).json.code).toBe('already_voted')
  })

  test('nobody names somebody else with a bearer of their own', async () => {
    const body = { name: 'bo', scopes: SCOPES, person: 'user:bo' }
    const refused = await at.send('POST', '/api/tokens', first, body)
    expect([refused.status, refused.json.code]).toEqual([403, 'person_not_held'])
  })

  test('an operator makes tokens of other people, who are voters of their own', async () => {
    const { world } = at.place
    const { issueToken } = await import('../../../functions/auth/create-token.ts')
    const wanted = { tenant: 'main', name: 'bo', scopes: ['approvals:decide'] as const, days: 1, by: 'user:op' }
    const { text } = await issueToken(world, { ...wanted, person: 'user:bo', client: undefined })
    const { run_id, body } = await asked(first, { quorum: 2 })
    expect((await decide(run_id, first, body)).status).toBe(200)
    expect((await decide(run_id, `Bearer ${text}`, body)).json).toMatchObject({ approval: { status: 'approved' } })
  })

  test('who starts a run with one token does not approve it with another where that is forbidden', async () => {
    const { run_id, body } = await asked(await minted('starter'), { self_approval: false })
    const refused = await decide(run_id, await minted('other'), body)
    expect([refused.status, refused.json.code]).toEqual([403, 'self_approval'])
  })

  test('the person is an approver by name, whichever token they come with', async () => {
    const whoever = at.firstToken().slice(4, 20)
    const { json } = await at.send('GET', '/api/tokens', first)
    const tokens = json.tokens as unknown as readonly { token_id: string; person: string }[]
    const person = tokens.find(({ token_id }) => token_id === whoever)?.person ?? ''
    const { run_id, body } = await asked(first, { approvers: [person] })
    expect((await decide(run_id, await minted('mine'), body)).json).toMatchObject({ approval: { status: 'approved' } })
  })
})

describe('via', () => {
  test('is what the place saw, and what a client says of itself stands beside it', async () => {
    const { run_id, body } = await asked(first, {})
    const path = `${at.url}/api/dag/runs/${run_id}/approvals`
    const headers = { 'content-type': 'application/json', authorization: first }
    const said = { 'x-sluice-via': 'slack', 'x-sluice-client': 'cli --yes' }
    const response = await fetch(path, { method: 'POST', headers: { ...headers, ...said }, body: JSON.stringify(body) })
    expect(await response.json()).toMatchObject({ approval: { via: 'token', declared: { client: 'cli', yes: true } } })
  })

  test('is mcp for a token that was made for an MCP client', async () => {
    const { run_id, body } = await asked(first, {})
    const answer = await decide(run_id, await minted('agent', { client: 'mcp' }), body)
    expect(answer.json).toMatchObject({ approval: { status: 'approved', via: 'mcp' } })
  })
})
