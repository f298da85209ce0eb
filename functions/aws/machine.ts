import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import {
  DeleteStateMachineCommand,
  DeleteStateMachineVersionCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  ListStateMachineVersionsCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  type SFNClientConfig,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { Fault } from '../../shared/errors.ts'
import {
  type ClearLimits,
  type Execution,
  type Machine,
  machinesToClear,
  type ReplacedBefore,
  type TokenAnswer,
  versionsToPrune,
} from '../../shared/runs/machine.ts'
import type { Core } from './core.ts'
import { createInlineMachines, machineBeingRemovedFault } from './inline-machines.ts'
import { machineArn, partArn, readMachineId } from './machine-id.ts'
import { type MachineUse, type MachineUses, machineUsesOn } from './machine-uses.ts'
import { openReleases } from './releases.ts'
import { tableClient } from './run-store/table.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

type MachineCore = Pick<Core, 'env' | 'deployed' | 'clock' | 'ids'> & Partial<Pick<Core, 'settings'>>

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
  // Who only answers tokens has no table for these.
  const table = once(() => ({ ...tableClient(core.env, tableConfig), clock: core.clock, ids: core.ids }))
  const uses = once(() => machineUsesOn(table()))
  const releases = once(() => openReleases(core, table))
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
        return await start(client, await withRelease(core.env, releases, order))
      } catch (error) {
        if (errorName(error) === 'StateMachineDoesNotExist') inline.forget(order.machine)
        throw error
      }
    },
    describe: (machine, name) => describe(client, executionArn(readMachineId(machine).arn, name), core.env.STAGE),
    clear: (limits) => clearMachines({ client, uses: uses(), arnOf: (name) => machineArn(core.env, name) }, limits),
    prune: (before) => pruneVersions(client, [...deployedMachines(core)], before),
    takeBack: (because) => releases().takeBack(because),
    stop: (machine, name, cause) => stopWithParts(client, machine, name, cause),
    answer: (token, answer) => answerToken(client, token, answer),
    beat: (token) => beat(client, token),
    holderGone: () => false,
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

type Order = Parameters<Machine['start']>[0]

/** Where releases are gradual a run is drawn to one here, and its input says so for as long as it lives. */
async function withRelease(
  { DEPLOYED_RELEASE }: Core['env'],
  releases: () => ReturnType<typeof openReleases>,
  order: Order,
): Promise<Order> {
  if (DEPLOYED_RELEASE === undefined) return order
  const release = await releases().releaseOf(order.name)
  if (release === undefined) return order
  return { ...order, input: { ...order.input, release: release.id, code: release.code } }
}

/** Each machine of the deployment, and its parts. */
function* deployedMachines({ env, deployed }: MachineCore) {
  for (const { machine, parts } of [
    ...Object.values(deployed),
    { machine: `sluice-${env.STAGE}-research`, parts: 0 },
  ]) {
    const arn = machineArn(env, machine)
    yield { arn, isPart: false }
    for (let part = 1; part <= parts; part++) yield { arn: partArn({ arn, parts, suffix: '' }, part), isPart: true }
  }
}

/** Quotas of Step Functions for texts of ours. */
const CAUSE_CHARACTERS = 32_768
const ERROR_CHARACTERS = 256

async function start(client: SFNClient, { machine, name, input }: Order): Promise<'started' | 'exists'> {
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
    if (errorName(error) === 'ExecutionAlreadyExists') return 'exists'
    if (errorName(error) === 'StateMachineDoesNotExist') throw unknownMachine(name, error)
    if (errorName(error) === 'StateMachineDeleting') throw machineBeingRemovedFault(error)
    throw sdkFault(error, { doing: `start the execution of run "${name}"`, action: 'states:StartExecution' })
  }
}

interface Described {
  readonly execution: Execution
  /** That its run began with. */
  readonly release: string | undefined
}

