import type { Stack } from 'aws-cdk-lib'
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { CfnQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * Puts what is at rest under a key of the customer's: the table, the bucket of objects, dead letters and every log group.
 * Not the bucket of access logs: S3 delivers those only under its own key (S3 guide, "Enabling server access logging").
 * Changing the key replaces nothing. What the functions may do with it is theirs (below); what AWS's services
 * may is the key's policy, which belongs to who owns the key (docs/deploy.md).
 */
export function encryptWithKey(key: string, stacks: readonly Stack[]): void {
  for (const resource of stacks.flatMap((stack) => stack.node.findAll())) {
    if (resource instanceof CfnTable)
      resource.sseSpecification = { sseEnabled: true, sseType: 'KMS', kmsMasterKeyId: key }
    // The one whose requests are logged; the other holds those logs.
    if (resource instanceof CfnBucket && resource.loggingConfiguration !== undefined)
      resource.bucketEncryption = bucketEncryption(key)
    if (resource instanceof CfnLogGroup) resource.kmsKeyId = key
    if (resource instanceof CfnQueue) {
      resource.sqsManagedSseEnabled = undefined
      resource.kmsMasterKeyId = key
    }
  }
}

/** A bucket key: one call of KMS for many objects. */
function bucketEncryption(key: string): CfnBucket.BucketEncryptionProperty {
  const serverSideEncryptionByDefault = { sseAlgorithm: 'aws:kms', kmsMasterKeyId: key }
  return { serverSideEncryptionConfiguration: [{ serverSideEncryptionByDefault, bucketKeyEnabled: true }] }
}

/**
 * What a role needs of the customer-managed key, found in what it may do already: who reads decrypts, who writes takes
 * data keys. Each statement holds only for calls that the service makes for it (`kms:ViaService`): no function can use the
 * key itself. Undefined = the role touches nothing that is under the key.
 */
export function keyStatements(
  key: string,
  region: string,
  actions: readonly string[],
): readonly PolicyStatement[] | undefined {
  const statements = SERVICES.flatMap(({ service, reads, writes }) => {
    const of = actions.filter((action) => action.startsWith(`${service}:`))
    const needed = [
      ...(of.some((action) => reads.test(action)) ? READ : []),
      ...(of.some((action) => writes.test(action)) ? WRITE[service] : []),
    ]
    if (needed.length === 0) return []
    const conditions = { StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` } }
    return [new PolicyStatement({ actions: [...new Set(needed)], resources: [key], conditions })]
  })
  return statements.length === 0 ? undefined : statements
}

/** AWS's own lists are wider by a star (`kms:ReEncrypt*`); these are the actions behind it. */
const READ = ['kms:Decrypt']
const WRITE = {
  // Source: DynamoDB guide, "Encryption at rest: authorizing use of your customer managed key". CreateGrant is the deployer's.
  dynamodb: [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  s3: ['kms:GenerateDataKey'],
  // Source: SQS guide, "Configure KMS permissions for producers".
  sqs: ['kms:Decrypt', 'kms:GenerateDataKey'],
} as const

const SERVICES = [
  { service: 'dynamodb', reads: /:(Get|BatchGet|Query)/, writes: /:(Put|Update|Delete|BatchWrite)/ },
  { service: 's3', reads: /:GetObject(Version)?$/, writes: /:PutObject$/ },
  { service: 'sqs', reads: /:ReceiveMessage$/, writes: /:SendMessage$/ },
] as const
