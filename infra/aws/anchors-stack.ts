import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { Bucket, type IBucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { CLOSED_BUCKET } from './data-stack.ts'
import type { Names } from './names.ts'

interface AnchorsStackProps extends StackProps {
  readonly names: Names
  /** How long each anchor is locked. */
  readonly retentionDays: number
}

/**
 * The bucket of anchors: Object Lock in compliance mode, so that nobody, root included, deletes one before its time or
 * shortens it. A stack of its own: where the settings ask for anchors no more, it and its bucket stay as they are, and are
 * there when they ask again. Under S3's own key: hashes are no secret, and a key that its owner deletes would take them.
 */
export class AnchorsStack extends Stack {
  constructor(scope: Construct, id: string, { names, retentionDays, ...props }: AnchorsStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    const closed = { ...CLOSED_BUCKET, versioned: true }
    const broken = { abortIncompleteMultipartUploadAfter: Duration.days(1) }
    // The class has an optional member where its interface requires one (exactOptionalPropertyTypes).
    const logs = new Bucket(this, 'AccessLogs', {
      ...closed,
      lifecycleRules: [{ ...broken, expiration: Duration.days(90), noncurrentVersionExpiration: Duration.days(1) }],
    }) as IBucket
    new Bucket(this, 'Anchors', {
      ...closed,
      bucketName: names.anchors(this.account, this.region),
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(retentionDays)),
      serverAccessLogsBucket: logs,
      // S3 takes away no version that is locked, whatever a rule says.
      lifecycleRules: [
        { ...broken, expiration: Duration.days(retentionDays + 30), noncurrentVersionExpiration: Duration.days(30) },
      ],
    })
  }
}
