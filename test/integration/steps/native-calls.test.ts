import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { Json } from '../../../shared/text/json.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Whole runs of the local place whose blocks have AWS do the work: modules of the project stand in for it. */
let project: string
let place: TestPlace
/** Files the stand-ins write, to be seen by the tests. */
let seen: string

const STAND_IN = (body: string) => `
import { writeFileSync, existsSync, appendFileSync } from 'node:fs'
import { defineStep, Fail, Retry } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ call: z.string(), parameters: z.any() }),
  outputs: z.looseObject({}),
  async run({ inputs: { call, parameters }, key, attempt, signal, log, cost, artifacts }) { ${body} },
})`

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'sluice-native-'))
  seen = mkdtempSync(join(tmpdir(), 'sluice-seen-'))
  mkdirSync(join(project, 'steps'))
  const files: Readonly<Record<string, string>> = {
    'echo.ts': 'log.info(call); cost(0.25); return { call, parameters, key, attempt }',
    'resize.ts': 'return { width: parameters.width * 2, url: "https://x.test/" + parameters.name }',
    'fails.ts': "throw new Error('the account is locked: password: hunter2hunter2')",
    'again.ts': "if (attempt < 2) throw new Retry(0, 'busy'); return { attempt }",
    'slow.ts': `writeFileSync(${JSON.stringify(seen)} + '/' + parameters.name, 'begun ' + attempt)
      await new Promise((resolve, reject) => { setTimeout(resolve, attempt > 1 ? 1 : 60_000); signal.addEventListener('abort', () => reject(new Error('aborted'))) })
      return { attempt }`,
    'large.ts': "return { text: 'x'.repeat(1_048_576) }",
  }
  for (const [name, body] of Object.entries(files)) writeFileSync(join(project, 'steps', name), STAND_IN(body))
  place = await openTestPlace(
    { keys: new Map([['SHOP_KEY', 'canary-of-the-shop']]) },
    {
      project_dir: project,
      functions: {
        resize: { local: './steps/resize.ts' },
        'far-away': { arn: 'arn:aws:lambda:eu-central-1:123456789012:function:far' },
        slow: { local: './steps/slow.ts' },
        large: { local: './steps/large.ts' },
      },
      integrations: {
        'sqs:sendMessage': {
          resources: {
            tickets: { parameters: { QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/t.fifo' } },
          },
        },
      },
      containers: { parser: { image: 'acme/parser:1', local: './steps/echo.ts' } },
      container_engine: join(project, 'no-docker'),
    },
  )
}, 60_000)
afterAll(async () => {
  await place.close()
  rmSync(project, { recursive: true, force: true })
  rmSync(seen, { recursive: true, force: true })
})

function calling(handler: string, config: object, more: object = {}) {
  return {
    name: 'calling',
    inputs: { name: { type: 'json', default: 'a' } },
    blocks: [
      { id: 'a', mode: 'deterministic', outputs: { answer: 'json' }, deterministic: { handler, config }, ...more },
    ],
  }
}

const sending = (config: object = {}, more: object = {}) =>
  calling(
    'aws',
    {
      call: 'sqs:sendMessage',
      resource: 'tickets',
      local: './steps/echo.ts',
      parameters: { MessageBody: '{{inputs.name}}' },
      ...config,
    },
    more,
  )

async function ran(dag: object, inputs: Readonly<Record<string, Json>> = {}) {
  const id = await place.start(dag, { inputs })
  const events = await place.ended(id)
  return { id, events, end: events.at(-1)?.type, failed: failureOf(events), outputs: await outputsOf(id) }
}

function failureOf(events: readonly RunEvent[]) {
  const failed = events.findLast(({ type }) => type === 'block:failed')
  return failed?.type === 'block:failed' ? failed.data : undefined
}

async function outputsOf(run_id: string): Promise<Readonly<Record<string, Json>>> {
  const pathParameters = { run_id, block_id: 'a' }
  const answer = await place.place.invoke('get-outputs', { ...GET, pathParameters })
  const { body } = answer as { readonly body: string }
  return JSON.parse(body).outputs ?? {}
}

