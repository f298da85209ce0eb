import type { Stack } from 'aws-cdk-lib'
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { CfnQueue } from 'aws-cdk-lib/aws-sqs'

/**
 * Puts what is at rest under a key of the customer's: the table, the bucket of objects, dead letters and every log group.
 * Not the bucket of access logs: S3 delivers those only under its own key (S3 guide, "Enabling server access logging").
 * Changing the key replaces nothing. What the functions may do with it is theirs (key-access.ts); what AWS's services
 * may is the key's policy, which belongs to who owns the key (docs/deploy.md).
 */
export function putUnderKey(key: string, stacks: readonly Stack[]): void {
  for (const resource of stacks.flatMap((stack) => stack.node.findAll())) {
    if (resource instanceof CfnTable)
      resource.sseSpecification = { sseEnabled: true, sseType: 'KMS', kmsMasterKeyId: key }
    // The one whose requests are logged; the other holds those logs.
    if (resource instanceof CfnBucket && resource.loggingConfiguration !== undefined)
      resource.bucketEncryption = ofBucket(key)
    if (resource instanceof CfnLogGroup) resource.kmsKeyId = key
    if (resource instanceof CfnQueue) {
      resource.sqsManagedSseEnabled = undefined
      resource.kmsMasterKeyId = key
    }
  }
}

/** A bucket key: one call of KMS for many objects. */
function ofBucket(key: string): CfnBucket.BucketEncryptionProperty {
  const serverSideEncryptionByDefault = { sseAlgorithm: 'aws:kms', kmsMasterKeyId: key }
  return { serverSideEncryptionConfiguration: [{ serverSideEncryptionByDefault, bucketKeyEnabled: true }] }
}
