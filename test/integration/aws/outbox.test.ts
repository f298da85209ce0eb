import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../../functions/aws/core.ts'
import { openOutbox } from '../../../functions/aws/function-calls.ts'
import { ServiceError } from '../../emulators/http-service.ts'
import { type EmulatedFunction, type LambdaEmulator, startLambda } from '../../emulators/lambda.ts'
import { awsSettings, lambdaArn } from './aws-settings.ts'

const RUN = { tenant: 'main', run_id: 'run_a' }

describe('the outbox on Lambda', () => {
  const services: LambdaEmulator[] = []
  const lines: Record<string, unknown>[] = []
  afterEach(async () => {
    lines.length = 0
    for (const service of services.splice(0)) await service.close()
  })
  const open = async (functions: Readonly<Record<string, EmulatedFunction>>) => {
    const service = await startLambda({ functions })
    services.push(service)
    const log = createLog({ level: 'info', facts: {}, write: (line) => lines.push(JSON.parse(line)) })
    const env = awsSettings({ SEND_OUTBOX_ARN: lambdaArn('send-outbox'), START_RUN_ARN: lambdaArn('start-run') })
    return { service, outbox: openOutbox({ env, log }, service.aws) }
  }

  test('nudge() and startRun() hand over the run and do not wait for what the function does', async () => {
    const seen: unknown[] = []
    const held = Promise.withResolvers<void>()
    const hold = async (name: string, event: unknown) => {
      await held.promise
      seen.push([name, event])
    }
    const { service, outbox } = await open({
      'sluice-test-send-outbox': (event) => hold('send-outbox', event),
      'sluice-test-start-run': (event) => hold('start-run', event),
    })
    await outbox.nudge({ ...RUN, more: 'not sent' } as typeof RUN)
    await outbox.startRun(RUN)
    expect(seen).toEqual([])
    held.resolve()
    await service.settled()
    expect(seen).toEqual([
      ['send-outbox', RUN],
      ['start-run', RUN],
    ])
  })

  test('a nudge nobody answers costs at most 300 ms and is no error', async () => {
    const { service, outbox } = await open({ 'sluice-test-send-outbox': () => null })
    service.fail('Invoke', 'hang')
    const limits = vi.spyOn(AbortSignal, 'timeout')
    const before = Date.now()
    await outbox.nudge(RUN)
    expect(Date.now() - before).toBeGreaterThanOrEqual(290)
    // Other files of this thread may still have limits of their own running.
    expect(limits.mock.calls).toContainEqual([300])
    limits.mockRestore()
    expect(lines).toMatchObject([{ level: 'info', message: 'nudge not delivered', run_id: 'run_a' }])
  })

  test.each(['AccessDeniedException', 'ResourceNotFoundException', 'ServiceException'])(
    'a nudge refused with %s is logged and ignored',
    async (type) => {
      const { service, outbox } = await open({ 'sluice-test-send-outbox': () => null })
      service.fail('Invoke', new ServiceError(type, 'arn:aws:lambda:x', type === 'ServiceException' ? 500 : 403), 3)
      await outbox.nudge(RUN)
      expect(lines).toHaveLength(1)
      expect(JSON.stringify(lines)).not.toContain('arn:')
    },
  )

  test('a nudge without the ARN of its function is logged, naming the value', async () => {
    const log = createLog({ level: 'info', facts: {}, write: (line) => lines.push(JSON.parse(line)) })
    await openOutbox({ env: awsSettings({}), log }, { region: 'eu-central-1' }).nudge(RUN)
    expect(lines).toMatchObject([{ code: 'setting_missing', setting: 'SEND_OUTBOX_ARN' }])
  })

  test('a start that could not be handed over is thrown', async () => {
    const { service, outbox } = await open({ 'sluice-test-start-run': () => null })
    service.fail('Invoke', new ServiceError('TooManyRequestsException', '', 429), 3)
    await expect(outbox.startRun(RUN)).rejects.toMatchObject({ name: 'Unavailable', code: 'aws_throttled' })
    service.fail('Invoke', 'drop')
    // A cut connection is tried again by the client.
    await outbox.startRun(RUN)
  })
})