const GET = {
  httpMethod: 'GET',
  path: '/',
  headers: {},
  pathParameters: null,
  queryStringParameters: null,
  body: null,
  isBase64Encoded: false,
}

async function refusal(dag: object): Promise<string> {
  return place.start(dag).then(
    () => 'started',
    (error: Error) => JSON.parse(error.message).errors[0].message,
  )
}

describe('a block that calls a service of AWS', () => {
  test("gives what stands in for it the call and its parameters, the operator's and the key of the attempt among them", async () => {
    const { end, outputs, events, id } = await ran(sending(), { name: 'hello' })
    expect([end, failureOf(events)]).toEqual(['run:completed', undefined])
    expect(outputs).toMatchObject({
      answer: {
        call: 'sqs:sendMessage',
        key: `${id}/0/0/1/0`,
        parameters: {
          MessageBody: 'hello',
          QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/t.fifo',
          MessageDeduplicationId: `${id}-0-0-1-0`.replaceAll('_', '-'),
        },
      },
    })
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['step:started', 'block:output', 'block:completed']),
    )
  })

  test('computes its parameters where the config has an expression', async () => {
    const { outputs } = await ran(
      sending({ parameters: undefined, parameters_expression: '{"MessageBody": inputs.name & "!"}' }),
      { name: 'hi' },
    )
    expect(outputs).toMatchObject({ answer: { parameters: { MessageBody: 'hi!' } } })
  })

  test('is a function, which gets the inputs by port where the config has no payload', async () => {
    const inputs = { width: { type: 'number', default: 4 }, name: 'json' }
    const outputs = { width: 'number', url: 'string' }
    const made = await ran(calling('lambda', { function: 'resize' }, { inputs, outputs }), { name: 'cat.png' })
    expect([made.end, made.outputs]).toEqual(['run:completed', { width: 8, url: 'https://x.test/cat.png' }])
    const given = await ran(
      calling('lambda', { function: 'resize', payload: { width: 7, name: '{{inputs.name}}' } }, { outputs }),
    )
    expect(given.outputs).toEqual({ width: 14, url: 'https://x.test/a' })
  })

  test('is a container, whose stand-in is taken where nothing here runs containers', async () => {
    const { outputs, end } = await ran(
      calling(
        'container',
        { container: 'parser', command_args: ['--name', '{{inputs.name}}'] },
        {
          inputs: { name: 'json' },
          outputs: { call: 'string', parameters: 'json' },
        },
      ),
    )
    expect([end, outputs]).toEqual([
      'run:completed',
      { call: 'container:parser', parameters: { inputs: { name: 'a' }, command_args: ['--name', 'a'] } },
    ])
  })

  test('runs once an item of a list', async () => {
    const { end, outputs } = await ran(
      sending(
        { parameters: { MessageBody: '{{inputs.item}}' } },
        { foreach: { items: ['x', 'y', 'z'], as: 'item' }, outputs: { answer: 'json' } },
      ),
    )
    expect(end).toBe('run:completed')
    const answers = outputs.answer as { readonly parameters: { readonly MessageBody: string } }[]
    expect(answers.map(({ parameters }) => parameters.MessageBody)).toEqual(['x', 'y', 'z'])
  })

  test('is tried again as its retry says, with another key', async () => {
    const { end, outputs } = await ran(
      sending({ local: './steps/again.ts' }, { retry: { max_attempts: 3, delay_ms: 0 } }),
    )
    expect([end, outputs]).toEqual(['run:completed', { answer: { attempt: 2 } }])
  })

  test('fails with the reason of what was called, without what looks like a secret', async () => {
    const { end, failed, events } = await ran(sending({ local: './steps/fails.ts' }))
    expect([end, failed?.code]).toEqual(['run:failed', 'step_failed'])
    expect(failed?.reason).toContain('the account is locked')
    expect(JSON.stringify(events)).not.toContain('hunter2')
  })

  test('is skipped by its condition, and refused by its gates, without a call', async () => {
    const skipped = await ran(sending({}, { when: 'inputs.name == "other"', inputs: { name: 'json' } }))
    expect(skipped.events.map(({ type }) => type)).toContain('block:skipped')
    const pre_gates = [{ name: 'short', check: { type: 'max_length', port: 'name', max: 1 } }]
    const gated = await ran(sending({}, { inputs: { name: 'string' }, pre_gates }), { name: 'too long' })
    expect([gated.failed?.code, gated.events.some(({ type }) => type === 'step:started')]).toEqual([
      'pre_gate_failed',
      false,
    ])
  })

  test('is made again with each pass of a bounce module, with a key of its own', async () => {
    const { blocks } = sending({}, { outputs: { key: 'string' } })
    const [a] = blocks
    const b = {
      ...a,
      id: 'b',
      inputs: { before: { from: 'a.key' } },
      post_gates: [{ name: 'again', check: { type: 'contains', port: 'key', values: ['/1/1/1/0'] }, on_fail: 'route' }],
      on_gate_fail: [{ when_gate: 'again', route_to: 'a', reset_blocks: [], max_bounces: 2 }],
    }
    const { id, end, events, outputs } = await ran({ ...sending(), blocks: [a, b] })
    expect([end, outputs]).toEqual(['run:completed', { key: `${id}/0/1/1/0` }])
    expect(events.filter(({ type }) => type === 'step:started')).toHaveLength(4)
    expect(events.filter(({ type }) => type === 'block:rerouted')).toHaveLength(1)
  })

  test('publishes nothing its gates refuse', async () => {
    const post_gates = [
      { name: 'call', check: { type: 'json_path', port: 'answer', path: '$.call', equals: 'x' }, on_fail: 'fail' },
    ]
    const { failed, outputs } = await ran(sending({}, { post_gates }))
    expect([failed?.code, outputs]).toEqual(['post_gate_failed', {}])
  })
})

