import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { ServiceError } from '../../emulators/http-service.ts'
import { type LambdaEmulator, startLambda } from '../../emulators/lambda.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** `functions.NAME.local: aws`: the local place calls the function itself, here one of an emulator that speaks Lambda's wire. */
let lambda: LambdaEmulator
let place: TestPlace
/** What the function was called with, and by which key. */
const called: { readonly name: string; readonly event: unknown }[] = []
let answer: (event: never) => unknown = (event) => event
const arnOf = (name: string) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`

beforeAll(async () => {
  const resize = (event: unknown) => {
    called.push({ name: 'resize', event })
    return answer(event as never)
  }
  lambda = await startLambda({ functions: { resize } })
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', String(lambda.aws.endpoint))
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await lambda.close()
})
beforeEach(async () => {
  called.length = 0
  const functions = {
    resize: { arn: arnOf('resize'), local: 'aws' },
    gone: { arn: arnOf('gone'), local: 'aws' },
  }
  place = await openTestPlace({}, { functions })
})
afterEach(() => place.close())

const calling = (more: object = {}, name = 'resize') => ({
  name: 'calling',
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { answer: 'json' },
      deterministic: { handler: 'lambda', config: { function: name, payload: { width: 4 } } },
      ...more,
    },
  ],
})

async function ran(dag: object) {
  const id = await place.start(dag)
  return told(await place.ended(id))
}

function told(events: readonly RunEvent[]) {
  const failed = events.findLast(({ type }) => type === 'block:failed')
  const output = events.find(({ type }) => type === 'block:output')
  return {
    events,
    end: events.at(-1)?.type,
    failed: failed?.type === 'block:failed' ? failed.data : undefined,
    output: output?.type === 'block:output' ? output.data : undefined,
  }
}

const until = async (is: () => boolean) => {
  while (!is()) await pause(20)
}

describe('a function that the local place calls itself', () => {
  test('gets the payload of the document, and its answer is the output', async () => {
    answer = ({ width }: { readonly width: number }) => ({ answer: width * 2 })
    const { end, output } = await ran(calling())
    expect([end, output]).toMatchObject(['run:completed', { provider: 'aws', model: 'lambda|resize' }])
    expect(called).toEqual([{ name: 'resize', event: { width: 4 } }])
  })

  test('fails its block with what it threw, without what looks like a secret', async () => {
    answer = () => {
      throw new TypeError('too wide, password: hunter2hunter2')
    }
    const { failed, events } = await ran(calling())
    expect([failed?.code, failed?.reason]).toEqual(['call_failed', expect.stringMatching(/TypeError.*too wide/)])
    expect(JSON.stringify(events)).not.toContain('hunter2')
  })

  test('that is not there is refused in words, and not called again', async () => {
    const { failed, events } = await ran(calling({ retry: { max_attempts: 3, delay_ms: 0 } }, 'gone'))
    expect([failed?.code, failed?.reason]).toEqual([
      'call_refused',
      expect.stringContaining('Lambda.ResourceNotFoundException'),
    ])
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(1)
  })

  test('may take as long as its block does, and is called once', { tags: ['thorough'] }, async () => {
    answer = async () => {
      await pause(9_000)
      return { answer: 'late' }
    }
    const { end } = await ran(calling())
    expect([end, called.length]).toEqual(['run:completed', 1])
  })

  test('is called again where Lambda had no room for the call', async () => {
    answer = () => {
      if (called.length === 1) throw new ServiceError('TooManyRequestsException', 'Rate Exceeded.', 429)
      return { answer: called.length }
    }
    const { end, events } = await ran(calling())
    expect([end, called.length]).toEqual(['run:completed', 2])
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(1)
  })

  test('whose answer is larger than a state may have fails its block with the reason', async () => {
    answer = () => ({ answer: 'x'.repeat(1_048_576) })
    const { failed } = await ran(calling())
    expect([failed?.code, failed?.reason]).toEqual(['call_answer_too_large', expect.stringContaining('256 KiB')])
  })

  test('is waited for no longer when its run is stopped', async () => {
    const hold = Promise.withResolvers<unknown>()
    answer = () => hold.promise
    const id = await place.start(calling())
    await until(() => called.length === 1)
    await place.call('stop-run', id, {})
    expect(told(await place.ended(id)).end).toBe('run:cancelled')
    hold.resolve({ answer: 'nobody hears it' })
  })

  test('that was under way when the place died is called again for the next attempt, which is no try', async () => {
    const hold = Promise.withResolvers<unknown>()
    answer = () => (called.length === 1 ? hold.promise : { answer: called.length })
    const id = await place.start(calling())
    await until(() => called.length === 1)
    await place.kill()
    const { end, events } = told(await place.ended(id))
    hold.resolve({})
    expect(end).toBe('run:completed')
    expect(events.flatMap(({ type, data }) => (type === 'block:retrying' ? [data.code] : []))).toEqual(['ATTEMPT_LOST'])
    expect(called).toHaveLength(2)
  })
})
