import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  CreateStateMachineAliasCommand,
  CreateStateMachineCommand,
  PublishStateMachineVersionCommand,
  SFNClient,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT, REGION } from '../emulators/aws-client.ts'
import { startDynamodb } from '../emulators/dynamodb.ts'
import { startEventBridge } from '../emulators/event-bridge.ts'
import { type FunctionVersion, startLambda } from '../emulators/lambda.ts'
import { type LockedBucket, startLockedBucket } from '../emulators/locked-bucket.ts'
import { createNativeServices } from '../emulators/native-services.ts'
import { startS3 } from '../emulators/s3.ts'
import { startSecrets } from '../emulators/secrets.ts'
import { startStepFunctions } from '../emulators/step-functions.ts'
import { startVersionedS3, type VersionedS3 } from '../emulators/versioned-s3.ts'
import { stacksIn } from '../integration/aws/assembly.ts'
import { startApi } from './api-gateway.ts'
import { startDoor } from './iam-door.ts'
import { readPolicies } from './iam-policy.ts'
import { traceRights } from './rights-trace.ts'
import { createSandboxes, type Sandboxes } from './sandboxes.ts'
import { type Deployed, type DeployedTemplates, readTemplates } from './template.ts'
import type { VirtualTime } from './virtual-time.ts'

export type Deployment = Awaited<ReturnType<typeof deploy>>
/** What machines reach that is none of the deployment's. */
type Outside = Omit<Parameters<typeof createNativeServices>[0], 'allows'>

const NOBODY: Outside = {
  invoke: async (name) => {
    throw new Error(`there is no function ${name} here`)
  },
  runTask: async () => undefined,
  roles: {},
}

export type Through = (service: 'dynamodb' | 's3', endpoint: string) => Promise<string>

/**
 * "Deploys" a cloud assembly into this process and its threads: table and bucket with the template's properties on
 * emulators, machines with the template's texts and substitutions, functions from their bundles with the template's
 * environment, routes from the template. `secretValues`: what lies in Secrets Manager and Systems Manager, by ARN.
 * `through`: another address for what functions ask of a service, which passes it on (traced-run.ts). `time`: what
 * functions and machines take for the time.
 */
