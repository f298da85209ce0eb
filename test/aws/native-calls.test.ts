import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StateError } from '../../infra/local/asl/state-error.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Json } from '../../shared/text/json.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Blocks whose work AWS does itself, on the synthesized application: the role of its machines may make exactly their calls. */
const ACCOUNT = '000000000000'
const REGION = 'eu-central-1'
const block = (id: string, handler: string, config: object, more: object = {}) => ({
  id,
  mode: 'deterministic',
  outputs: { answer: 'json' },
  deterministic: { handler, config },
  ...more,
})
const SEND = { call: 'sqs:sendMessage', resource: 'tickets', parameters: { MessageBody: '{{inputs.text}}' } }
const RETRY = { retry: { max_attempts: 2, delay_ms: 0 } }
const DOCUMENTS: Readonly<Record<string, object>> = {
  sending: { inputs: { text: 'string' }, blocks: [block('a', 'aws', SEND)] },
  resizing: {
    inputs: { width: 'number' },
    blocks: [
      block('a', 'lambda', { function: 'resize', payload: { width: '{{inputs.width}}' } }, RETRY),
      block(
        'b',
        'lambda',
        { function: 'resize', payload_expression: '{"width": inputs.w}' },
        {
          inputs: { w: { from: 'a.answer' } },
        },
      ),
    ],
  },
  each: {
    inputs: { texts: 'json' },
    blocks: [
      block(
        'a',
        'aws',
        { ...SEND, parameters: { MessageBody: '{{inputs.text}}' } },
        { foreach: { items: '{{inputs.texts}}', as: 'text' } },
      ),
    ],
  },
  parsing: {
    inputs: { text: 'string' },
    blocks: [
      block(
        'a',
        'container',
        { container: 'parser', command_args: ['--fast'] },
        {
          inputs: { text: 'string' },
          outputs: { words: 'number', list: 'file' },
          timeout_ms: 3_600_000,
        },
      ),
    ],
  },
  counting: {
    blocks: [
      block('a', 'lambda', { function: 'resize', payload: { count: true } }),
      block(
        'b',
        'lambda',
        { function: 'resize', payload: { count: true } },
        {
          inputs: { before: { from: 'a.answer' } },
          // The second call of the function, which the first pass makes, is sent back.
          post_gates: [{ name: 'late', check: { type: 'expr', expression: 'outputs.answer > 2' }, on_fail: 'route' }],
          on_gate_fail: [{ when_gate: 'late', route_to: 'a', reset_blocks: [], max_bounces: 2 }],
        },
      ),
    ],
  },
  large: {
    inputs: { size: 'number' },
    blocks: [block('a', 'lambda', { function: 'resize', payload: { size: '{{inputs.size}}' } }, RETRY)],
  },
  each_large: {
    inputs: { sizes: 'json' },
    blocks: [
      block(
        'a',
        'lambda',
        { function: 'resize', payload: { size: '{{inputs.size}}' } },
        { foreach: { items: '{{inputs.sizes}}', as: 'size' } },
      ),
    ],
  },
  endless: {
    blocks: [block('a', 'aws', { call: 'ecs:runTask.sync', resource: 'nightly' }, { timeout_ms: 2_592_000_000 })],
  },
  nightly: { blocks: [block('a', 'aws', { call: 'ecs:runTask.sync', resource: 'nightly' }, { timeout_ms: 1_000 })] },
}
const QUEUE = `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/tickets`
const CLUSTER = `arn:aws:ecs:${REGION}:${ACCOUNT}:cluster/main`
const KEY = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sluice/shop-AbCdEf`
const SETTINGS = {
  services: { shop: { url: 'https://shop.example/api', key: { secret: KEY } } },
  safety: { max_call_ms: 10_000 },
  functions: { resize: { arn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:resize` } },
  integrations: {
    'sqs:sendMessage': {
      resources: {
        tickets: { parameters: { QueueUrl: QUEUE } },
        other: { parameters: { QueueUrl: `${QUEUE}-other` } },
      },
    },
    'ecs:runTask.sync': {
      resources: {
        nightly: {
          parameters: { Cluster: CLUSTER, TaskDefinition: 'nightly' },
          pass_roles: [`arn:aws:iam::${ACCOUNT}:role/nightly-task`],
        },
      },
    },
  },
  containers: {
    parser: {
      image: 'acme/parser:1',
      command: ['parse'],
      env: { MODE: 'careful' },
      aws: { cluster: CLUSTER, subnets: ['subnet-0123456789abcdef0'], security_groups: ['sg-0123456789abcdef0'] },
      grants: [{ actions: ['s3:GetObject'], resources: ['arn:aws:s3:::corpus/all.txt'] }],
    },
  },
}

