import { UpdateTerminationProtectionCommand } from '@aws-sdk/client-cloudformation'
import { DeleteTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import {
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  S3Client,
  type _Error as S3Error,
} from '@aws-sdk/client-s3'
import { Refused } from '../terminal/refused.ts'
import { awsCaller, type CallerOptions } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

/** Takes off what keeps the data of a stage from being deleted by mistake (infra/aws/data-stack.ts). */
export async function unprotectData(stage: string, options: CallerOptions): Promise<void> {
  const { cloudFormation } = awsCaller(options)
  const change = new UpdateTerminationProtectionCommand({
    StackName: `sluice-${stage}-data`,
    EnableTerminationProtection: false,
  })
  await cloudFormation.send(change).catch(refused)
  const table = new UpdateTableCommand({ TableName: `sluice-${stage}`, DeletionProtectionEnabled: false })
  await tablesOf(options).send(table).catch(refused)
}

/** Deletes the table and the bucket of objects with all their versions; answers how many of those there were. */
export async function deleteData(stage: string, account: string, options: CallerOptions): Promise<number> {
  await tablesOf(options)
    .send(new DeleteTableCommand({ TableName: `sluice-${stage}` }))
    .catch(refused)
  return await deleteBucket(`sluice-${stage}-${account}-${options.region}`, options)
}

/** With every version in it; answers how many of those there were. */
export async function deleteBucket(bucket: string, options: CallerOptions): Promise<number> {
  const { region, credentials } = clientOf(options)
  // Addresses with the bucket in their path: an endpoint of one's own has no names below it.
  const s3 = new S3Client({ region, credentials, maxAttempts: 5, forcePathStyle: true })
  return await emptyAndDelete(s3, bucket).catch(refused)
}

function clientOf(options: CallerOptions) {
  const caller = awsCaller(options)
  return { region: caller.region, credentials: caller.credentials }
}

function tablesOf(options: CallerOptions): DynamoDBClient {
  return new DynamoDBClient({ ...clientOf(options), maxAttempts: 3 })
}

/** A listing names up to 1,000 versions, and a deletion takes as many; what is deleted is not listed again. */
async function emptyAndDelete(s3: S3Client, Bucket: string): Promise<number> {
  let deleted = 0
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }))
    if (Objects.length === 0) break
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
    if (Errors[0] !== undefined) throw notDeleted(Errors[0])
    deleted += Objects.length
  }
  await s3.send(new DeleteBucketCommand({ Bucket }))
  return deleted
}

function notDeleted({ Key, Code, Message }: S3Error): Refused {
  return new Refused({
    code: 'aws_call_refused',
    detail: `AWS refused the call: S3 would not delete ${Key}: ${Code} ${Message}`,
  })
}

function refused(error: unknown): never {
  throw awsRefusal(error)
}
