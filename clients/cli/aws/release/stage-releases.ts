import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  paginateQuery,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteFunctionCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda'
import { FUNCTIONS } from '../../../../shared/catalog.ts'
import {
  type PublishedVersion,
  RELEASE_ITEMS,
  type Release,
  type Routing,
  readRelease,
  readRouting,
  type UsedRelease,
} from '../../../../shared/runs/release.ts'
import { Refused } from '../../terminal/refused.ts'
import { awsCaller, type CallerOptions } from '../aws-caller.ts'
import { awsRefusal } from '../aws-refusal.ts'

/** The releases of a deployed stage, as its table and its functions say. */
export interface StageReleases {
  /** What was deployed last. */
  readonly deployed: Release
  /** Undefined: no run was started yet. */
  routing(): Promise<WrittenRouting | undefined>
  /** Releases that runs began with, and when the last did. */
  used(): Promise<readonly UsedRelease[]>
  /** In the place of what was read; false: somebody else wrote meanwhile. */
  write(next: Routing, before: WrittenRouting | undefined): Promise<boolean>
  /** Every version of the functions that machines call. */
  published(): Promise<readonly FunctionVersion[]>
  remove(version: FunctionVersion): Promise<void>
  /** Whose credentials these are, as CloudTrail has them too. */
  readonly by: string
}

export interface WrittenRouting extends Routing {
  readonly rev: number
}

export interface FunctionVersion extends PublishedVersion {
  readonly functionName: string
}

/** Refused where the stage is not there, or does not release gradually. */
export async function openStageReleases(stage: string, options: CallerOptions): Promise<StageReleases> {
  const caller = awsCaller(options)
  const client = { region: await caller.region(), credentials: caller.credentials, maxAttempts: 3 }
  const lambda = new LambdaClient(client)
  const { deployed, table } = await readDeployed(lambda, stage)
  const dynamodb = new DynamoDBClient(client)
  const { accessKeyId } = await caller.credentials()
  const items = (prefix: string) => itemsOf(dynamodb, table, prefix)
  return {
    deployed,
    by: `access key ${accessKeyId}`,
    async routing() {
      const [item] = await items(RELEASE_ITEMS.routing)
      return item && { ...readRouting(textIn(item)), rev: Number(item.rev?.N) }
    },
    used: async () =>
      (await items(RELEASE_ITEMS.used)).map((item) => ({
        release: readRelease(textIn(item)),
        used_at: Number(item.used_at?.N),
      })),
    write: (next, before) => writeRouting(dynamodb, table, next, before),
    published: () => publishedVersions(lambda, stage),
    async remove({ functionName, version }) {
      const Qualifier = version.slice(1)
      await lambda.send(new DeleteFunctionCommand({ FunctionName: functionName, Qualifier })).catch(refused)
    },
  }
}

async function readDeployed(lambda: LambdaClient, stage: string) {
  const FunctionName = `sluice-${stage}-start-run`
  const { Environment } = await lambda
    .send(new GetFunctionConfigurationCommand({ FunctionName }))
    .catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ResourceNotFoundException') throw noStage(stage)
      throw awsRefusal(error)
    })
  const { DEPLOYED_RELEASE, TABLE = '' } = Environment?.Variables ?? {}
  if (DEPLOYED_RELEASE === undefined) throw notGradual(stage)
  return { deployed: readRelease(DEPLOYED_RELEASE), table: TABLE }
}

function noStage(stage: string): Refused {
  const detail = `There is no stage "${stage}" in this account and region: no function is named sluice-${stage}-start-run. Name another with --stage, --profile or --region.`
  return new Refused({ code: 'no_stage', detail })
}

function notGradual(stage: string): Refused {
  const detail = `Stage "${stage}" has no releases: a deployment replaces its code at once. Set "sluice:release": "gradual" in cdk.json and deploy; the next deployment after that is one that can be shifted (docs/deploy.md, "Gradual release").`
  return new Refused({ code: 'releases_not_gradual', detail })
}

type Item = Readonly<Record<string, AttributeValue>>

function textIn({ text }: Item): string {
  return text?.S ?? ''
}

async function itemsOf(client: DynamoDBClient, TableName: string, prefix: string): Promise<readonly Item[]> {
  const asked = {
    TableName,
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': { S: RELEASE_ITEMS.partition }, ':sk': { S: prefix } },
  }
  const found: Item[] = []
  try {
    for await (const { Items = [] } of paginateQuery({ client }, asked)) found.push(...Items)
  } catch (error) {
    throw awsRefusal(error)
  }
  return found
}

async function writeRouting(
  client: DynamoDBClient,
  TableName: string,
  next: Routing,
  before: WrittenRouting | undefined,
): Promise<boolean> {
  const rev = before?.rev ?? 0
  const put = new PutItemCommand({
    TableName,
    Item: {
      pk: { S: RELEASE_ITEMS.partition },
      sk: { S: RELEASE_ITEMS.routing },
      text: { S: JSON.stringify(next) },
      rev: { N: String(rev + 1) },
    },
    ...(before === undefined
      ? { ConditionExpression: 'attribute_not_exists(rev)' }
      : { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': { N: String(rev) } } }),
  })
  return client.send(put).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ConditionalCheckFailedException) return false
      throw awsRefusal(error)
    },
  )
}

async function publishedVersions(client: LambdaClient, stage: string): Promise<readonly FunctionVersion[]> {
  const found: FunctionVersion[] = []
  for (const { name, placeholder } of FUNCTIONS) {
    if (placeholder === undefined) continue
    const functionName = `sluice-${stage}-${name}`
    const published = await versionsOf(client, functionName).catch(refused)
    found.push(...published.map((one) => ({ functionName, placeholder, ...one })))
  }
  return found
}

async function versionsOf(
  client: LambdaClient,
  functionName: string,
): Promise<readonly Pick<FunctionVersion, 'version' | 'made_at'>[]> {
  const found: Pick<FunctionVersion, 'version' | 'made_at'>[] = []
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName: functionName })) {
    for (const { Version = '', LastModified = '' } of Versions) {
      if (/^\d+$/.test(Version)) found.push({ version: `:${Version}`, made_at: timeOf(LastModified) })
    }
  }
  return found
}

/** `2026-11-27T22:50:00.000+0000`; one that cannot be read is from now, and stays. */
function timeOf(text: string): number {
  const at = Date.parse(text.replace(/\+0000$/, 'Z'))
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at
}

function refused(error: unknown): never {
  throw awsRefusal(error)
}
