import { afterEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { lambdaEntry } from '../../../functions/aws/entry.ts'
import { functionHandler } from '../../../functions/handler.ts'
import { MachineInputSchema } from '../../../functions/record/pinned-run.ts'
import { Fault } from '../../../shared/errors.ts'
import { runTraceId } from '../../../shared/telemetry/span-ids.ts'
import { REGION } from '../../emulators/aws-client.ts'
import { provider } from '../test-place.ts'
import { openTracedPlace } from './place.ts'

/** What each line of a function says besides its message, in both places. */
const RUN = `run_${'a'.repeat(26)}`
const XRAY = '1-5759e988-bd862e3fe1be46a994272793'

describe('on AWS', () => {
  afterEach(() => vi.unstubAllEnvs())

  /** The lines of one invocation of a function that logs, notes its attempt, and fails. */
  async function lines(event: object, xray?: string) {
    const handler = functionHandler({
      name: 'run-block',
      input: z.looseObject({ in: MachineInputSchema }),
      async run(_event, { log }) {
        log.info('first')
        log.note?.({ attempt: 2, epoch: 1 })
        log.info('second', { block: 'of its own' })
        throw new Fault('Bug', 'x', 'broken')
      },
    })
    const call = lambdaEntry({ name: 'run-block', handler, ports: {} }, { STAGE: 'dev', AWS_REGION: REGION })
    vi.stubEnv('_X_AMZN_TRACE_ID', xray)
    const written: string[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text))
      return true
    })
    await call(event, { awsRequestId: 'req-1', getRemainingTimeInMillis: () => 30_000 }).catch(() => undefined)
    write.mockRestore()
    return written.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text))
  }
  const event = { in: { v: 1, tenant: 'main', run_id: RUN }, block: 'draft', item: 3 }

  test('stage, function, request, X-Ray trace, run, block and item; attempt and epoch once they are known', async () => {
    const [first, second, ...rest] = await lines(event, `Root=${XRAY};Parent=53995c3f42cd8ad8;Sampled=1`)
    const named = { stage: 'dev', function: 'run-block', request_id: 'req-1', xray_trace_id: XRAY, run_id: RUN }
    expect(first).toEqual({
      at: expect.any(String),
      level: 'info',
      message: 'first',
      ...named,
      block: 'draft',
      item: 3,
    })
    expect(second).toMatchObject({ ...named, block: 'of its own', item: 3, attempt: 2, epoch: 1 })
    expect(rest.map(({ message }) => message)).toEqual(['function failed', 'function left with'])
    for (const line of rest) expect(line).toMatchObject({ ...named, block: 'draft', attempt: 2, epoch: 1 })
  })

  test('without a trace, or with one that is none, there is none', async () => {
    for (const xray of [undefined, '', 'Root=1-2-3', `Root=${XRAY.replace('5', 'Z')};Parent=x`]) {
      for (const line of await lines(event, xray)) expect(line).not.toHaveProperty('xray_trace_id')
    }
  })

  test('what an invocation noted is not said by the next one', async () => {
    await lines(event)
    const [first] = await lines({ in: { ...event.in, run_id: RUN.replaceAll('a', 'b') } })
    expect(first).not.toHaveProperty('attempt')
    expect(first).not.toHaveProperty('block')
  })
})

test('in the local place: function, request, run, trace, block, attempt and epoch', async () => {
  const broken = provider(() => Promise.reject(new Error('not a fault')))
  const traced = await openTracedPlace({ providers: { broken } })
  try {
    const agent = { provider: 'broken', model: 'm', prompt: 'x' }
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 1 }
    const dag = { name: 'logs', blocks: [{ id: 'a', outputs: { text: { type: 'string' } }, agent, retry }] }
    const id = await traced.place.start(dag)
    await traced.place.ended(id)
    const lines = traced.logged.map((line) => JSON.parse(line))
    const failed = lines.filter(({ message }) => message === 'block failed unexpectedly')
    const [first] = failed
    expect(first).toMatchObject({
      function: 'run-block',
      request_id: expect.stringMatching(/^[0-9a-f]{16}-\d+$/),
      run_id: id,
      trace_id: runTraceId(id),
      block: 'a',
      attempt: 1,
      epoch: 0,
    })
    const started = lines.find(({ message }) => message === 'run started')
    expect(started).toMatchObject({ function: 'start-run', run_id: id })
    expect(started.request_id).not.toBe(first.request_id)
  } finally {
    await traced.close()
  }
})
