import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { Bucket, type BucketProps, CfnBucket, type IBucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { CLOSED_BUCKET } from './data-stack.ts'
import type { Names } from './names.ts'

/**
 * Buckets that only some stages have, each in a stack of its own: where the settings, or the documents, ask for one no more, it
 * stays as it is with what is in it, and is there when they ask again.
 */
interface BucketStackProps extends StackProps {
  readonly names: Names
  /** How long each anchor is locked, and what was dropped stays where it was. */
  readonly retentionDays: number
}

/**
 * The bucket of anchors: Object Lock in compliance mode, so that nobody, root included, deletes one before its time or
 * shortens it. Under S3's own key: hashes are no secret, and a key that its owner deletes would take them.
 */
export class AnchorsStack extends Stack {
  constructor(scope: Construct, id: string, { names, retentionDays, ...props }: BucketStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    addLoggedBucket(this, 'Anchors', {
      bucketName: names.anchors(this.account, this.region),
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(retentionDays)),
      // S3 takes away no version that is locked, whatever a rule says.
      lifecycleRules: [
        {
          ...UNFINISHED,
          expiration: Duration.days(retentionDays + 30),
          noncurrentVersionExpiration: Duration.days(30),
        },
      ],
    })
  }
}

/**
 * The bucket people drop things into for triggers, which tells EventBridge of each. None of the bodies of runs is in it: who may
 * drop can read nothing of them, and who reads drops nothing of runs (docs/adr/0107). It has versions, so that what is read is
 * what the event is about.
 */
export class DropsStack extends Stack {
  constructor(scope: Construct, id: string, { names, retentionDays, ...props }: BucketStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    const bucket = addLoggedBucket(this, 'Drops', {
      bucketName: names.drops(this.account, this.region),
      lifecycleRules: [
        { ...UNFINISHED, expiration: Duration.days(retentionDays), noncurrentVersionExpiration: Duration.days(7) },
      ],
    })
    new CfnOutput(this, 'DropBucket', { value: bucket.bucketName })
    const written = bucket.node.defaultChild
    // The construct's own switch would bring a function of the CDK that sets it.
    if (written instanceof CfnBucket)
      written.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } }
  }
}

const UNFINISHED = { abortIncompleteMultipartUploadAfter: Duration.days(1) }

/** Closed, with versions, and a bucket beside it that holds for 90 days who asked for what. */
function addLoggedBucket(stack: Stack, id: string, props: BucketProps): Bucket {
  const closed = { ...CLOSED_BUCKET, versioned: true }
  // The class has an optional member where its interface requires one (exactOptionalPropertyTypes).
  const logs = new Bucket(stack, 'AccessLogs', {
    ...closed,
    lifecycleRules: [{ ...UNFINISHED, expiration: Duration.days(90), noncurrentVersionExpiration: Duration.days(1) }],
  }) as IBucket
  return new Bucket(stack, id, { ...closed, ...props, serverAccessLogsBucket: logs })
}