async function describe(client: SFNClient, arn: string, stage: string): Promise<Execution | undefined> {
  try {
    const { status, error, cause, input } = await client.send(new DescribeExecutionCommand({ executionArn: arn }))
    // A redriven execution waits to run again: for us it runs.
    const seen = status === undefined || status === 'PENDING_REDRIVE' ? 'RUNNING' : status
    const execution = { status: seen, ...(error !== undefined && { error }), ...(cause !== undefined && { cause }) }
    tellOfDeath({ execution, release: releaseIn(input) }, stage)
    return execution
  } catch (error) {
    if (errorName(error) === 'ExecutionDoesNotExist') return undefined
    throw sdkFault(error, { doing: 'look at an execution', action: 'states:DescribeExecution' })
  }
}

function releaseIn(input = '{}'): string | undefined {
  // As an execution of whoever wrote it: nothing is believed of it but this.
  const { release } = JSON.parse(input) as { readonly release?: unknown }
  return typeof release === 'string' ? release : undefined
}

/**
 * Whoever asks looks for runs that lost their execution: such an end is the release's, though none of its functions was there to
 * say so. The others' are counted where they are recorded (run-store/run-metrics.ts).
 */
function tellOfDeath({ execution, release }: Described, stage: string): void {
  if (release === undefined || (execution.status !== 'FAILED' && execution.status !== 'TIMED_OUT')) return
  const Metrics = [{ Name: 'runs_died', Unit: 'Count' }]
  const CloudWatchMetrics = [{ Namespace: 'Sluice', Dimensions: [['stage', 'release']], Metrics }]
  const line = { stage, release, runs_died: 1, _aws: { Timestamp: Date.now(), CloudWatchMetrics } }
  process.stdout.write(`${JSON.stringify(line)}\n`)
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
    if (errorName(error) === 'ExecutionDoesNotExist') return
    throw sdkFault(error, { doing: 'stop an execution', action: 'states:StopExecution' })
  }
}

async function answerToken(client: SFNClient, taskToken: string, answer: TokenAnswer): Promise<'taken' | 'gone'> {
  const action = 'ok' in answer ? 'states:SendTaskSuccess' : 'states:SendTaskFailure'
  try {
    if ('ok' in answer) await client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(answer.ok) }))
    else await client.send(new SendTaskFailureCommand({ taskToken, ...fittingError(answer) }))
    return 'taken'
  } catch (error) {
    if (TOKEN_GONE.has(errorName(error))) return 'gone'
    throw sdkFault(error, { doing: 'answer a task token', action })
  }
}

async function beat(client: SFNClient, taskToken: string): Promise<'taken' | 'gone'> {
  try {
    await client.send(new SendTaskHeartbeatCommand({ taskToken }))
    return 'taken'
  } catch (error) {
    if (TOKEN_GONE.has(errorName(error))) return 'gone'
    throw sdkFault(error, { doing: 'say that a task goes on', action: 'states:SendTaskHeartbeat' })
  }
}

const TOKEN_GONE = new Set(['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'])

function fittingError({ error, cause }: { readonly error: string; readonly cause: string }) {
  return { error: error.slice(0, ERROR_CHARACTERS), cause: cause.slice(0, CAUSE_CHARACTERS) }
}

/** `arn:P:states:R:A:stateMachine:NAME[:version]` -> `arn:P:states:R:A:execution:NAME:<name>`. */
function executionArn(machine: string, name: string): string {
  const [arn, partition, service, region, account, , machineName] = machine.split(':')
  return [arn, partition, service, region, account, 'execution', machineName, name].join(':')
}