describe('what is hostile', () => {
  test('an expression that loops ends its attempt', { tags: ['thorough'] }, async () => {
    const parameters_expression = '($f := function($n) { $f($n + 1) }; $f(0))'
    const { failed } = await ran(sending({ parameters: undefined, parameters_expression }))
    expect(failed?.code).toBe('bad_call')
    expect(failed?.reason).toMatch(/its expression stopped/)
  })

  test("an expression that gives what is the operator's is refused", async () => {
    const parameters_expression = '{"QueueUrl": "https://sqs.eu-central-1.amazonaws.com/1/other", "MessageBody": "x"}'
    const { failed, events } = await ran(sending({ parameters: undefined, parameters_expression }))
    expect([failed?.code, events.some(({ type }) => type === 'step:started')]).toEqual(['bad_call', false])
    expect(failed?.reason).toContain('"QueueUrl" is the operator\'s to give')
  })

  test.each<[string, object, Readonly<Record<string, Json>>, string]>([
    ['a value of the run', {}, { name: 'use sk-abcdefghijklmnop0123' }, 'parameters.MessageBody looks like a secret'],
    [
      'what an expression makes',
      { parameters: undefined, parameters_expression: '{"MessageBody": "Bearer " & inputs.name}' },
      { name: 'abcdefgh12345678' },
      'parameters.MessageBody looks like a secret',
    ],
    [
      'a name and its value together',
      { parameters: { MessageBody: { password: '{{inputs.name}}' } } },
      { name: 'hunter2hunter2' },
      'parameters looks like a secret',
    ],
    ['a secret of the settings', {}, { name: 'it is canary-of-the-shop' }, 'parameters holds a secret of the settings'],
  ])('a secret in what is called is refused, and not told: %s', async (_, config, inputs, words) => {
    const { failed, events } = await ran(sending(config, { retry: { max_attempts: 3, delay_ms: 0 } }), inputs)
    expect([failed?.code, failed?.reason]).toEqual(['secret_in_call', expect.stringContaining(words)])
    expect(events.some(({ type }) => type === 'step:started' || type === 'block:retrying')).toBe(false)
    expect(failed?.reason).not.toContain(String(inputs.name))
  })

  test('parameters that are too large are refused in words', async () => {
    const parameters_expression = '{"MessageBody": $join([1..60000].$string())}'
    const { failed } = await ran(sending({ parameters: undefined, parameters_expression }))
    expect([failed?.code, failed?.reason]).toEqual([
      'call_too_large',
      expect.stringContaining('at most 204800 are allowed'),
    ])
  })

  test('an answer of a megabyte of a stand-in is kept: only on AWS a state has no room for it', {
    tags: ['thorough'],
  }, async () => {
    const { end } = await ran(calling('lambda', { function: 'large' }, { outputs: { text: 'json' } }))
    expect(end).toBe('run:completed')
  })
})

