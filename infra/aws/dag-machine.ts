import { RemovalPolicy } from 'aws-cdk-lib'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { CfnStateMachine, CfnStateMachineAlias, CfnStateMachineVersion } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { DeployedDag } from './deployed-dags.ts'
import type { Names } from './names.ts'

export interface DagMachineProps {
  readonly dag: DeployedDag
  readonly names: Names
  /** File with the definition, exactly as compileDag wrote it. */
  readonly definitionFile: string
  readonly roleArn: string
  /** Ends in `:*`. */
  readonly logGroupArn: string
  /** ARN by placeholder (`RunBlock`). */
  readonly functionArns: Readonly<Record<string, string>>
}

/**
 * A DAG's state machine with a version and the alias `live`. The text is an asset and its placeholders are bound by
 * CloudFormation, so what is deployed is what was compiled. A version outlives its replacement, because runs that were
 * started on it name it.
 */
export class DagMachine extends Construct {
  readonly machine: CfnStateMachine
  /** What runs are started on: a text that never changes. */
  readonly versionArn: string

  constructor(scope: Construct, { dag, names, definitionFile, ...props }: DagMachineProps) {
    super(scope, dag.slug)
    const asset = new Asset(this, 'Definition', { path: definitionFile })
    this.machine = new CfnStateMachine(this, 'Machine', {
      stateMachineName: names.machine(dag.slug),
      stateMachineType: 'STANDARD',
      roleArn: props.roleArn,
      definitionS3Location: { bucket: asset.s3BucketName, key: asset.s3ObjectKey },
      definitionSubstitutions: usedIn(dag.definition, props.functionArns),
      loggingConfiguration: {
        level: 'ALL',
        includeExecutionData: false,
        destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: props.logGroupArn } }],
      },
      tracingConfiguration: { enabled: true },
    })
    // A revision is published once: nothing else may be a property here, or a document with the same text could not deploy.
    const version = new CfnStateMachineVersion(this, 'Version', {
      stateMachineArn: this.machine.ref,
      stateMachineRevisionId: this.machine.attrStateMachineRevisionId,
    })
    version.applyRemovalPolicy(RemovalPolicy.RETAIN)
    this.versionArn = version.ref
    new CfnStateMachineAlias(this, 'Live', {
      name: 'live',
      routingConfiguration: [{ stateMachineVersionArn: version.ref, weight: 100 }],
    })
  }
}

function usedIn(definition: string, arns: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(arns).filter(([placeholder]) => definition.includes(`\${${placeholder}}`)))
}
