import { join } from 'node:path'
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { FunctionLine } from '../../shared/catalog.ts'
import { type Chosen, functionArn } from './access.ts'
import { CatalogFunction } from './catalog-function.ts'
import { DagMachine, type DagMachineProps } from './dag-machine.ts'
import { environmentOf, type MachineFacts } from './function-environment.ts'
import { rightsOf } from './grants.ts'
import { MachineRole } from './machine-role.ts'
import type { Names } from './names.ts'
import { addOwnCalls } from './own-calls.ts'
import { functionsAt, stands } from './placement.ts'

export interface MachinesStackProps extends StackProps {
  readonly names: Names
  readonly dags: readonly DagMachineProps['dag'][]
  readonly chosen: Chosen
  /** Holds `functions/<name>/` and `definitions/<slug>.json`. */
  readonly built: string
}

/**
 * Everything that runs without a caller waiting: the machines, the functions they call, what starts and ends runs, and
 * the sweep. start-run is here and not beside its route because it is told the machines' versions: an export that
 * changes with each document could not be deployed.
 */
export class MachinesStack extends Stack {
  readonly machines: readonly DagMachine[]
  readonly deadLetters: Queue

  constructor(scope: Construct, id: string, props: MachinesStackProps) {
    super(scope, id, props)
    const { names, dags } = props
    this.deadLetters = this.addDeadLetters(names)
    const arns = functionsAt('machine').map((line) => [line.placeholder ?? '', this.calledArn(line, props)] as const)
    const { role } = new MachineRole(this, 'Machines', { names, functionArns: arns.map(([, arn]) => arn) })
    const logs = new LogGroup(this, 'MachineLogs', {
      logGroupName: names.machineLogs,
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const common = {
      names,
      roleArn: role.roleArn,
      logGroupArn: logs.logGroupArn,
      functionArns: Object.fromEntries(arns),
    }
    this.machines = dags.map((dag) => this.addMachine(dag, common, props))
    const opening = functionsAt('machine')
      .filter(isTold)
      .map((line) => this.addFunction(line, props, common))
    const unseen = functionsAt('unseen')
      .filter((line) => stands(line, props.chosen))
      .map((line) => [line.name, this.addFunction(line, props, common)] as const)
    for (const line of functionsAt('told')) this.addFunction(line, props, common)
    for (const line of functionsAt('called')) if (stands(line, props.chosen)) this.addFunction(line, props)
    // No run starts on a machine whose functions are not there yet.
    new Map(unseen).get('start-run')?.node.addDependency(...opening)
    addOwnCalls(this, new Map(unseen), { names, deadLetters: this.deadLetters, tenants: props.chosen.tenants })
  }

  /** One that is told the machines' versions is made after them: they know it by its name. */
  private calledArn(line: FunctionLine, props: MachinesStackProps): string {
    return isTold(line) ? functionArn(this, props.names, line.name) : this.addFunction(line, props).functionArn
  }

  private addFunction(line: FunctionLine, props: MachinesStackProps, facts?: MachineFacts): IFunction {
    const { names, built, chosen } = props
    const { function: made } = new CatalogFunction(this, {
      line,
      names,
      bundle: join(built, 'functions', line.name),
      environment: environmentOf(line, this, names, facts),
      chosen,
      // Who a machine calls is called again by the machine; of a route the caller knows.
      ...(functionsAt('unseen').includes(line) ? { deadLetters: this.deadLetters } : {}),
    })
    return made
  }

  private addMachine(
    dag: DagMachineProps['dag'],
    common: Omit<DagMachineProps, 'dag' | 'definitions'>,
    { built }: MachinesStackProps,
  ): DagMachine {
    return new DagMachine(this, { ...common, dag, definitions: join(built, 'definitions') })
  }

  private addDeadLetters(names: Names): Queue {
    return new Queue(this, 'DeadLetters', {
      queueName: names.deadLetters,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: RemovalPolicy.DESTROY,
    })
  }
}

function isTold(line: FunctionLine): boolean {
  return rightsOf(line).includes('machine.deployed')
}
