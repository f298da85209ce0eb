import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  SFNClient,
  type SFNClientConfig,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { Fault } from '../../shared/errors.ts'
import type { Execution, Machine, TokenAnswer } from '../../shared/runs/machine.ts'
import { clearMachines } from './clear-machines.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { beingRemoved, createInlineMachines } from './inline-machines.ts'
import { machineArn, partArn, readMachineId } from './machine-id.ts'
import { type MachineUses, machineUsesOn } from './machine-uses.ts'
import { tableClient } from './run-store/table-client.ts'
import { sdkFault } from './sdk-fault.ts'
import type { Core } from './world.ts'

type MachineCore = Pick<Core, 'env' | 'deployed' | 'clock' | 'ids'>

/**
 * The Machine port on Step Functions. `machine` is an ARN, of a version where there is one, and says how many parts it
 * has; an execution's ARN is made of the machine's name and the run id, so nothing has to be remembered but when machines
 * of inline documents were used, in the table the environment names.
 */
export function openMachine(
  core: MachineCore,
  config: SFNClientConfig = {},
  tableConfig: DynamoDBClientConfig = {},
): Machine {
  const client = new SFNClient({ ...CLIENT_OPTIONS, ...config })
  let opened: MachineUses | undefined
  // Who only answers tokens has no table for this.
  const uses = () => {
    opened ??= machineUsesOn({ ...tableClient(core.env, tableConfig), clock: core.clock, ids: core.ids })
    return opened
  }
  const inline = createInlineMachines(core, client, uses)
  return {
    ensure: (definition, hash, parts) => inline.ensure(definition, hash, parts),
    async deployed(_definition, hash) {
      return (await inline.deployed(hash)) ?? notDeployed()
    },
    named: (definition, hash, parts) => inline.named(definition, hash, parts),
    async start(order) {
      await inline.use(order.machine)
      try {
        return await start(client, order)
      } catch (error) {
        if (nameOf(error) === 'StateMachineDoesNotExist') inline.forget(order.machine)
        throw error
      }
    },
    describe: (machine, name) => describe(client, executionArn(readMachineId(machine).arn, name)),
    clear: (limits) => clearMachines({ client, uses: uses(), arnOf: (name) => machineArn(core.env, name) }, limits),
    stop: (machine, name, cause) => stopWithParts(client, machine, name, cause),
    answer: (token, answer) => answerToken(client, token, answer),
    holderGone: () => false,
  }
}

/** Quotas of Step Functions for texts of ours. */
const CAUSE_CHARACTERS = 32_768
const ERROR_CHARACTERS = 256

async function start(
  client: SFNClient,
  { machine, name, input }: Parameters<Machine['start']>[0],
): Promise<'started' | 'exists'> {
  const command = new StartExecutionCommand({
    stateMachineArn: readMachineId(machine).arn,
    name,
    input: JSON.stringify(input),
  })
  try {
    // Repeated with the same input while it runs, AWS answers like the first time.
    await client.send(command)
    return 'started'
  } catch (error) {
    if (nameOf(error) === 'ExecutionAlreadyExists') return 'exists'
    if (nameOf(error) === 'StateMachineDoesNotExist') throw unknownMachine(name, error)
    if (nameOf(error) === 'StateMachineDeleting') throw beingRemoved(error)
    throw sdkFault(error, { doing: `start the execution of run "${name}"`, action: 'states:StartExecution' })
  }
}

async function describe(client: SFNClient, arn: string): Promise<Execution | undefined> {
  try {
    const { status, error, cause } = await client.send(new DescribeExecutionCommand({ executionArn: arn }))
    // A redriven execution waits to run again: for us it runs.
    const seen = status === undefined || status === 'PENDING_REDRIVE' ? 'RUNNING' : status
    return { status: seen, ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
  } catch (error) {
    if (nameOf(error) === 'ExecutionDoesNotExist') return undefined
    throw sdkFault(error, { doing: 'look at an execution', action: 'states:DescribeExecution' })
  }
}

/**
 * The whole first, then its parts, those that start others before those: nothing stopped can start what was passed by.
 * (Step Functions stops them too, as well as it can.)
 */
async function stopWithParts(client: SFNClient, machine: string, name: string, cause: string): Promise<void> {
  const id = readMachineId(machine)
  await stop(client, executionArn(id.arn, name), cause)
  for (let part = id.parts; part > 0; part--) {
    await stop(client, executionArn(partArn(id, part), `${name}-${part}`), cause)
  }
}

async function stop(client: SFNClient, arn: string, cause: string): Promise<void> {
  try {
    // Of an execution that has ended AWS says nothing and keeps its end.
    await client.send(new StopExecutionCommand({ executionArn: arn, cause: cause.slice(0, CAUSE_CHARACTERS) }))
  } catch (error) {
    if (nameOf(error) === 'ExecutionDoesNotExist') return
    throw sdkFault(error, { doing: 'stop an execution', action: 'states:StopExecution' })
  }
}

async function answerToken(client: SFNClient, taskToken: string, answer: TokenAnswer): Promise<'taken' | 'gone'> {
  const action = 'ok' in answer ? 'states:SendTaskSuccess' : 'states:SendTaskFailure'
  try {
    if ('ok' in answer) await client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(answer.ok) }))
    else await client.send(new SendTaskFailureCommand({ taskToken, ...cut(answer) }))
    return 'taken'
  } catch (error) {
    if (GONE.has(nameOf(error))) return 'gone'
    throw sdkFault(error, { doing: 'answer a task token', action })
  }
}

const GONE = new Set(['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'])

function cut({ error, cause }: { readonly error: string; readonly cause: string }) {
  return { error: error.slice(0, ERROR_CHARACTERS), cause: cause.slice(0, CAUSE_CHARACTERS) }
}

/** `arn:P:states:R:A:stateMachine:NAME[:version]` -> `arn:P:states:R:A:execution:NAME:<name>`. */
function executionArn(machine: string, name: string): string {
  const [arn, partition, service, region, account, , machineName] = machine.split(':')
  return [arn, partition, service, region, account, 'execution', machineName, name].join(':')
}

function nameOf(error: unknown): string {
  const known = error instanceof Fault ? error.cause : error
  return known instanceof Error ? known.name : ''
}

function notDeployed(): never {
  const message = 'Cannot start a deployed DAG: this deployment has no machine of its document. Deploy again.'
  throw new Fault('NotFound', 'machine_unknown', message)
}

function unknownMachine(name: string, cause: unknown): Fault {
  const message = `Cannot start run "${name}": its machine is not there any more. Deploy the DAG again, or start a new run from the document.`
  return new Fault('NotFound', 'machine_unknown', message, { cause })
}