function errorName(error: unknown): string {
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

interface Parts {
  readonly client: SFNClient
  readonly uses: MachineUses
  /** ARN of a machine by its name. */
  arnOf(name: string): string
}

/** Step Functions takes one deletion a second after the first hundred; the rest waits for the next call. */
const PER_CALL = 300

/**
 * Removes what is idle. AWS ends executions of a machine that is deleted, so: nothing runs on it, and its record says that
 * nothing was about to be started since; both are looked at before the record is marked, which fails if a start was
 * faster and which every later start sees.
 */
async function clearMachines({ client, uses, arnOf }: Parts, limits: ClearLimits): Promise<number> {
  const known = await uses.all()
  const begun = known.filter(({ leaving }) => leaving !== undefined)
  const idle = machinesToClear(
    known.filter(({ leaving }) => leaving === undefined),
    limits,
  )
  let removed = 0
  for (const use of [...begun, ...idle]) {
    if (removed === PER_CALL) break
    if (await isBusy(client, arnOf(use.name), use)) await uses.use(use.name)
    else if (await uses.leave(use)) {
      for (const name of [use.name, ...use.parts]) await remove(client, arnOf(name))
      await uses.forget(use.name)
      removed += 1
    }
  }
  return removed
}

/** Whose removal has begun was looked at before. */
async function isBusy(client: SFNClient, stateMachineArn: string, { leaving }: MachineUse): Promise<boolean> {
  if (leaving !== undefined) return false
  try {
    const list = new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', maxResults: 1 })
    const { executions = [] } = await client.send(list)
    return executions.length > 0
  } catch (error) {
    if (error instanceof Error && MACHINE_GONE.has(error.name)) return false
    throw sdkFault(error, { doing: 'look for executions of a machine', action: 'states:ListExecutions' })
  }
}

/** Somebody deleted it by hand, or it was never made. */
const MACHINE_GONE = new Set(['StateMachineDoesNotExist', 'StateMachineDeleting'])

async function remove(client: SFNClient, stateMachineArn: string): Promise<void> {
  try {
    // Of one that is gone AWS says nothing.
    await client.send(new DeleteStateMachineCommand({ stateMachineArn }))
  } catch (error) {
    throw sdkFault(error, { doing: 'remove an unused machine', action: 'states:DeleteStateMachine' })
  }
}

/** A machine of a deployed document, or a part of one, by its ARN. */
interface Pruned {
  readonly arn: string
  readonly isPart: boolean
}

/** Removes old versions of these machines. Executions that began on one go on: AWS says so of DeleteStateMachineVersion. */
async function pruneVersions(client: SFNClient, machines: readonly Pruned[], before: ReplacedBefore): Promise<number> {
  let removed = 0
  for (const { arn, isPart } of machines) {
    const old = versionsToPrune(await versionsOf(client, arn), isPart ? before.parts : before.machines)
    for (const version of old) removed += await removeVersion(client, version.arn)
  }
  return removed
}

async function versionsOf(client: SFNClient, stateMachineArn: string) {
  const versions: { readonly arn: string; readonly made_at: number }[] = []
  let nextToken: string | undefined
  do {
    const list = new ListStateMachineVersionsCommand({ stateMachineArn, maxResults: 1_000, nextToken })
    const page = await client.send(list).catch((error: unknown) => {
      // A deployment is taking it away.
      if (error instanceof Error && error.name === 'StateMachineDoesNotExist') return undefined
      throw sdkFault(error, { doing: 'list versions of a machine', action: 'states:ListStateMachineVersions' })
    })
    for (const { stateMachineVersionArn: arn, creationDate } of page?.stateMachineVersions ?? []) {
      if (arn !== undefined && creationDate !== undefined) versions.push({ arn, made_at: creationDate.getTime() })
    }
    nextToken = page?.nextToken
  } while (nextToken !== undefined)
  return versions
}

/** AWS keeps one that an alias names, and says Conflict of one that a deployment is at. */
const KEPT = new Set(['ConflictException', 'ValidationException', 'ResourceNotFound', 'StateMachineDoesNotExist'])

async function removeVersion(client: SFNClient, stateMachineVersionArn: string): Promise<number> {
  try {
    await client.send(new DeleteStateMachineVersionCommand({ stateMachineVersionArn }))
    return 1
  } catch (error) {
    if (error instanceof Error && KEPT.has(error.name)) return 0
    throw sdkFault(error, { doing: 'remove an old version of a machine', action: 'states:DeleteStateMachineVersion' })
  }
}
