import {
  type CloudFormationClient,
  DescribeStackResourcesCommand,
  type StackResource,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation'
import { DeleteTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { DeleteStateMachineCommand, paginateListStateMachines, SFNClient } from '@aws-sdk/client-sfn'
import { Refused } from '../../terminal/refused.ts'
import { awsCaller, type CallerOptions } from '../aws-caller.ts'
import { deleteBucket } from '../delete-data.ts'

/** What is there still, and how it goes. */
export interface Leftover {
  readonly what: string
  readonly why: string
  readonly command: string
  /** Left because others may need it, and not because it would not go. */
  readonly meant?: true
}

/** Stages of proofs, and nothing else, are taken down without a question: a stage of somebody's has another name. */
const PROOF_STAGE = /^prove[a-z0-9]{7}$/

/** A name of 12 characters, seven of them drawn: one of 78 billion. */
export function drawStage(bytes: Uint8Array): string {
  const drawn = [...bytes.slice(0, 7)].map((byte) => (byte % 36).toString(36))
  return `prove${drawn.join('')}`
}

interface TakeDown {
  readonly stage: string
  readonly account: string
  readonly where: CallerOptions & { readonly region: string }
  /** Of the synthesis, as the CDK knows them. */
  readonly stacks: readonly string[]
  cdk(...args: readonly string[]): Promise<void>
  /** Told of each part that goes. */
  note(text: string): void
}

/**
 * Deletes everything of a proof's stage: its stacks, machines that runs made, table and buckets with what is in them. What
 * fails is tried twice, and does not keep the rest from going. Answers what is there still.
 */
export async function takeDown(given: TakeDown): Promise<readonly Leftover[]> {
  const { stage, account, where, stacks, cdk, note } = given
  if (!PROOF_STAGE.test(stage)) throw new TypeError(`${stage} is no stage of a proof: nothing of it is deleted`)
  const clients = clientsOf(where)
  const kept = await retained(clients.cloudFormation, stage)
  const of = ` --region ${where.region}${where.profile === undefined ? '' : ` --profile ${where.profile}`}`
  const table = `sluice-${stage}`
  const bucket = `sluice-${stage}-${account}-${where.region}`
  const parts: readonly Part[] = [
    {
      what: `the stacks ${stacks
        .filter(isNoData)
        .map((name) => stackName(stage, name))
        .join(', ')}`,
      command: stacks
        .filter(isNoData)
        .map((name) => `aws cloudformation delete-stack --stack-name ${stackName(stage, name)}${of}`)
        .reverse()
        .join(' && '),
      go: () => cdk('destroy', ...stacks.filter(isNoData), '--force'),
    },
    {
      what: `machines of documents that came with requests, sluice-${stage}-x-..`,
      command: `aws stepfunctions list-state-machines --query "stateMachines[?starts_with(name, 'sluice-${stage}-x-')].stateMachineArn"${of}`,
      go: () => deleteMachines(clients.machines, `sluice-${stage}-x-`),
    },
    {
      what: `the stack ${stackName(stage, 'SluiceData')}`,
      command: `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stackName(stage, 'SluiceData')}${of} && aws cloudformation delete-stack --stack-name ${stackName(stage, 'SluiceData')}${of}`,
      go: async () => {
        await unprotect(clients, stage)
        await cdk('destroy', 'SluiceData', '--force')
      },
    },
    {
      what: `the table ${table}`,
      command: `aws dynamodb update-table --no-deletion-protection-enabled --table-name ${table}${of} && aws dynamodb delete-table --table-name ${table}${of}`,
      go: () => gone(clients.tables.send(new DeleteTableCommand({ TableName: table }))),
    },
    ...[bucket, ...kept.buckets].map((name) => ({
      what: `the bucket ${name}`,
      command: `aws s3api list-object-versions --bucket ${name}${of}   # delete them, then: aws s3api delete-bucket --bucket ${name}${of}`,
      go: () => gone(deleteBucket(name, where)),
    })),
  ]
  const left: Leftover[] = []
  for (const part of parts) {
    note(`Deleting ${part.what}`)
    const why = await twice(part.go)
    if (why !== undefined) left.push({ what: part.what, why, command: part.command })
  }
  const byDesign = kept.roles.map((role) => ({
    what: `the role ${role}`,
    why: 'API Gateway may log through it for the whole account now, other stages too (one setting an account and region), so it is left',
    command: `aws apigateway get-account${of}   # if cloudwatchRoleArn names another role: aws iam delete-role-policy --role-name ${role} --policy-name logs && aws iam delete-role --role-name ${role}`,
    meant: true as const,
  }))
  return [...left, ...byDesign]
}

interface Part {
  readonly what: string
  readonly command: string
  go(): Promise<unknown>
}

async function twice(go: () => Promise<unknown>): Promise<string | undefined> {
  const why = await reason(go)
  return why === undefined ? undefined : await reason(go)
}

function reason(go: () => Promise<unknown>): Promise<string | undefined> {
  return go().then(
    () => undefined,
    (error: unknown) => (error instanceof Refused ? error.reason.detail : String(error)).replace(/\s+/g, ' '),
  )
}

function isNoData(name: string): boolean {
  return name !== 'SluiceData'
}

/** As infra/aws/build-app.ts names them: SluiceDocuments1 is `sluice-STAGE-documents-1`. */
function stackName(stage: string, name: string): string {
  const words = name.replace('Sluice', '').replace(/(\d+)$/, '-$1')
  return `sluice-${stage}-${words.toLowerCase()}`
}

function clientsOf(options: CallerOptions) {
  const { cloudFormation, region, credentials } = awsCaller(options)
  const shared = { region, credentials, maxAttempts: 5 }
  return { cloudFormation, tables: new DynamoDBClient(shared), machines: new SFNClient(shared) }
}

/** What a stack leaves behind when it goes, but for table and bucket, whose names are known. */
async function retained(client: CloudFormationClient, stage: string) {
  const of = async (stack: string, is: (resource: StackResource) => boolean) => {
    const asked = client.send(new DescribeStackResourcesCommand({ StackName: `sluice-${stage}-${stack}` }))
    const { StackResources = [] } = await asked.catch(() => ({ StackResources: [] }))
    return StackResources.filter(is).flatMap(({ PhysicalResourceId = '' }) => PhysicalResourceId || [])
  }
  return {
    buckets: await of('data', ({ ResourceType, LogicalResourceId = '' }) => {
      return ResourceType === 'AWS::S3::Bucket' && LogicalResourceId.startsWith('AccessLogs')
    }),
    roles: await of('api', ({ ResourceType, LogicalResourceId = '' }) => {
      return ResourceType === 'AWS::IAM::Role' && LogicalResourceId.startsWith('GatewayLogs')
    }),
  }
}

/** Where a deployment ended early, some of it was never there. */
async function gone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const cause = error instanceof Refused ? error.cause : error
    const seen = `${cause instanceof Error ? cause.name : ''} ${String(cause)}`
    if (!/ResourceNotFound|NoSuchBucket|does not exist|NotFound/.test(seen)) throw error
  })
}

async function unprotect({ cloudFormation, tables }: ReturnType<typeof clientsOf>, stage: string): Promise<void> {
  const StackName = `sluice-${stage}-data`
  const protection = new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false })
  await gone(cloudFormation.send(protection))
  await gone(tables.send(new UpdateTableCommand({ TableName: `sluice-${stage}`, DeletionProtectionEnabled: false })))
}

async function deleteMachines(client: SFNClient, prefix: string): Promise<void> {
  for await (const { stateMachines = [] } of paginateListStateMachines({ client }, {})) {
    for (const { name = '', stateMachineArn } of stateMachines) {
      if (name.startsWith(prefix)) await client.send(new DeleteStateMachineCommand({ stateMachineArn }))
    }
  }
}
