import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { Bucket, CfnBucket, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { CLOSED_BUCKET } from './data-stack.ts'
import type { Names } from './names.ts'

interface DropsStackProps extends StackProps {
  readonly names: Names
  /** How long what was dropped stays where it was. */
  readonly retentionDays: number
}

/**
 * The bucket people drop things into for triggers, which tells EventBridge of each. None of the bodies of runs is in it: who may
 * drop can read nothing of them, and who reads drops nothing of runs (docs/adr/0107). It has versions, so that what is read is
 * what the event is about. A stack of its own, as that of the anchors: it stays where no document waits for objects any more.
 */
export class DropsStack extends Stack {
  constructor(scope: Construct, id: string, { names, retentionDays, ...props }: DropsStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    const closed = { ...CLOSED_BUCKET, versioned: true }
    const broken = { abortIncompleteMultipartUploadAfter: Duration.days(1) }
    // The class has an optional member where its interface requires one (exactOptionalPropertyTypes).
    const logs = new Bucket(this, 'AccessLogs', {
      ...closed,
      lifecycleRules: [{ ...broken, expiration: Duration.days(90), noncurrentVersionExpiration: Duration.days(1) }],
    }) as IBucket
    const bucket = new Bucket(this, 'Drops', {
      ...closed,
      bucketName: names.drops(this.account, this.region),
      serverAccessLogsBucket: logs,
      lifecycleRules: [
        { ...broken, expiration: Duration.days(retentionDays), noncurrentVersionExpiration: Duration.days(7) },
      ],
    })
    // The construct's own switch would bring a function of the CDK that sets it.
    new CfnOutput(this, 'DropBucket', { value: bucket.bucketName })
    const written = bucket.node.defaultChild
    if (written instanceof CfnBucket)
      written.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } }
  }
}
