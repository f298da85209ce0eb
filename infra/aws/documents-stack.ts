import { ArnFormat, CfnParameter, CfnRule, CfnWaitConditionHandle, Fn, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { sha256 } from '../../shared/text/hash.ts'
import { functionArn } from './access.ts'
import { DagMachine, type DagMachineProps } from './dag-machine.ts'
import { functionsIn } from './function-sizes.ts'
import type { Names } from './names.ts'
import { calledFunctions } from './release.ts'

interface DocumentsStackProps extends StackProps {
  readonly names: Names
  readonly dags: readonly DagMachineProps['dag'][]
  /** Folder with the definitions. */
  readonly definitions: string
  /** Releases are gradual. */
  readonly gradual: boolean
}

/**
 * The machines of one share of a stage's documents, where `sluice:document_stacks` spreads them. What they run as, what
 * they call and where they log is in the stack of the machines, and named here: no value leaves a stack.
 */
export class DocumentsStack extends Stack {
  constructor(scope: Construct, id: string, { names, dags, definitions, gradual, ...props }: DocumentsStackProps) {
    super(scope, id, { ...props, suppressTemplateIndentation: true })
    const roleArn = this.formatArn({
      service: 'iam',
      region: '',
      resource: 'role',
      resourceName: names.machineRole(this.region),
    })
    const logGroupArn = this.formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: `${names.machineLogs}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    const functionArns = calledFunctions(
      functionsIn('machine').map(({ name, placeholder }) => [placeholder ?? '', functionArn(this, names, name)]),
      gradual,
    )
    for (const dag of dags) new DagMachine(this, { dag, names, definitions, roleArn, logGroupArn, functionArns })
    // Nothing, for free: a share without a document today may have one tomorrow, and an empty stack cannot be deployed.
    new CfnWaitConditionHandle(this, 'Share')
  }
}

/** The documents of each stack, by the hash of their machine's name alone: no other document moves one. */
export function shareDocuments<Dag extends Pick<DagMachineProps['dag'], 'slug'>>(
  dags: readonly Dag[],
  stacks: number,
): readonly (readonly Dag[])[] {
  const shareOf = ({ slug }: Dag) => Number.parseInt(sha256(slug).slice(0, 8), 16) % stacks
  return Array.from({ length: stacks }, (_, share) => dags.filter((dag) => shareOf(dag) === share))
}

/**
 * Another number of stacks would move machines from one to another: CloudFormation would delete them and make them anew,
 * and AWS ends what runs on a machine that is deleted. So the number is a parameter, whose value stays as it was (the CDK's
 * CLI keeps values of parameters it is told nothing of), and a rule of the template refuses it before anything is changed.
 */
export function pinStackCount(stack: Stack, stacks: number): void {
  const parameter = new CfnParameter(stack, LAYOUT, {
    default: String(stacks),
    description: 'sluice:document_stacks of the first deployment; never another one',
  })
  new CfnRule(stack, `${LAYOUT}Stay`, {
    assertions: [
      {
        assert: Fn.conditionEquals(parameter.valueAsString, String(stacks)),
        assertDescription: `sluice:document_stacks is ${stacks} now and was another number when this stage was deployed first: its machines would be deleted with the runs on them. Set it back; docs/deploy.md, "Many documents", says how to change it.`,
      },
    ],
  })
}

const LAYOUT = 'DocumentStacks'
