import {
  CreateStateMachineAliasCommand,
  CreateStateMachineCommand,
  ListStateMachineVersionsCommand,
  ListTagsForResourceCommand,
  PublishStateMachineVersionCommand,
  SFNClient,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { openMachine } from '../../../functions/aws/machine.ts'
import type { Machine, MachineInput } from '../../../shared/runs/machine.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { OpenMachine } from '../../conformance/machine/machine-fixture.ts'
import { machineSuite } from '../../conformance/machine/machine-suite.ts'
import { createVirtualClock, type VirtualClock } from '../../conformance/virtual-clock.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { ServiceError } from '../../emulators/http-service.ts'
import { type StepFunctionsEmulator, startStepFunctions } from '../../emulators/step-functions.ts'
import { firstDaily } from '../../how-much.ts'
import { awsSettings, lambdaArn } from './aws-settings.ts'
import { startMachinesPlaces } from './machines-place.ts'

let places: Awaited<ReturnType<typeof startMachinesPlaces>>
beforeAll(async () => {
  places = await startMachinesPlaces()
})
afterAll(() => places.close())

/** The suite names functions as its placeholders; a deployment has one ARN for each. */
const openWire: OpenMachine = async (functions) => {
  const clock = createVirtualClock()
  const service = await startStepFunctions({
    clock,
    invoke: async (arn, payload, signal) => functions[arn.replace(/^.*:sluice-test-/, '')]?.(payload, signal) ?? null,
  })
  const place = await places.open(clock)
  const wire = watchCalls(bound(place.machine(service.aws), Object.keys(functions)))
  return {
    machine: wire.machine,
    clock: patient(clock, wire.idle),
    close: async () => {
      const closing = service.close()
      await clock.advance(2_000)
      await closing
    },
  }
}

machineSuite('Step Functions, over the wire', openWire)

/** The suite's functions are not the catalog's, so their placeholders are bound here. */
function bound(machine: Machine, names: readonly string[]): Machine {
  const ready = (one: string) => names.reduce((left, name) => left.replaceAll(`\${${name}}`, lambdaArn(name)), one)
  const binding =
    (call: Machine['ensure']): Machine['ensure'] =>
    (text, hash, parts = []) => {
      const readyParts = parts.map((part) => ({ ...part, text: ready(part.text) }))
      return call(ready(text), sha256(ready(text) + hash), readyParts)
    }
  return { ...machine, ensure: binding(machine.ensure), named: binding(machine.named) }
}

/** Calls on the wire take turns of the event loop that virtual time does not know of: time waits for them. */
function watchCalls(machine: Machine) {
  const underWay = new Set<Promise<unknown>>()
  const watched =
    <A extends unknown[], T>(call: (...given: A) => Promise<T>) =>
    (...given: A): Promise<T> => {
      const made = call(...given)
      underWay.add(made)
      const forget = () => void underWay.delete(made)
      made.then(forget, forget)
      return made
    }
  return {
    machine: { ...machine, answer: watched(machine.answer) },
    idle: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

function patient(clock: VirtualClock, idle: () => Promise<void>): VirtualClock {
  const settle = async () => {
    await clock.settle()
    await idle()
    await clock.settle()
  }
  return {
    ...clock,
    settle,
    async advance(ms) {
      await settle()
      await clock.advance(ms)
      await settle()
    },
  }
}

const INPUT: MachineInput = { v: 1, tenant: 'main', run_id: 'run_a' }
const TEXT = JSON.stringify({
  QueryLanguage: 'JSONata',
  StartAt: 'a',
  States: {
    a: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Arguments: { FunctionName: ['$', '{WaitJoin}'].join(''), Payload: { token: '{% $states.context.Task.Token %}' } },
      End: true,
    },
  },
})
const HASH = sha256(TEXT)

describe('the Step Functions adapter', () => {
  const services: StepFunctionsEmulator[] = []
  const called: [string, Json][] = []
  afterEach(async () => {
    called.length = 0
    for (const service of services.splice(0)) await service.close()
  })
  const open = async (more: Readonly<Record<string, string>> = {}) => {
    const service = await startStepFunctions({
      invoke: async (arn, payload) => {
        called.push([arn, payload])
        return null
      },
    })
    services.push(service)
    const place = await places.open()
    const another = (env = more, deployed = {}) => place.machine(service.aws, env, deployed)
    return { service, place, another, machine: another() }
  }
  const token = async () => {
    while (called.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    return (called.map(([, payload]) => payload)[0] as unknown as { token: string }).token
  }

  test('makes the machine of a document once, however many starts race, under its stage and hash', async () => {
    const { service, another, machine } = await open()
    const arns = await Promise.all([
      ...Array.from({ length: 20 }, () => machine.ensure(TEXT, HASH)),
      ...Array.from({ length: 5 }, () => another().ensure(TEXT, HASH)),
    ])
    expect(new Set(arns)).toEqual(
      new Set([`arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:sluice-test-x-${HASH.slice(0, 20)}`]),
    )
    // One call a process: the first answer is kept.
    expect(service.calls).toEqual(Array.from({ length: 6 }, () => 'CreateStateMachine'))
  })

  test('binds the functions of the deployment', async () => {
    const { machine } = await open()
    await machine.start({ machine: await machine.ensure(TEXT, HASH), name: 'run_a', input: INPUT })
    await token()
    expect(called[0]?.[0]).toBe(lambdaArn('wait-join'))
  })

  test('text of an older version under the same hash is replaced; what runs keeps its own', async () => {
    const { service, another, machine } = await open()
    const arn = await machine.ensure(TEXT, HASH)
    await machine.start({ machine: arn, name: 'run_a', input: INPUT })
    const newer = TEXT.replace('"a":{', '"a":{"Comment":"newer",')
    expect(await another().ensure(newer, HASH)).toBe(arn)
    expect(service.calls.slice(-2)).toEqual(['CreateStateMachine', 'UpdateStateMachine'])
    expect(await machine.answer(await token(), { ok: 1 })).toBe('taken')
  })

  test('a deployed document has its machine already', async () => {
    const { service, another } = await open()
    const deployed = { basic: { document: 'blocks: []', dag_hash: HASH, machine: 'sluice-test-basic', parts: 2 } }
    const early = another({}, deployed)
    await expect(early.ensure(TEXT, HASH)).rejects.toMatchObject({ name: 'Bug', code: 'machine_not_deployed' })
    const client = new SFNClient(service.aws)
    const definition = TEXT.replace(/\$\{WaitJoin\}/, lambdaArn('wait-join'))
    const role = { roleArn: `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines` }
    const made = await client.send(new CreateStateMachineCommand({ name: 'sluice-test-basic', definition, ...role }))
    const { stateMachineVersionArn } = await client.send(new PublishStateMachineVersionCommand(made as never))
    const routingConfiguration = [{ stateMachineVersionArn, weight: 100 }]
    const name = `document-${HASH.slice(0, 40)}`
    await client.send(new CreateStateMachineAliasCommand({ name, routingConfiguration }))
    client.destroy()
    const before = service.calls.length
    const arn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:sluice-test-basic:1+2`
    expect(await Promise.all([early.ensure(TEXT, HASH), early.deployed(TEXT, HASH), early.named(TEXT, HASH)])).toEqual([
      ...[arn, arn, arn],
    ])
    const unknown = early.deployed(TEXT, HASH.replace(/./g, '0'))
    await expect(unknown).rejects.toMatchObject({ name: 'NotFound', code: 'machine_unknown' })
    // One call a process.
    expect(service.calls.slice(before)).toEqual(['DescribeStateMachineAlias'])
  })

  test('where deployments alone make machines, that of another document is not asked for', async () => {
    const { service, place } = await open()
    const closed = place.machine(service.aws, {}, {}, SettingsSchema.parse({ authoring: 'deployed_only' }))
    await expect(closed.ensure(TEXT, HASH)).rejects.toMatchObject({
      ...{ name: 'NotFound', code: 'machine_unknown', message: expect.stringContaining('authoring: deployed_only') },
    })
    expect(service.calls).toEqual([])
  })

  test('a machine that is made has the tags of the stage beside its own', async () => {
    const { service, place } = await open()
    const settings = { ...SettingsSchema.parse({}), tags: { team: 'research', 'sluice:kind': 'mine' } }
    const resourceArn = await place.machine(service.aws, {}, {}, settings).ensure(TEXT, HASH)
    const client = new SFNClient(service.aws)
    const { tags = [] } = await client.send(new ListTagsForResourceCommand({ resourceArn }))
    client.destroy()
    expect(Object.fromEntries(tags.map(({ key, value }) => [key, value]))).toEqual({
      ...{ team: 'research', 'sluice:stage': 'test', 'sluice:kind': 'inline', 'sluice:dag_hash': HASH },
    })
  })

  test('a version is started, described and stopped by the name of its machine', async () => {
    const { machine } = await open()
    const arn = `${await machine.ensure(TEXT, HASH)}:7`
    expect(await machine.start({ machine: arn, name: 'run_a', input: INPUT })).toBe('started')
    expect(await machine.describe(arn, 'run_a')).toEqual({ status: 'RUNNING' })
    await machine.stop(arn, 'run_a', 'why'.repeat(20_000))
    expect(await machine.describe(arn, 'run_a')).toMatchObject({ status: 'ABORTED' })
    expect(await machine.describe(arn, 'run_b')).toBeUndefined()
  })

  test('versions that were replaced long ago are removed, of parts later; the newest and one that an alias names stay', async () => {
    const DAY_MS = 86_400_000
    const clock = { ...lambdaClock, time: Date.parse('2026-11-27T00:00:00.000Z'), now: () => clock.time }
    const service = await startStepFunctions({ invoke: async () => null, clock })
    services.push(service)
    const place = await places.open(clock)
    const deployed = { big: { document: '', dag_hash: HASH, machine: 'sluice-test-big', parts: 1 } }
    const machine = place.machine(service.aws, {}, deployed)
    const client = new SFNClient(service.aws)
    const roleArn = `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines`
    const text = (n: number) =>
      JSON.stringify({ QueryLanguage: 'JSONata', StartAt: 'a', States: { a: { Type: 'Succeed', Comment: String(n) } } })
    const arnOf = (name: string) => `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`
    const names = ['sluice-test-big', 'sluice-test-big_1', 'sluice-test-research']
    for (const name of names) {
      await client.send(new CreateStateMachineCommand({ name, definition: text(0), roleArn }))
      for (let n = 1; n <= 4; n++) {
        const stateMachineArn = arnOf(name)
        await client.send(new UpdateStateMachineCommand({ stateMachineArn, definition: text(n) }))
        await client.send(new PublishStateMachineVersionCommand({ stateMachineArn }))
        clock.time += 10 * DAY_MS
      }
    }
    const routingConfiguration = [{ stateMachineVersionArn: `${arnOf('sluice-test-big')}:2`, weight: 100 }]
    await client.send(new CreateStateMachineAliasCommand({ name: 'document-x', routingConfiguration }))
    const versions = async (name: string) => {
      const answer = await client.send(new ListStateMachineVersionsCommand({ stateMachineArn: arnOf(name) }))
      return (answer.stateMachineVersions ?? []).map(({ stateMachineVersionArn = '' }) =>
        stateMachineVersionArn.split(':').at(-1),
      )
    }
    // Of big the versions were replaced 110, 100 and 90 days ago, of its part 70, 60 and 50, of research 30, 20 and 10.
    const ago = (days: number) => clock.now() - days * DAY_MS
    expect(await machine.prune({ machines: ago(25), parts: ago(55) })).toBe(5)
    expect(await versions('sluice-test-big')).toEqual(['4', '2'])
    expect(await versions('sluice-test-big_1')).toEqual(['4', '3'])
    expect(await versions('sluice-test-research')).toEqual(['4', '3', '2'])
    expect(await machine.prune({ machines: ago(25), parts: ago(55) })).toBe(0)
    client.destroy()
  })

  test('another input under the same name exists', async () => {
    const { machine } = await open()
    const arn = await machine.ensure(TEXT, HASH)
    const order = { machine: arn, name: 'run_a', input: INPUT }
    expect(await Promise.all([machine.start(order), machine.start(order)])).toEqual(['started', 'started'])
    expect(await machine.start({ ...order, input: { ...INPUT, tenant: 'other' } })).toBe('exists')
  })

  test('a machine that was deleted is NotFound once and made again by the next start', async () => {
    const { service, machine } = await open()
    const arn = await machine.ensure(TEXT, HASH)
    service.fail('StartExecution', new ServiceError('StateMachineDoesNotExist', `Not there: '${arn}'`))
    const seen = await machine.start({ machine: arn, name: 'run_a', input: INPUT }).catch((error) => error)
    expect(seen).toMatchObject({ name: 'NotFound', code: 'machine_unknown' })
    expect(seen.message).not.toContain('arn:')
    expect(await machine.ensure(TEXT, HASH)).toBe(arn)
    expect(service.calls.filter((name) => name === 'CreateStateMachine')).toHaveLength(2)
  })

  test.each([
    ['TaskTimedOut', 'gone'],
    ['TaskDoesNotExist', 'gone'],
    ['InvalidToken', 'gone'],
  ])('%s is %s, for success and failure', async (type, answer) => {
    const { service, machine } = await open()
    service.fail('SendTaskSuccess', new ServiceError(type, ''))
    service.fail('SendTaskFailure', new ServiceError(type, ''))
    expect(await machine.answer('t', { ok: 1 })).toBe(answer)
    expect(await machine.answer('t', { error: 'E', cause: '' })).toBe(answer)
  })

  test('an answer that was lost on its way is repeated by the client and counts once', async () => {
    const { service, machine } = await open()
    await machine.start({ machine: await machine.ensure(TEXT, HASH), name: 'run_a', input: INPUT })
    service.fail('SendTaskSuccess', 'drop')
    expect(await machine.answer(await token(), { ok: 1 })).toBe('taken')
  })

  for (const { tags, rows } of firstDaily<[string, number, object]>(4, [
    ['ServiceUnavailable', 503, { name: 'Unavailable', code: 'aws_unavailable' }],
    ['AccessDeniedException', 400, { name: 'Bug', code: 'aws_access_denied' }],
    ['UnrecognizedClientException', 403, { name: 'Bug', code: 'aws_access_denied' }],
    ['InvalidArn', 400, { name: 'Bug', code: 'aws_refused' }],
    // The client waits longer before it asks a busy service again.
    ['ThrottlingException', 400, { name: 'Unavailable', code: 'aws_throttled' }],
  ])) {
    test.each(rows)('%s (%i) in every call', { tags }, async (type, status, fault) => {
      const { service, machine } = await open()
      const error = new ServiceError(
        type,
        `User: arn:aws:sts::${ACCOUNT}:assumed-role/x may not on arn:aws:states:x`,
        status,
      )
      const calls: readonly (readonly [string, string, () => Promise<unknown>])[] = [
        ['CreateStateMachine', 'states:CreateStateMachine', () => machine.ensure(TEXT, HASH)],
        ['StartExecution', 'states:StartExecution', () => machine.start({ machine: ARN, name: 'run_a', input: INPUT })],
        ['DescribeExecution', 'states:DescribeExecution', () => machine.describe(ARN, 'run_a')],
        ['StopExecution', 'states:StopExecution', () => machine.stop(ARN, 'run_a', '')],
        ['SendTaskSuccess', 'states:SendTaskSuccess', () => machine.answer('secret-token', { ok: 1 })],
        ['SendTaskFailure', 'states:SendTaskFailure', () => machine.answer('secret-token', { error: 'E', cause: '' })],
      ]
      await Promise.all(
        calls.map(async ([operation, action, call]) => {
          service.fail(operation, error, 3)
          const seen = (await call().catch((thrown: Error) => thrown as Error)) as Error
          expect(seen).toMatchObject({ ...fault, facts: { action } })
          expect(seen.message).toContain(action)
          expect(seen.message).not.toMatch(/arn:|secret-token|0000/)
        }),
      )
    })
  }

  test('the account has no room for another machine', async () => {
    const { service, machine } = await open()
    service.fail('CreateStateMachine', new ServiceError('StateMachineLimitExceeded', ''))
    await expect(machine.ensure(TEXT, HASH)).rejects.toMatchObject({ name: 'LimitExceeded', code: 'machine_limit' })
    // A failure is not remembered.
    expect(await machine.ensure(TEXT, HASH)).toContain('stateMachine')
  })

  test('a stage has room for 2,000 machines of inline documents; those it has are started as ever', {
    tags: ['thorough'],
  }, async () => {
    const { service, place, machine } = await open()
    const arn = await machine.ensure(TEXT, HASH)
    await place.fill(1_999, 0)
    const other = HASH.replace(/./g, '0')
    await expect(machine.ensure(TEXT, other)).rejects.toMatchObject({
      name: 'LimitExceeded',
      code: 'machine_limit',
      message: expect.stringContaining('2,000'),
    })
    expect(service.calls).toEqual(['CreateStateMachine'])
    expect(await machine.start({ machine: arn, name: 'run_a', input: INPUT })).toBe('started')
    await place.uses.forget('sluice-test-x-1')
    expect(await machine.ensure(TEXT, other)).toContain('sluice-test-x-0000')
  })

  test('one that AWS is deleting is Unavailable, for whoever makes it and whoever starts on it', async () => {
    const { service, machine } = await open()
    const deleting = () => new ServiceError('StateMachineDeleting', '')
    service.fail('CreateStateMachine', deleting())
    const fault = { name: 'Unavailable', code: 'machine_deleting' }
    await expect(machine.ensure(TEXT, HASH)).rejects.toMatchObject(fault)
    const arn = await machine.ensure(TEXT, HASH)
    service.fail('StartExecution', deleting())
    await expect(machine.start({ machine: arn, name: 'run_a', input: INPUT })).rejects.toMatchObject(fault)
  })

  test('text that AWS refuses is a Bug of ours', async () => {
    const { machine } = await open()
    await expect(machine.ensure('{}', HASH)).rejects.toMatchObject({ name: 'Bug', code: 'aws_refused' })
  })

  test('a missing value is named', async () => {
    const ids = { random: () => new Uint8Array(), boot: 'test' }
    const core = { env: awsSettings({}), deployed: {}, clock: lambdaClock, ids }
    const bare = openMachine(core, { region: REGION })
    await expect(bare.ensure(TEXT, HASH)).rejects.toMatchObject({
      code: 'setting_missing',
      message: expect.stringContaining('RUN_BLOCK_ARN'),
    })
  })

  test('no holder is ever known to be gone', async () => {
    const { machine } = await open()
    expect(machine.holderGone('anybody')).toBe(false)
  })
})

const ARN = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:m`