let project: string
let made: Synthesized
let place: Deployment
let caller: Caller
let s3: S3Client
let counted = 0
const tasks: { aborted: boolean; readonly given: Readonly<Record<string, Json>> }[] = []

/** What the task of a container does: `fetch`, the container itself, `publish`. */
async function runTask(given: Readonly<Record<string, Json>>, signal: AbortSignal): Promise<void> {
  const task = { given, aborted: false }
  tasks.push(task)
  if (given.TaskDefinition === 'nightly') {
    await new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => {
        task.aborted = true
        reject(new StateError('States.TaskFailed', 'stopped'))
      })
    })
  }
  const { TaskRoleArn: role, ContainerOverrides: [fetch] = [] } = given.Overrides as unknown as {
    readonly TaskRoleArn: string
    readonly ContainerOverrides: readonly {
      readonly Environment: readonly { readonly Name: string; readonly Value: string }[]
    }[]
  }
  const folder = fetch?.Environment.find(({ Name }) => Name === 'SLUICE_FOLDER')?.Value ?? ''
  const bucket = `sluice-dev-${ACCOUNT}-${REGION}`
  /** As the role it was started with: what that may not do fails the task. */
  const asRole = (action: string, key: string) => {
    const resource = `arn:aws:s3:::${bucket}/${key}`
    if (!place.allows(role, { action: `s3:${action}`, resource })) throw new Error(`${role} may not ${action} ${key}`)
    return key
  }
  const put = (key: string, text: string) => place.s3.put(asRole('PutObject', `${folder}/${key}`), Buffer.from(text))
  const { Body } = await s3.send(
    new GetObjectCommand({ Bucket: bucket, Key: asRole('GetObject', `${folder}/input.json`) }),
  )
  const { inputs } = JSON.parse((await Body?.transformToString()) ?? '{}')
  if (inputs.text === 'crash') {
    const cause = JSON.stringify({
      StoppedReason: 'Essential container in task exited',
      Containers: [{ Name: 'main', ExitCode: 3 }],
    })
    throw new StateError('States.TaskFailed', cause)
  }
  const words = String(inputs.text).split(' ')
  await put('artifacts/words.txt', words.join('\n'))
  await put('artifacts.txt', './words.txt\n./../escape\n')
  await put('output.json', JSON.stringify({ words: words.length, list: 'artifacts/words.txt' }))
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    const file = join(project, 'dags', `${name}.yaml`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ name, ...document }))
  }
  made = await synthesize({}, parseSettings(JSON.stringify(SETTINGS), 'sluice.yaml'), 'bundled', project)
  place = await deploy(made.out, { [KEY]: 'canary-of-the-shop' }, undefined, {
    invoke: async (name, payload) => {
      const {
        width = 0,
        size,
        count,
      } = payload as { readonly width?: number; readonly size?: number; readonly count?: boolean }
      if (count === true) return ++counted
      if (size !== undefined) return 'x'.repeat(size)
      if (width > 100)
        throw new StateError(
          'TypeError',
          JSON.stringify({ errorType: 'TypeError', errorMessage: 'too wide, token: slu_abcdefgh' }),
        )
      return name === 'resize' ? width * 2 : null
    },
    runTask,
    roles: {
      nightly: [`arn:aws:iam::${ACCOUNT}:role/nightly-task`],
      'sluice-dev-container-parser': [
        `arn:aws:iam::${ACCOUNT}:role/sluice-dev-begin-${sha256('parser').slice(0, 8)}-${REGION}`,
      ],
    },
  })
  s3 = new S3Client(place.s3.config)
  caller = callerOf(place.api.url)
}, 300_000)
afterAll(async () => {
  await place.close()
  s3.destroy()
  made.remove()
  rmSync(project, { recursive: true, force: true })
})