export async function deploy(
  out: string,
  secretValues: Readonly<Record<string, string>> = {},
  through: Through = async (_service, endpoint) => endpoint,
  outside: Outside = NOBODY,
  time?: VirtualTime,
) {
  const templates = readTemplates(out, stacksIn(out))
  const dynamodb = await startDynamodb()
  await createTable(templates, dynamodb.aws)
  const named = ({ BucketName, ObjectLockEnabled, NotificationConfiguration }: Deployed['properties']) =>
    BucketName !== undefined && ObjectLockEnabled !== true && NotificationConfiguration === undefined
  const s3 = await startS3(String(one(templates, 'AWS::S3::Bucket', named).BucketName))
  const anchors = await startAnchors(templates, String(s3.config.endpoint))
  const drops = await startDrops(templates, String((anchors ?? s3).config.endpoint))
  const secrets = await startSecrets(secretValues)
  const eventBridge = await startEventBridge()
  const functions = new Map<string, Sandboxes>()
  const replaced: Sandboxes[] = []
  const emulated: Record<string, (event: unknown) => Promise<unknown>> = {}
  const versions: Record<string, FunctionVersion[]> = {}
  const configurations: Record<string, Json> = {}
  const lambda = await startLambda({ functions: emulated, versions, configurations, asyncRetries: 2 })
  const policies = readPolicies(templates)
  const rights = traceRights(policies)
  let released = policies
  /** What a later deployment allows besides is allowed, and not traced: rights are counted against the first one's. */
  const allows: typeof rights.allows = (principal, wish) => {
    const isNew = policies.grants(principal, wish).length === 0 && released.grants(principal, wish).length > 0
    return isNew || rights.allows(principal, wish)
  }
  const [machine] = templates.all('AWS::StepFunctions::StateMachine')
  const machineRole = String(machine?.properties.RoleArn)
  const deliveries: Delivery[] = []
  const twice = new Set<string>()
  const mostAtOnce = new Map<string, number>()
  const throttled = { calls: 0 }
  const native = createNativeServices({ ...outside, allows: (wish) => allows(machineRole, wish) })
  const states = await startStepFunctions({
    native: native.native,
    ...(time === undefined ? {} : { clock: time.clock }),
    async invoke(arn, payload) {
      const isAllowed = allows(machineRole, { action: 'lambda:InvokeFunction', resource: arn })
      if (!isAllowed) throw new Error(`the machines' role may not invoke ${arn}`)
      const run_id = runOf(payload)
      deliveries.push({ arn, payload, run_id })
      const name = arn.split(':')[6] ?? ''
      if ((functions.get(name)?.underWay() ?? 0) >= (mostAtOnce.get(name) ?? Number.POSITIVE_INFINITY)) {
        throttled.calls += 1
        throw Object.assign(new Error('Rate Exceeded.'), { name: 'Lambda.TooManyRequestsException' })
      }
      // Nobody waits for the second delivery: what it answers or throws is lost.
      if (twice.has(run_id)) lambda.invoke(arn, payload).catch(() => {})
      return lambda.invoke(arn, payload)
    },
  })
  const services = {
    dynamodb: await through('dynamodb', dynamodb.aws.endpoint),
    s3: await through('s3', String((drops ?? anchors ?? s3).config.endpoint)),
    states: states.aws.endpoint,
    lambda: lambda.aws.endpoint,
    secretsmanager: secrets.aws.endpoint,
    ssm: secrets.aws.endpoint,
    events: eventBridge.aws.endpoint,
  }
  const door = await startDoor(services, allows)
  /** Numbers of versions, by the logical id each was published for: another code or setting is another id. */
  const numbers = new Map<string, string>()
  const numberVersions = (released: DeployedTemplates) => {
    for (const { id, properties } of released.all('AWS::Lambda::Version')) {
      if (numbers.has(id)) continue
      const name = String(properties.FunctionName)
      const before = versions[name] ?? []
      const Version = String(before.length + 1)
      versions[name] = [...before, { Version, Description: String(properties.Description ?? '') }]
      numbers.set(id, Version)
    }
  }
  const publish = ({ id, properties }: Deployed) => {
    const name = String(properties.FunctionName)
    const latest = emulated[name]
    const published = `${name}:${numbers.get(id)}`
    if (latest !== undefined) emulated[published] ??= latest
  }
  /** The machines first, as CloudFormation does: aliases say the versions it published. */
  const release = async (released: DeployedTemplates, known: ReadonlySet<string>) => {
    numberVersions(released)
    await putAliases(released, states.aws, await putMachines(released, states.aws, known))
    for (const resource of released.all('AWS::Lambda::Function')) {
      const template = functionOf(released, resource, door.endpoint, numbers)
      const sandboxes = createSandboxes({ ...template, time })
      const name = String(resource.properties.FunctionName)
      configurations[name] = { Environment: { Variables: template.own } }
      const before = functions.get(name)
      if (before !== undefined) replaced.push(before)
      functions.set(name, sandboxes)
      emulated[name] = (event) => sandboxes.invoke(event)
    }
    for (const version of released.all('AWS::Lambda::Version')) publish(version)
  }
  await release(templates, new Set())
  const sandboxesOf = (arn: string) => {
    const found = functions.get(arn.split(':').at(-1) ?? '')
    if (found === undefined) throw new Error(`no function ${arn}`)
    return found
  }
  const api = await startApi(templates, (arn, event, listen) => sandboxesOf(arn).invoke(event, listen))
  const schedule = startSchedule(templates, (arn, input) => sandboxesOf(arn).invoke(input))
  return {
    templates,
    api,
    dynamodb,
    s3,
    /** The bucket with Object Lock, where the stage has one. */
    anchors,
    /** The bucket people drop things into, where the stage has one. */
    drops,
    lambda,
    /** Versions that were published, by function name. */
    versions,
    states,
    secrets,
    eventBridge,
    /** By catalog name. */
    sandboxes: (name: string) => sandboxesOf(`sluice-dev-${name}`),
    functions,
    door,
    /** Whether a role may, as its policies in the templates say. */
    allows,
    /** What roles refused. */
    denied: rights.denied,
    /** What machines had other services do, in order. */
    calls: native.calls,
    /** What machines called, in order. */
    deliveries: deliveries as readonly Delivery[],
    /** Runs whose machines' calls arrive twice, at the same time. */
    twice,
    /** Executions a function may have, by its name, as far as machines call it; and how many calls that refused. */
    mostAtOnce,
    throttled: throttled as Readonly<typeof throttled>,
    /**
     * Deploys another assembly over it: functions have its code, machines its texts as a further version. What was invoked
     * before ends where it runs. Routes, rules and data stay as they are: they are not what this can show.
     */
    update(next: string) {
      const later = readTemplates(next, stacksIn(next))
      released = readPolicies(later)
      return release(later, new Set(machinesOf(templates)))
    },
    /**
     * Puts the functions of another cloud assembly beside those that are there: `isOther` says for each call which of the two
     * works, whoever calls.
     */
    mix(other: string, isOther: () => boolean): void {
      const beside = readTemplates(other, stacksIn(other))
      for (const resource of beside.all('AWS::Lambda::Function')) {
        const name = String(resource.properties.FunctionName)
        const here = functions.get(name)
        if (here === undefined) continue
        const there = createSandboxes({ ...functionOf(beside, resource, door.endpoint, numbers), time })
        replaced.push(there)
        const both: Sandboxes = { ...here, invoke: (...call) => (isOther() ? there : here).invoke(...call) }
        functions.set(name, both)
        emulated[name] = (event) => both.invoke(event)
      }
    },
    /** Fails when a role refused anything but these. */
    async close(refusals: readonly string[] = []) {
      await schedule.close()
      await api.close()
      await states.close()
      await lambda.close()
      await Promise.all([...functions.values(), ...replaced].map((sandboxes) => sandboxes.close()))
      await door.close()
      // A bench is no file of tests.
      if (process.env.VITEST !== undefined) rights.save()
      await eventBridge.close()
      await secrets.close()
      await drops?.close()
      await anchors?.close()
      await s3.close()
      await dynamodb.close()
      const refused = [...new Set(rights.denied)].filter((what) => !refusals.includes(what))
      if (refused.length > 0) throw new Error(`roles of infra/aws/grants.ts do not allow ${refused.join('; ')}`)
    },
  }
}

