import { RemovalPolicy } from 'aws-cdk-lib'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { CfnStateMachine, CfnStateMachineAlias, CfnStateMachineVersion } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { MachineDag } from './deployed-dags.ts'
import type { Names } from './names.ts'

export interface DagMachineProps {
  readonly dag: MachineDag
  readonly names: Names
  /** Folder with the definitions, exactly as compileDag wrote them: `<slug>.json`, parts `<slug>_<k>.json`. */
  readonly definitions: string
  readonly roleArn: string
  /** Ends in `:*`. */
  readonly logGroupArn: string
  /** ARN by placeholder (`RunBlock`). */
  readonly functionArns: Readonly<Record<string, string>>
}

/**
 * A DAG's state machine with a version, and one for each of its parts. The texts are assets and their placeholders are
 * bound by CloudFormation, so what is deployed is what was compiled. A version outlives its replacement, because runs that
 * were started on it name it; the same of the parts, which a machine starts by version. An alias named after the document's
 * hash says the version, for whoever starts runs of exactly this text: another text gets another alias, and the old one
 * goes when the deployment has ended well.
 */
export class DagMachine extends Construct {
  readonly machine: CfnStateMachine

  constructor(scope: Construct, props: DagMachineProps) {
    const { dag, names } = props
    super(scope, dag.slug)
    // A part comes after those it starts.
    const arns: Record<string, string> = { ...props.functionArns }
    for (const [i, { key, text }] of dag.parts.entries()) {
      const part = new Construct(this, key)
      const name = names.machinePart(dag.slug, i + 1)
      arns[key] = addVersioned(part, { ...props, name, file: `${dag.slug}_${i + 1}.json`, text, arns }).version.ref
    }
    const file = `${dag.slug}.json`
    const whole = { ...props, name: names.machine(dag.slug), file, text: dag.definition, arns }
    const { machine, version } = addVersioned(this, whole)
    this.machine = machine
    new CfnStateMachineAlias(this, 'Document', {
      name: names.documentAlias(dag.dag_hash),
      routingConfiguration: [{ stateMachineVersionArn: version.ref, weight: 100 }],
    })
  }
}

interface VersionedProps extends Pick<DagMachineProps, 'definitions' | 'roleArn' | 'logGroupArn'> {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly arns: Readonly<Record<string, string>>
}

function addVersioned(scope: Construct, { name, file, text, arns, ...props }: VersionedProps) {
  const asset = new Asset(scope, 'Definition', { path: `${props.definitions}/${file}` })
  const machine = new CfnStateMachine(scope, 'Machine', {
    stateMachineName: name,
    stateMachineType: 'STANDARD',
    roleArn: props.roleArn,
    definitionS3Location: { bucket: asset.s3BucketName, key: asset.s3ObjectKey },
    definitionSubstitutions: usedIn(text, arns),
    loggingConfiguration: {
      level: 'ALL',
      includeExecutionData: false,
      destinations: [{ cloudWatchLogsLogGroup: { logGroupArn: props.logGroupArn } }],
    },
    tracingConfiguration: { enabled: true },
  })
  // A revision is published once: nothing else may be a property here, or a document with the same text could not deploy.
  const version = new CfnStateMachineVersion(scope, 'Version', {
    stateMachineArn: machine.ref,
    stateMachineRevisionId: machine.attrStateMachineRevisionId,
  })
  version.applyRemovalPolicy(RemovalPolicy.RETAIN)
  return { machine, version }
}

function usedIn(definition: string, arns: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(arns).filter(([placeholder]) => definition.includes(`\${${placeholder}}`)))
}