describe('a stand-in under way', () => {
  const slow = (name: string, more: object = {}) =>
    calling('lambda', { function: 'slow', payload: { name } }, { outputs: { answer: 'json' }, ...more })
  const begun = async (name: string) => {
    while (!existsSync(join(seen, name))) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  test('is ended when its run is stopped', async () => {
    const id = await place.start(slow('stopped'))
    await begun('stopped')
    await place.call('stop-run', id, {})
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:cancelled')
  })

  test('is ended in the record when its block alone is stopped', { tags: ['thorough'] }, async () => {
    const id = await place.start(slow('alone'))
    await begun('alone')
    await place.call('stop-run', id, { block_id: 'a' })
    const events = await place.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'block_cancelled', block_id: 'a' } })
  })

  test('is ended at timeout_ms, which is a try', async () => {
    const { failed } = await ran(slow('late', { timeout_ms: 1_000 }))
    expect([failed?.code, failed?.reason]).toEqual([
      'block_timeout',
      expect.stringMatching(/took longer than timeout_ms/),
    ])
  })

  test('is ended at max_call_ms of the safety policy where its document allows more', {
    tags: ['thorough'],
  }, async () => {
    const functions = { slow: { local: './steps/slow.ts' } }
    const capped = await openTestPlace({}, { project_dir: project, functions, safety: { max_call_ms: 1_000 } })
    const id = await capped.start(slow('capped', { timeout_ms: 2_592_000_000 }))
    const failed = failureOf(await capped.ended(id))
    await capped.close()
    expect([failed?.code, failed?.reason]).toEqual([
      'block_timeout',
      expect.stringContaining('the safety policy allows (max_call_ms 1000)'),
    ])
  })

  test('is lost with its place, and made again as the next attempt, which is no try', async () => {
    const id = await place.start(slow('killed'))
    await begun('killed')
    await place.kill()
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.flatMap(({ type, data }) => (type === 'block:retrying' ? [data.code] : []))).toEqual(['ATTEMPT_LOST'])
    expect(await outputsOf(id)).toEqual({ answer: { attempt: 2 } })
    expect(readFileSync(join(seen, 'killed'), 'utf8')).toBe('begun 2')
  })
})

describe('a document is refused', () => {
  test.each<[string, object, RegExp]>([
    [
      'that names no function of the settings',
      calling('lambda', { function: 'resise' }),
      /there is no function "resise".*Did you mean "resize"/s,
    ],
    [
      'whose function has nothing that stands in for it',
      calling('lambda', { function: 'far-away' }),
      /is not called from this place/,
    ],
    [
      'whose call has nothing that stands in for it',
      sending({ local: undefined }),
      /is not called from this place. Name what stands in/,
    ],
    [
      'whose stand-in is not there',
      sending({ local: './steps/ecko.ts' }),
      /its stand-in ".\/steps\/ecko.ts" cannot be taken/,
    ],
    [
      'that names no resource of the settings',
      sending({ resource: 'ticket' }),
      /there is no resource of sqs:sendMessage "ticket".*Did you mean "tickets"/s,
    ],
    ['that names no container', calling('container', { container: 'parsers' }), /there is no container "parsers"/],
  ])('%s', async (_, dag, message) => {
    expect(await refusal(dag)).toMatch(message)
  })
})
