import { CfnWaitConditionHandle, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import { RUN_TABLE } from '../../shared/runs/dynamodb-table.ts'
import type { RestoredData } from './deploy-settings.ts'
import type { Names } from './names.ts'

/** Each publication leaves the snapshot before it, of up to some hundred MB; index-graph stores the last again each day. */
const SNAPSHOT_DAYS = 4

interface DataStackProps extends StackProps {
  readonly names: Names
  readonly retentionDays: number
  readonly tenants: readonly string[]
  /** What a restore made is not made again: the stack has no part in it, and what it had stays where it is. */
  readonly restored?: RestoredData | undefined
}

/** What every bucket of ours is: nobody's from outside, only over TLS, under S3's own key, and it stays when its stack goes. */
export const CLOSED_BUCKET = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  encryption: BucketEncryption.S3_MANAGED,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: RemovalPolicy.RETAIN,
}

/** What outlives every deployment: the table of runs and the bucket of objects. Both stay when the stack is deleted. */
export class DataStack extends Stack {
  constructor(scope: Construct, id: string, props: DataStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    if (props.restored === undefined) this.addTable(props.names)
    if (props.restored?.bucket === undefined) this.addBuckets(props)
    // Nothing, for free: an empty stack cannot be deployed, and others depend on this one.
    else new CfnWaitConditionHandle(this, 'Restored')
  }

  private addTable(names: Names): void {
    const key = (name: string) => ({ name, type: AttributeType.STRING })
    const table = new Table(this, 'Runs', {
      tableName: names.table,
      partitionKey: key(RUN_TABLE.hash),
      sortKey: key(RUN_TABLE.range),
      timeToLiveAttribute: RUN_TABLE.ttl,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    })
    for (const { name, hash, range, include } of RUN_TABLE.indexes) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: key(hash),
        sortKey: key(range),
        ...(include.length === 0
          ? { projectionType: ProjectionType.KEYS_ONLY }
          : { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...include] }),
      })
    }
  }

  /**
   * Objects are written again by each run that uses them, bodies of the graph by index-graph: their age is counted from
   * their last PUT.
   */
  private addBuckets({ names, retentionDays, tenants }: DataStackProps): void {
    const broken = { abortIncompleteMultipartUploadAfter: Duration.days(1) }
    // The class has an optional member where its interface requires one (exactOptionalPropertyTypes).
    const logs = new Bucket(this, 'AccessLogs', {
      ...CLOSED_BUCKET,
      versioned: true,
      lifecycleRules: [{ ...broken, expiration: Duration.days(90), noncurrentVersionExpiration: Duration.days(1) }],
    }) as IBucket
    new Bucket(this, 'Objects', {
      ...CLOSED_BUCKET,
      bucketName: names.bucket(this.account, this.region),
      versioned: true,
      serverAccessLogsBucket: logs,
      lifecycleRules: [
        { ...broken, expiration: Duration.days(retentionDays + 30), noncurrentVersionExpiration: Duration.days(30) },
        ...tenants.map((tenant) => ({
          prefix: `${tenant}/index/`,
          expiration: Duration.days(SNAPSHOT_DAYS),
          noncurrentVersionExpiration: Duration.days(1),
        })),
      ],
    })
  }
}
