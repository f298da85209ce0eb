import { describe, expect, test } from 'vitest'
import { readPrincipal } from '../../../functions/aws/entry.ts'
import { authorizerAnswer } from '../../../shared/auth/authorizer.ts'
import { principalName } from '../../../shared/auth/principal.ts'

const OWN = '123456789012'
const event = (userArn: unknown, accountId: unknown = OWN) => ({
  httpMethod: 'GET',
  headers: { 'x-principal': 'user:ana' },
  body: '{"principal": "user:ana"}',
  requestContext: { accountId, identity: { userArn } },
})

describe('principalOf()', () => {
  test.each([
    [`arn:aws:sts::${OWN}:assumed-role/Deployer/ana@example.com`, 'iam:Deployer'],
    [`arn:aws:sts::${OWN}:assumed-role/Deployer/somebody-else`, 'iam:Deployer'],
    [`arn:aws-us-gov:sts::${OWN}:assumed-role/Deployer/s`, 'iam:Deployer'],
    [`arn:aws:iam::${OWN}:user/division/ana`, 'iam:user/ana'],
    [`arn:aws:sts::${OWN}:federated-user/ana`, 'iam:federated-user/ana'],
    [`arn:aws:iam::${OWN}:root`, 'iam:root'],
    ['arn:aws:sts::999999999999:assumed-role/Deployer/s', 'iam:999999999999/Deployer'],
  ])('%s is %s', (arn, name) => {
    const principal = readPrincipal(event(arn))
    expect(principal && principalName(principal)).toBe(name)
    expect(principal?.tenant).toBe('main')
  })

  test('an IAM principal is of the tenant its name is given, and of no other by a name that is like it', () => {
    const tenants = { Deployer: 'acme', 'user/ana': 'globex', '999999999999/Runner': 'acme' }
    const tenantOf = (arn: string) => readPrincipal(event(arn), tenants)?.tenant
    expect(tenantOf(`arn:aws:sts::${OWN}:assumed-role/Deployer/s`)).toBe('acme')
    expect(tenantOf(`arn:aws:iam::${OWN}:user/division/ana`)).toBe('globex')
    expect(tenantOf('arn:aws:sts::999999999999:assumed-role/Runner/s')).toBe('acme')
    const others = ['999999999999:assumed-role/Deployer/s', `${OWN}:assumed-role/Runner/s`, `${OWN}:assumed-role/ana/s`]
    for (const rest of [...others, `${OWN}:assumed-role/constructor/s`])
      expect(tenantOf(`arn:aws:sts::${rest}`)).toBe('main')
  })

  test('a session names its person where the settings vouch for the role, and nowhere else', () => {
    const personOf = (rest: string) =>
      readPrincipal(event(`arn:aws:sts::${rest}`), {}, ['AWSReservedSSO_*', 'Releaser'])?.person
    expect(personOf(`${OWN}:assumed-role/AWSReservedSSO_Dev_1a2b/ana@example.com`)).toBe('user:ana@example.com')
    expect(personOf(`${OWN}:assumed-role/Releaser/bo`)).toBe('user:bo')
    const others = [
      `${OWN}:assumed-role/Releaser2/bo`,
      `${OWN}:assumed-role/Ci/bo`,
      '999999999999:assumed-role/Releaser/bo',
    ]
    for (const rest of others) expect(personOf(rest)).toBeUndefined()
  })

  const authorized = (authorizer: unknown) => ({ ...event(null), requestContext: { accountId: OWN, authorizer } })
  const context = { kind: 'token', id: '0123456789abcdef', tenant: 'main', scopes: 'runs:read admin:stop runs:fly' }

  test('an authorizer names a token, or a user, with the scopes there are', () => {
    // What API Gateway adds of its own.
    const more = { principalId: 'user:bob', integrationLatency: 12 }
    const scopes = ['runs:read', 'admin:stop']
    expect(readPrincipal(authorized({ ...context, ...more }))).toEqual({ ...context, scopes })
    expect(readPrincipal(authorized({ ...context, kind: 'user', scopes: '' }))).toMatchObject({
      kind: 'user',
      scopes: [],
    })
  })

  test('what an authorizer answers is read back as it was', () => {
    const scopes = ['runs:read', 'admin:tokens']
    const principal = { kind: 'token', id: 'a', tenant: 'other', scopes } as const
    expect(readPrincipal(authorized(authorizerAnswer(principal, 'arn:1/dev/GET/api').context))).toEqual(principal)
  })

  test.each([
    ['no tenant', authorized({ ...context, tenant: undefined })],
    ['an empty id', authorized({ ...context, id: '' })],
    ['a kind that only IAM has', authorized({ ...context, kind: 'iam' })],
    ['no ARN', event(null)],
    ['something else', event('ana')],
    ['a role without a name', event(`arn:aws:sts::${OWN}:assumed-role`)],
    ['another kind', event(`arn:aws:iam::${OWN}:group/admins`)],
    ['no context', { httpMethod: 'GET' }],
    ['nothing', undefined],
  ])('nobody: %s', (_title, given) => {
    expect(readPrincipal(given)).toBeUndefined()
  })
})
