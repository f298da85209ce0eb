import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { lambdaEntry, openWorld, streamEntry } from '../../../functions/aws/entry.ts'
import { openInputs } from '../../../functions/aws/ports-without-sdk.ts'
import { functionHandler, type Handler, type HostContext } from '../../../functions/handler.ts'
import { Fault, MachineSignal } from '../../../shared/errors.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { installLambdaRuntime } from '../../emulators/lambda-runtime.ts'

const ENV = { STAGE: 'test', AWS_REGION: REGION, SLUICE_LOG: 'error' }

/** What the function left with. */
const thrownBy = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  )
const lambdaContext = (ms = 30_000) => {
  const end = Date.now() + ms
  return { awsRequestId: 'req-1', getRemainingTimeInMillis: () => end - Date.now() }
}
const httpEvent = (more: object = {}) => ({
  httpMethod: 'GET',
  path: '/api/health',
  headers: null,
  pathParameters: null,
  queryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  requestContext: {
    accountId: ACCOUNT,
    identity: { userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/Deployer/session` },
  },
  ...more,
})
const entry = (handler: Handler, ports = {}) => lambdaEntry({ name: 'test', handler, ports }, ENV)
/** A handler of ours that fails with `error`, in the wrapper of the functions a machine calls. */
const failing = (error: unknown) =>
  functionHandler({ name: 'test', input: z.object({}), run: () => Promise.reject(error) })

describe('lambdaEntry()', () => {
  test.each(['RetryBlock', 'AskPerson'] as const)('%s leaves with its message and nothing else', async (name) => {
    const seen = await thrownBy(entry(failing(new MachineSignal(name, { s: 3 })))({}, lambdaContext()))
    expect([seen.name, seen.message, seen.stack]).toEqual([name, '{"s":3}', ''])
    // What Lambda's runtime makes of it is what the machine's Catch parses.
    const cause = JSON.stringify({
      errorType: seen.name,
      errorMessage: seen.message,
      trace: (seen.stack ?? '').split('\n'),
    })
    expect(JSON.parse(JSON.parse(cause).errorMessage)).toEqual({ s: 3 })
  })

  test('a Fault leaves under its name, without a stack and without secrets', async () => {
    const fault = new Fault('Unavailable', 'x', 'no answer to Bearer abcdefghijklm')
    const seen = await thrownBy(entry(failing(fault))({}, lambdaContext()))
    expect([seen.name, seen.message, seen.stack]).toEqual(['Unavailable', 'no answer to [redacted]', ''])
  })

  test('something thrown that is no Error is one', async () => {
    const seen = await thrownBy(entry(() => Promise.reject('text'))({}, lambdaContext()))
    expect([seen.name, seen.message]).toEqual(['Error', 'text'])
  })

  test('the signal aborts 1.5 s before the time is up', async () => {
    const waiting: Handler = (_event, { signal }) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve(String(signal.reason))))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let answer = ''
    void entry(waiting)({}, lambdaContext(30_000)).then((told) => {
      answer = String(told)
    })
    await vi.advanceTimersByTimeAsync(28_499)
    expect(answer).toBe('')
    await vi.advanceTimersByTimeAsync(1)
    expect(answer).toContain('time of this invocation')
  })

  test('a route knows its caller and answers as API Gateway takes it', async () => {
    const who: Handler = async (_event, context) => ({
      statusCode: 200,
      headers: {},
      body: JSON.stringify((context as HostContext & { principal?: unknown }).principal ?? 'nobody'),
      isBase64Encoded: false,
    })
    const answer = (await entry(who)(httpEvent(), lambdaContext())) as { body: string }
    expect(JSON.parse(answer.body)).toMatchObject({ kind: 'iam', id: 'Deployer', tenant: 'main' })
    const nobody = (await entry(who)(httpEvent({ requestContext: {} }), lambdaContext())) as { body: string }
    expect(nobody.body).toBe('"nobody"')
  })

  test('the payload of a machine has no caller, whatever it says', async () => {
    const who: Handler = async (_event, context) => ('principal' in context ? 'somebody' : 'nobody')
    const { requestContext } = httpEvent()
    expect(await entry(who)({ requestContext }, lambdaContext())).toBe('nobody')
  })

  test('a port that the catalog line does not list is refused by name; a listed one is there', async () => {
    const reads: Handler = async (_event, { world }) => world.inputs.read('main', 'x')
    const listed = await thrownBy(entry(reads, { inputs: openInputs })({}, lambdaContext()))
    expect(listed).toMatchObject({ name: 'Rejected' })
    const missing = await thrownBy(entry(reads)({}, lambdaContext()))
    expect(missing).toMatchObject({ name: 'Bug', message: expect.stringContaining('port "inputs"') })
  })

  test('a wrong environment or sluice.yaml stops the function before its first call', () => {
    const parts = { name: 'test', handler: failing(new Error('x')), ports: {} }
    expect(() => lambdaEntry(parts, { STAGE: 'test' })).toThrow(/AWS_REGION/)
    expect(() => lambdaEntry({ ...parts, settings: { safety: { max_attempts: 0 } } }, ENV)).toThrow(
      /safety.max_attempts/,
    )
    const world = openWorld({ name: 'test', ports: {}, settings: { safety: { max_attempts: 7 } } }, ENV)
    expect(world.settings.safety.max_attempts).toBe(7)
  })
})

describe('streamEntry()', () => {
  const runtime = installLambdaRuntime()
  const stream = (body: string | AsyncIterable<string>, statusCode = 200) =>
    streamEntry({ name: 'test', ports: {}, handler: async () => ({ statusCode, headers: { a: 'b' }, body }) }, ENV)
  const textOf = async (chunks: AsyncIterable<string>) => {
    let text = ''
    for await (const chunk of chunks) text += chunk
    return text
  }

  test('sends the head first, then each part as it comes', async () => {
    const gate = Promise.withResolvers<void>()
    const parts = async function* () {
      yield 'one '
      await gate.promise
      yield 'two'
    }
    const { statusCode, headers, chunks } = await runtime.call(stream(parts()), httpEvent(), lambdaContext())
    expect([statusCode, headers]).toEqual([200, { a: 'b' }])
    const text = textOf(chunks)
    gate.resolve()
    expect(await text).toBe('one two')
  })

  test('an answer without a stream, even an empty one, goes the same way', async () => {
    const problem = await runtime.call(stream('{"status":404}', 404), httpEvent(), lambdaContext())
    expect([problem.statusCode, await textOf(problem.chunks)]).toEqual([404, '{"status":404}'])
    const empty = await runtime.call(stream('', 204), httpEvent(), lambdaContext())
    expect([empty.statusCode, await textOf(empty.chunks)]).toEqual([204, ''])
  })

  test('asks for nothing while the client does not read', async () => {
    let asked = 0
    const parts = async function* () {
      for (; asked < 200; asked += 1) yield 'x'.repeat(10_000)
    }
    const { chunks } = await runtime.call(stream(parts()), httpEvent(), lambdaContext())
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked).toBeLessThan(30)
    expect(await textOf(chunks)).toHaveLength(2_000_000)
  })

  test('ends quietly when the time is nearly over', async () => {
    const handler: Handler = async (_event, { signal }) => {
      const parts = async function* () {
        yield 'first'
        await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      }
      return { statusCode: 200, headers: {}, body: parts() }
    }
    const own = streamEntry({ name: 'test', ports: {}, handler }, ENV)
    const { chunks } = await runtime.call(own, httpEvent(), lambdaContext(1_600))
    expect(await textOf(chunks)).toBe('first')
  })

  test('a stream that breaks is an error of the function', async () => {
    const parts = async function* () {
      yield 'first'
      throw new Error('broken')
    }
    const { chunks } = await runtime.call(stream(parts()), httpEvent(), lambdaContext())
    await expect(textOf(chunks)).rejects.toThrow('broken')
  })
})
