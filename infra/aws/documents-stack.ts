import { statSync } from 'node:fs'
import {
  ArnFormat,
  CfnParameter,
  CfnResource,
  CfnRule,
  CfnWaitConditionHandle,
  Fn,
  Stack,
  type StackProps,
} from 'aws-cdk-lib'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import type { Construct } from 'constructs'
import { Fault } from '../../shared/errors.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { functionArn } from './access.ts'
import { DagMachine, type DagMachineProps } from './dag-machine.ts'
import { functionsIn } from './function-sizes.ts'
import type { Names } from './names.ts'

export interface DocumentsStackProps extends StackProps {
  readonly names: Names
  readonly dags: readonly DagMachineProps['dag'][]
  /** Folder with the definitions. */
  readonly definitions: string
}

/**
 * The machines of one share of a stage's documents, where `sluice:document_stacks` spreads them. What they run as, what
 * they call and where they log is in the stack of the machines, and named here: no value leaves a stack.
 */
export class DocumentsStack extends Stack {
  constructor(scope: Construct, id: string, { names, dags, definitions, ...props }: DocumentsStackProps) {
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
    const functionArns = Object.fromEntries(
      functionsIn('machine').map(({ name, placeholder }) => [placeholder ?? '', functionArn(this, names, name)]),
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

/** CloudFormation's quotas of one stack. */
const RESOURCES = 500
const TEMPLATE_BYTES = 1_000_000

/** What a synthesis was asked for, to say what would be less. */
interface Asked {
  readonly documents: number
  /** `sluice:document_stacks`. */
  readonly spread: number
}

/** Fault InvalidInput too_many_documents, before anything is written. */
export function requireResourceRoom(stacks: readonly Stack[], asked: Asked): void {
  for (const stack of stacks) {
    const resources = stack.node.findAll().filter((node) => CfnResource.isCfnResource(node)).length
    if (resources <= RESOURCES) continue
    throw tooMany(stack.artifactId, `${resources} resources, and CloudFormation takes ${RESOURCES}`, asked)
  }
}

/** The same of the templates that were written. */
export function requireSmallTemplates({ stacks }: CloudAssembly, asked: Asked): void {
  for (const { id, templateFullPath } of stacks) {
    const { size } = statSync(templateFullPath)
    if (size <= TEMPLATE_BYTES) continue
    throw tooMany(id, `a template of ${size} bytes, and CloudFormation takes ${TEMPLATE_BYTES}`, asked)
  }
}

function tooMany(stack: string, what: string, { documents, spread }: Asked): Fault {
  const enough = Math.max(spread + 1, Math.ceil(documents / 100))
  const message = `Cannot deploy ${documents} documents: stack ${stack} would have ${what}. sluice:document_stacks is ${spread}; a stage that was never deployed takes another number, say -c sluice:document_stacks=${enough}. One that was keeps its own: docs/deploy.md, "Many documents", says what to do there.`
  return new Fault('InvalidInput', 'too_many_documents', message)
}
