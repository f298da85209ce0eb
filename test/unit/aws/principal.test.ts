import { describe, expect, test } from 'vitest'
import { principalOf } from '../../../functions/aws/principal.ts'
import { principalName } from '../../../shared/principal.ts'

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
    const principal = principalOf(event(arn))
    expect(principal && principalName(principal)).toBe(name)
    expect(principal?.tenant).toBe('main')
  })

  test.each([
    ['no ARN', event(null)],
    ['something else', event('ana')],
    ['a role without a name', event(`arn:aws:sts::${OWN}:assumed-role`)],
    ['another kind', event(`arn:aws:iam::${OWN}:group/admins`)],
    ['no context', { httpMethod: 'GET' }],
    ['nothing', undefined],
  ])('nobody: %s', (_title, given) => {
    expect(principalOf(given)).toBeUndefined()
  })
})
