import { describe, expect, test } from 'vitest'
import { functionArn, requiredVariable } from '../../../functions/aws/core.ts'
import { readEnvironment } from '../../../functions/aws/entry.ts'

const ENV = { STAGE: 'dev', AWS_REGION: 'eu-central-1' }
const ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:sluice-dev-run-block'

describe('readAwsSettings()', () => {
  test('reads what a function was given and leaves the rest of the environment alone', () => {
    const settings = readEnvironment({ ...ENV, TABLE: 'sluice-dev', RUN_BLOCK_ARN: ARN, PATH: '/bin' })
    expect(requiredVariable(settings, 'TABLE')).toBe('sluice-dev')
    expect(functionArn(settings, 'run-block')).toBe(ARN)
    expect(settings).not.toHaveProperty('PATH')
  })

  test.each<[string, NodeJS.ProcessEnv]>([
    ['STAGE', { AWS_REGION: 'eu-central-1' }],
    ['STAGE', { ...ENV, STAGE: 'Dev stage' }],
    ['AWS_REGION', { STAGE: 'dev' }],
    ['TABLE', { ...ENV, TABLE: '' }],
    ['STATE_MACHINE_ROLE_ARN', { ...ENV, STATE_MACHINE_ROLE_ARN: 'role' }],
    ['RUN_BLOCK_ARN', { ...ENV, RUN_BLOCK_ARN: 'sluice-dev-run-block' }],
    ['SLUICE_LOG', { ...ENV, SLUICE_LOG: 'loud' }],
  ])('says that %s is wrong, not what is in it', (name, env) => {
    const message = new RegExp(`environment value ${name} must be`)
    expect(() => readEnvironment(env)).toThrow(message)
    expect(() => readEnvironment(env)).not.toThrow(/no-arn|loud|Dev stage/)
  })

  test('a value that is needed and missing is named', () => {
    const settings = readEnvironment(ENV)
    expect(() => requiredVariable(settings, 'BUCKET')).toThrow(/environment value BUCKET is missing/)
    expect(() => functionArn(settings, 'send-outbox')).toThrow(/environment value SEND_OUTBOX_ARN is missing/)
  })
})
