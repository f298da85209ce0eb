import { afterEach, describe, expect, test } from 'vitest'
import { openSecrets } from '../../../functions/aws/secrets.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { type HttpService, ServiceError } from '../../emulators/http-service.ts'
import { startSecrets } from '../../emulators/secrets.ts'

const PARAMETER = `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter/sluice/openai`
const SECRET = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sluice/slack-AbCdEf`

describe('secrets', () => {
  const services: HttpService[] = []
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })
  const open = async () => {
    const values: Record<string, string> = { [PARAMETER]: 'key-1', [SECRET]: 'key-2' }
    const service = await startSecrets(values)
    services.push(service)
    const clock = createVirtualClock()
    return { service, values, clock, secrets: openSecrets({ clock }, service.aws) }
  }

  test('are read by ARN from Systems Manager (decrypted) and Secrets Manager', async () => {
    const { secrets } = await open()
    expect(await secrets.read({ secret: PARAMETER })).toBe('key-1')
    expect(await secrets.read({ secret: SECRET })).toBe('key-2')
  })

  test('are asked for once in 300 s, also by many at once', async () => {
    const { secrets, service, values, clock } = await open()
    await Promise.all(Array.from({ length: 10 }, () => secrets.read({ secret: SECRET })))
    values[SECRET] = 'rotated'
    await clock.advance(299_999)
    expect(await secrets.read({ secret: SECRET })).toBe('key-2')
    await clock.advance(1)
    expect(await secrets.read({ secret: SECRET })).toBe('rotated')
    expect(service.calls).toHaveLength(2)
  })

  test('a failed read is not kept', async () => {
    const { secrets, service } = await open()
    service.fail('GetSecretValue', new ServiceError('AccessDeniedException', `not authorized on ${SECRET}`))
    const seen = await secrets.read({ secret: SECRET }).catch((error) => error)
    expect(seen).toMatchObject({
      name: 'Bug',
      code: 'aws_access_denied',
      facts: { action: 'secretsmanager:GetSecretValue' },
    })
    expect(seen.message).not.toContain('arn:')
    expect(await secrets.read({ secret: SECRET })).toBe('key-2')
  })

  test('what is not there, and what is no ARN of a secret', async () => {
    const { secrets } = await open()
    for (const secret of [`${PARAMETER}x`, `${SECRET}x`]) {
      const seen = await secrets.read({ secret }).catch((error) => error)
      expect(seen).toMatchObject({ name: 'NotFound', code: 'secret_missing' })
      expect(seen.message).not.toContain('parameter/')
    }
    for (const secret of ['', 'key-1', 'arn:aws:s3:::bucket']) {
      await expect(secrets.read({ secret })).rejects.toMatchObject({ name: 'InvalidInput', code: 'bad_secret_ref' })
    }
  })
})
