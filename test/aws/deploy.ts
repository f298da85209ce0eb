import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateStateMachineCommand, SFNClient } from '@aws-sdk/client-sfn'
import type { Json } from '../../shared/canonical.ts'
import { REGION } from '../emulators/aws-client.ts'
import { startDynalite, startDynoxide } from '../emulators/dynamodb.ts'
import { startLambda } from '../emulators/lambda.ts'
import { startS3 } from '../emulators/s3.ts'
import { startSecrets } from '../emulators/secrets.ts'
import { startStepFunctions } from '../emulators/step-functions.ts'
import { startApi } from './api-gateway.ts'
import { startDoor } from './iam-door.ts'
import { readPolicies } from './iam-policy.ts'
import { createSandboxes, type Sandboxes } from './sandboxes.ts'
import { type Deployed, type DeployedTemplates, readTemplates } from './template.ts'

const STACKS = ['SluiceData', 'SluiceMachines', 'SluiceApi']

export type Deployment = Awaited<ReturnType<typeof deploy>>

/**
 * "Deploys" a cloud assembly into this process and its threads: table and bucket with the template's properties on
 * emulators, machines with the template's texts and substitutions, functions from their bundles with the template's
 * environment, routes from the template. `secretValues`: what lies in Secrets Manager and Systems Manager, by ARN.
 */
export async function deploy(out: string, secretValues: Readonly<Record<string, string>> = {}) {
  const templates = readTemplates(out, STACKS)
  const dynamodb = (await startDynoxide()) ?? (await startDynalite())
  await createTable(templates, dynamodb.aws)
  const s3 = await startS3(
    String(one(templates, 'AWS::S3::Bucket', ({ BucketName }) => BucketName !== undefined).BucketName),
  )
  const secrets = await startSecrets(secretValues)
  const functions = new Map<string, Sandboxes>()
  const emulated: Record<string, (event: unknown) => Promise<unknown>> = {}
  const lambda = await startLambda({ functions: emulated, asyncRetries: 2 })
  const allows = readPolicies(templates)
  const [machine] = templates.all('AWS::StepFunctions::StateMachine')
  const machineRole = String(machine?.properties.RoleArn)
  const deliveries: Delivery[] = []
  const twice = new Set<string>()
  const states = await startStepFunctions({
    async invoke(arn, payload) {
      const isAllowed = allows(machineRole, { action: 'lambda:InvokeFunction', resource: arn })
      if (!isAllowed) throw new Error(`the machines' role may not invoke ${arn}`)
      const run_id = runOf(payload)
      deliveries.push({ arn, payload, run_id })
      // Nobody waits for the second delivery: what it answers or throws is lost.
      if (twice.has(run_id)) lambda.invoke(arn, payload).catch(() => {})
      return lambda.invoke(arn, payload)
    },
  })
  const services = {
    dynamodb: dynamodb.aws.endpoint,
    s3: String(s3.config.endpoint),
    states: states.aws.endpoint,
    lambda: lambda.aws.endpoint,
    secretsmanager: secrets.aws.endpoint,
    ssm: secrets.aws.endpoint,
  }
  const door = await startDoor(services, allows)
  for (const resource of templates.all('AWS::Lambda::Function')) {
    const sandboxes = createSandboxes(functionOf(templates, resource, door.endpoint))
    const name = String(resource.properties.FunctionName)
    functions.set(name, sandboxes)
    emulated[name] = (event) => sandboxes.invoke(event)
  }
  await createMachines(templates, states.aws)
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
    lambda,
    states,
    secrets,
    /** By catalog name. */
    sandboxes: (name: string) => sandboxesOf(`sluice-dev-${name}`),
    functions,
    door,
    /** What machines called, in order. */
    deliveries: deliveries as readonly Delivery[],
    /** Runs whose machines' calls arrive twice, at the same time. */
    twice,
    async close() {
      await schedule.close()
      await api.close()
      await states.close()
      await lambda.close()
      await Promise.all([...functions.values()].map((sandboxes) => sandboxes.close()))
      await door.close()
      await secrets.close()
      await s3.close()
      await dynamodb.close()
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
  // Every payload of a machine holds the execution's input (decisions, "Block state").
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
const SERVICES = ['DYNAMODB', 'S3', 'SFN', 'LAMBDA', 'SECRETS_MANAGER', 'SSM']

function functionOf(templates: DeployedTemplates, { properties }: Deployed, endpoint: string) {
  const { S3Key } = properties.Code as { readonly S3Key: string }
  const { Variables } = properties.Environment as { readonly Variables: Readonly<Record<string, string>> }
  const name = String(properties.FunctionName)
  const [file, exported] = String(properties.Handler).split('.')
  if (exported !== 'handler') throw new Error(`the handler of ${name} is ${String(properties.Handler)}`)
  return {
    name,
    index: pathToFileURL(`${templates.asset(S3Key)}/${file}.mjs`).href,
    env: {
      ...Variables,
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

/** With the substitutions CloudFormation makes: every `${Name}` of the map, and nothing else. */
async function createMachines(templates: DeployedTemplates, aws: ConstructorParameters<typeof SFNClient>[0]) {
  const client = new SFNClient(aws ?? {})
  for (const { properties } of templates.all('AWS::StepFunctions::StateMachine')) {
    const { Key } = properties.DefinitionS3Location as { readonly Key: string }
    const substitutions = properties.DefinitionSubstitutions as Readonly<Record<string, string>>
    const definition = readFileSync(templates.asset(Key), 'utf8').replaceAll(
      /\$\{(\w+)\}/g,
      (whole, name: string) => substitutions[name] ?? whole,
    )
    const { StateMachineName, RoleArn } = properties
    await client.send(
      new CreateStateMachineCommand({ name: String(StateMachineName), roleArn: String(RoleArn), definition }),
    )
  }
  client.destroy()
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
  const [, count, unit] = /^rate\((\d+) (minute|day)s?\)$/.exec(rate) ?? []
  if (count === undefined) throw new Error(`a schedule ${rate}, which this reader does not know`)
  return Number(count) * (unit === 'day' ? 1_440 : 1)
}