/** A function called by a machine. */
interface Delivery {
  readonly arn: string
  readonly payload: Json
  readonly run_id: string
}

function runOf(payload: Json): string {
  // Every payload of a machine holds the execution's input.
  return (payload as { readonly in: { readonly run_id: string } }).in.run_id
}

function one(
  templates: DeployedTemplates,
  type: string,
  is: (properties: Deployed['properties']) => boolean = () => true,
): Deployed['properties'] {
  const found = templates.all(type).filter(({ properties }) => is(properties))
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} resources of type ${type}`)
  return found[0].properties
}

/** The emulator of S3 knows no locks: this bucket stands before it. */
async function startAnchors(templates: DeployedTemplates, behind: string): Promise<LockedBucket | undefined> {
  const [locked] = templates
    .all('AWS::S3::Bucket')
    .filter(({ properties: { ObjectLockEnabled } }) => ObjectLockEnabled === true)
  if (locked === undefined) return undefined
  return startLockedBucket({ bucket: String(locked.properties.BucketName), behind })
}

/** The emulator of S3 knows no versions: the bucket people drop things into stands before it. */
async function startDrops(templates: DeployedTemplates, behind: string): Promise<VersionedS3 | undefined> {
  const [told] = templates
    .all('AWS::S3::Bucket')
    .filter(({ properties: { NotificationConfiguration } }) => NotificationConfiguration !== undefined)
  return told === undefined ? undefined : startVersionedS3(String(told.properties.BucketName), behind)
}

/** What the emulators know of a table; encryption, recovery, protection and TTL are nothing they have. */
async function createTable(templates: DeployedTemplates, aws: ConstructorParameters<typeof DynamoDBClient>[0]) {
  const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } = one(
    templates,
    'AWS::DynamoDB::Table',
  )
  const client = new DynamoDBClient(aws ?? {})
  // CloudFormation's properties are named like the call's.
  const input = { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode }
  await client.send(new CreateTableCommand(input as CreateTableCommandInput))
  client.destroy()
}

/** As the SDK's clients call them. */
const SERVICES = ['DYNAMODB', 'S3', 'SFN', 'LAMBDA', 'SECRETS_MANAGER', 'SSM', 'EVENTBRIDGE']

function functionOf(
  templates: DeployedTemplates,
  { properties }: Deployed,
  endpoint: string,
  numbers: ReadonlyMap<string, string>,
) {
  const { S3Key } = properties.Code as { readonly S3Key: string }
  const given = properties.Environment as { readonly Variables: Readonly<Record<string, string>> }
  const own = Object.fromEntries(
    Object.entries(given.Variables).map(([key, value]) => [
      key,
      value.replaceAll(/(\w+)\.Version\b/g, (_whole, id: string) => numbers.get(id) ?? ''),
    ]),
  )
  const name = String(properties.FunctionName)
  const [file, exported] = String(properties.Handler).split('.')
  if (exported !== 'handler') throw new Error(`the handler of ${name} is ${String(properties.Handler)}`)
  return {
    name,
    /** As the template says, without what leads to the emulators. */
    own,
    index: pathToFileURL(`${templates.asset(S3Key)}/${file}.mjs`).href,
    env: {
      ...own,
      ...Object.fromEntries(SERVICES.map((service) => [`AWS_ENDPOINT_URL_${service}`, endpoint])),
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_LAMBDA_FUNCTION_NAME: name,
      PATH: '/usr/bin:/bin',
    },
    timeoutMs: Number(properties.Timeout) * 1_000,
    streams: templates
      .all('AWS::ApiGateway::Method')
      .some(({ properties: { Integration } }) => JSON.stringify(Integration).includes(`${name}/response-streaming`)),
  }
}

function machinesOf(templates: DeployedTemplates): readonly string[] {
  return templates.all('AWS::StepFunctions::StateMachine').map(({ properties }) => String(properties.StateMachineName))
}

/**
 * Makes the machines or changes those that are known, with the substitutions CloudFormation makes: every `${Name}` of the
 * map, and nothing else. Answers the version each got, by the first version's ARN.
 */
async function putMachines(
  templates: DeployedTemplates,
  aws: ConstructorParameters<typeof SFNClient>[0],
  known: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const client = new SFNClient(aws ?? {})
  const versions = new Map<string, string>()
  for (const { properties } of templates.all('AWS::StepFunctions::StateMachine')) {
    const { Key } = properties.DefinitionS3Location as { readonly Key: string }
    const substitutions = properties.DefinitionSubstitutions as Readonly<Record<string, string>>
    const definition = readFileSync(templates.asset(Key), 'utf8').replaceAll(/\$\{(\w+)\}/g, (whole, name: string) =>
      told(substitutions[name] ?? whole, versions),
    )
    const name = String(properties.StateMachineName)
    const stateMachineArn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`
    const create = new CreateStateMachineCommand({ name, roleArn: String(properties.RoleArn), definition })
    if (known.has(name)) await client.send(new UpdateStateMachineCommand({ stateMachineArn, definition }))
    else await client.send(create)
    const published = await client.send(new PublishStateMachineVersionCommand({ stateMachineArn }))
    versions.set(`${stateMachineArn}:1`, String(published.stateMachineVersionArn))
  }
  client.destroy()
  return versions
}

