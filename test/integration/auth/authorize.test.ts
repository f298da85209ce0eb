import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

let at: LoginPlace
beforeAll(async () => {
  at = await openLoginPlace({ mode: 'token' })
})
afterAll(() => at.close())

const METHOD = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/dev/POST/api/dag/run'
const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/dev/*'

/** As API Gateway asks an authorizer of type TOKEN. */
const ask = (authorizationToken: string, methodArn = METHOD) =>
  at.place.invoke('authorize', { type: 'TOKEN', authorizationToken, methodArn })

const policy = (Effect: string) => ({
  Version: '2012-10-17',
  Statement: [{ Action: 'execute-api:Invoke', Effect, Resource: STAGE }],
})

test('a right token may call the stage: who it is comes along as texts', async () => {
  const { token, token_id } = await at.create({ name: 'ci', scopes: ['runs:read', 'runs:write'] })
  const expected = {
    principalId: `token:${token_id}`,
    policyDocument: policy('Allow'),
    context: {
      kind: 'token',
      id: token_id,
      tenant: 'main',
      scopes: 'runs:read runs:write',
      person: expect.stringMatching(/^user:/),
      via: 'token',
    },
  }
  expect(await ask(`Bearer ${token}`)).toEqual(expected)
  expect(await ask(`bearer ${token}`)).toEqual(expected)
  // Whatever it is asked about first: the answer is kept for the others.
  expect(await ask(`Bearer ${token}`, METHOD.replace('POST/api/dag/run', 'GET/'))).toEqual(expected)
  expect(JSON.stringify(expected)).not.toContain(token.slice(-32))
})

test.each([
  ['nothing', ''],
  ['no scheme', `slu_${'0'.repeat(16)}_${'0'.repeat(32)}`],
  ['an unknown id', `Bearer slu_${'0'.repeat(16)}_${'0'.repeat(32)}`],
  ['no token', 'Bearer x'],
  ['one with a line end', `Bearer slu_${'0'.repeat(16)}_${'0'.repeat(32)}\n`],
  ['one of 9,000 characters', `Bearer ${'a'.repeat(9_000)}`],
])('%s is denied everywhere, and nobody', async (_what, authorization) => {
  expect(await ask(authorization)).toEqual({ principalId: 'nobody', policyDocument: policy('Deny') })
})

test('revoked, it is denied', async () => {
  const { token, token_id } = await at.create({ name: 'ci', scopes: ['runs:read'] })
  await at.send('DELETE', `/api/tokens/${token_id}`, `Bearer ${at.firstToken()}`)
  expect(await ask(`Bearer ${token}`)).toMatchObject({ principalId: 'nobody', policyDocument: policy('Deny') })
})

test('what is no question of API Gateway is refused', async () => {
  await expect(at.place.invoke('authorize', { httpMethod: 'GET' })).rejects.toThrow()
})