async function ran(name: string, inputs: object = {}) {
  const id = await caller.start({ name, inputs })
  const events = await caller.until(id, isEnd)
  const failed = events.findLast(({ type }) => type === 'block:failed')
  return { id, events, end: events.at(-1)?.type, failed: failed?.data }
}

async function outputs(id: string, of = 'a') {
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/outputs/${of}`)
  return json.outputs
}

describe('a machine', () => {
  test('sends to the queue of the settings, by a state of its own, and its block records the answer', async () => {
    const { end, id } = await ran('sending', { text: 'hello' })
    expect(end).toBe('run:completed')
    expect(place.calls.at(-1)).toEqual({
      resource: 'sqs:sendMessage',
      given: { MessageBody: 'hello', QueueUrl: QUEUE },
    })
    expect(await outputs(id)).toEqual({ answer: expect.objectContaining({ MD5OfMessageBody: 'x' }) })
  })

  test('invokes a function of the settings with the payload of the document, and the key of the attempt beside it', async () => {
    const { end, id } = await ran('resizing', { width: 4 })
    expect(end).toBe('run:completed')
    expect([await outputs(id), await outputs(id, 'b')]).toEqual([{ answer: 8 }, { answer: 16 }])
    const { ClientContext, ...given } = place.calls.at(-2)?.given ?? {}
    expect(given).toEqual({ FunctionName: SETTINGS.functions.resize.arn, Payload: { width: 4 } })
    const about = JSON.parse(Buffer.from(String(ClientContext), 'base64').toString('utf8'))
    expect(about).toEqual({ custom: { sluice: { key: `${id}/0/0/1/0`, attempt: 1 } } })
  })

  test('tells why a call failed, without what looks like a secret, and makes it again as the block says', async () => {
    const { end, failed, events } = await ran('resizing', { width: 400 })
    expect([end, failed]).toMatchObject([
      'run:failed',
      { code: 'call_failed', reason: expect.stringContaining('too wide') },
    ])
    expect(JSON.stringify(events)).not.toContain('slu_abcdefgh')
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(2)
    expect((await ran('sending', { text: 'refuse me' })).failed).toMatchObject({ code: 'call_failed' })
  })

  test('makes a call an item of a list', async () => {
    const { end, id } = await ran('each', { texts: ['x', 'y', 'z'] })
    expect(end).toBe('run:completed')
    expect(await outputs(id)).toMatchObject({ answer: [{}, {}, {}] })
    expect(
      place.calls
        .slice(-3)
        .map(({ given }) => given.MessageBody)
        .toSorted(),
    ).toEqual(['x', 'y', 'z'])
  })

  test('runs a container as a task of ECS, which finds its input in a folder of the bucket and leaves outputs and files', async () => {
    const { end, id, failed } = await ran('parsing', { text: 'one two three' })
    expect([end, failed]).toEqual(['run:completed', undefined])
    expect(await outputs(id)).toMatchObject({ words: 3, list: expect.stringMatching(/^objstore:/) })
    const { json } = await caller.call('GET', `/api/dag/runs/${id}/artifacts`)
    expect(JSON.stringify(json)).toContain('words.txt')
    expect(JSON.stringify(json)).not.toContain('escape')
    expect(tasks.at(-1)?.given).toMatchObject({
      Cluster: CLUSTER,
      TaskDefinition: 'sluice-dev-container-parser',
      NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'DISABLED' } },
      Overrides: {
        ContainerOverrides: [{ Name: 'fetch' }, { Name: 'main', Command: ['parse', '--fast'] }, { Name: 'publish' }],
      },
    })
    expect((await ran('parsing', { text: 'crash' })).failed).toMatchObject({
      code: 'call_failed',
      reason: expect.stringContaining('main ended with exit code 3'),
    })
  })

  test('makes the calls of a bounce module again with each pass, each with a key of its own', async () => {
    const { end, id, events } = await ran('counting')
    expect(end).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'block:rerouted')).toHaveLength(1)
    expect(await outputs(id, 'b')).toEqual({ answer: 4 })
    const keys = place.calls.slice(-4).map(({ given }) => {
      return JSON.parse(Buffer.from(String(given.ClientContext), 'base64').toString('utf8')).custom.sluice.key
    })
    expect(keys).toEqual([`${id}/0/0/1/0`, `${id}/1/0/1/0`, `${id}/0/1/1/0`, `${id}/1/1/1/0`])
  })

  // What fits into the answer of the call, but not into what records it, is too large all the same.
  test.each([1_048_576, 262_144 - 100, 262_144 - 200])(
    'tells of an answer of %d bytes, for which a state has no room',
    async (size) => {
      const { end, failed, events } = await ran('large', { size })
      expect([end, failed]).toMatchObject([
        'run:failed',
        { code: 'call_answer_too_large', reason: expect.stringContaining('256 KiB') },
      ])
      expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(1)
    },
  )

  test('takes an answer that has room, of items of a list as well', async () => {
    expect((await ran('large', { size: 200_000 })).end).toBe('run:completed')
    const { events, end } = await ran('each_large', { sizes: [10, 262_144 - 200] })
    const codes = events.flatMap(({ type, data }) => (type === 'block:failed' ? [data.code] : []))
    expect([end, codes]).toEqual(['run:failed', expect.arrayContaining(['call_answer_too_large'])])
  })

  test('ends a task at timeout_ms, which is a failure of the block', async () => {
    const { failed } = await ran('nightly')
    expect(failed).toMatchObject({ code: 'block_timeout' })
    expect(tasks.at(-1)).toMatchObject({ aborted: true })
  })

  test('ends a task at max_call_ms of the safety policy where its document allows more', async () => {
    const { failed } = await ran('endless')
    expect(failed).toMatchObject({ code: 'block_timeout', reason: expect.stringContaining('max_call_ms 10000') })
    expect(tasks.at(-1)).toMatchObject({ aborted: true })
  })

  test('ends a task with its run: what Step Functions waits for is stopped', async () => {
    const before = tasks.length
    const id = await caller.start({ name: 'endless', inputs: {} })
    while (tasks.length === before) await pause(20)
    expect((await caller.call('POST', `/api/dag/runs/${id}/stop`, { reason: 'enough' })).status).toBeLessThan(300)
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:cancelled')
    while (tasks.at(-1)?.aborted !== true) await pause(20)
  })

  test('ends a call in the record with its block alone; the machine goes on when it has ended', async () => {
    const before = tasks.length
    const id = await caller.start({ name: 'endless', inputs: {} })
    while (tasks.length === before) await pause(20)
    await caller.call('POST', `/api/dag/runs/${id}/stop`, { reason: 'enough', block_id: 'a' })
    const events = await caller.until(id, isEnd)
    expect(events.filter(({ type }) => type === 'block:cancelled')).toMatchObject([{ block_id: 'a' }])
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'block_cancelled', block_id: 'a' } })
  })

  test('gives nobody a secret: what looks like one, or is the key of a service, fails its block before the call', async () => {
    const before = place.calls.length
    const leaked = await ran('sending', { text: 'it is canary-of-the-shop' })
    expect(leaked.failed).toMatchObject({ code: 'secret_in_call' })
    expect((await ran('sending', { text: 'Bearer abcdefgh12345678' })).failed).toMatchObject({ code: 'secret_in_call' })
    expect(place.calls).toHaveLength(before)
    expect(JSON.stringify(leaked.failed)).not.toContain('canary')
  })

  test('may make no call that no deployed document makes: a document of a request is refused in words', async () => {
    const dag = { name: 'sneaky', blocks: [block('a', 'aws', { ...SEND, resource: 'other', parameters: {} })] }
    const { status, text } = await caller.call('POST', '/api/dag/run', { dag })
    expect([status, text]).toEqual([400, expect.stringContaining('no document of this deployment makes this call')])
    const same = { name: 'own', inputs: { text: 'string' }, blocks: [block('a', 'aws', SEND)] }
    const id = await caller.start({ dag: same, inputs: { text: 'inline' } })
    expect((await caller.until(id, isEnd)).at(-1)?.type).toBe('run:completed')
  })
})