async function putAliases(
  templates: DeployedTemplates,
  aws: ConstructorParameters<typeof SFNClient>[0],
  versions: ReadonlyMap<string, string>,
): Promise<void> {
  const client = new SFNClient(aws ?? {})
  for (const { properties } of templates.all('AWS::StepFunctions::StateMachineAlias')) {
    const [route] = properties.RoutingConfiguration as readonly { readonly StateMachineVersionArn: string }[]
    const stateMachineVersionArn = told(route?.StateMachineVersionArn ?? '', versions)
    const name = String(properties.Name)
    await client.send(
      new CreateStateMachineAliasCommand({ name, routingConfiguration: [{ stateMachineVersionArn, weight: 100 }] }),
    )
  }
  client.destroy()
}

/** Templates say the first version (template.ts); this one was published. */
function told(text: string, versions: ReadonlyMap<string, string>): string {
  return text.replaceAll(/arn:aws:states:[\w-]+:\d+:stateMachine:[\w-]+:1(?!\d)/g, (arn) => versions.get(arn) ?? arn)
}

/** A minute of the schedule is a second here. */
const MINUTE_MS = 1_000

function startSchedule(templates: DeployedTemplates, call: (arn: string, input: unknown) => Promise<unknown>) {
  const underWay = new Set<Promise<unknown>>()
  const timers = templates.all('AWS::Events::Rule').flatMap(({ properties: { ScheduleExpression, Targets } }) => {
    if (ScheduleExpression === undefined) return []
    const targets = Targets as readonly { readonly Arn: string; readonly Input: string }[]
    const tick = () => {
      for (const { Arn, Input } of targets) {
        const done = call(Arn, JSON.parse(Input))
          .catch(() => {})
          .finally(() => underWay.delete(done))
        underWay.add(done)
      }
    }
    return [setInterval(tick, minutesOf(String(ScheduleExpression)) * MINUTE_MS)]
  })
  return {
    async close() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

function minutesOf(rate: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(rate) ?? []
  if (count === undefined) throw new Error(`a schedule ${rate}, which this reader does not know`)
  return Number(count) * (MINUTES[unit] ?? 0)
}

const MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1_440 }
