import {
  CreateStateMachineCommand,
  DescribeStateMachineAliasCommand,
  type SFNClient,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import { Fault } from '../../shared/errors.ts'
import type { MachineText } from '../../shared/runs/machine.ts'
import { versionedFunction } from '../../shared/runs/release.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { type Core, type DeployedDocument, type FunctionEnvironment, functionArn, requiredVariable } from './core.ts'
import { type MachineId, machineArn, partArn, readMachineId, writeMachineId } from './machine-id.ts'
import type { MachineUses } from './machine-uses.ts'
import { sdkFault } from './sdk.ts'

/** Machines of documents that were not deployed: made at their first start, found by their name ever after. */
interface InlineMachines {
  ensure(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** What `ensure` answers; no call is made. */
  named(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** Of a document that was deployed; undefined = it was not. */
  readonly deployed: DeployedMachines
  /** AWS says that this one is gone: the next `ensure` makes it again. */
  forget(arn: string): void
  /** Before a run is started on a machine of either kind. Fault Unavailable machine_deleting. */
  use(arn: string): Promise<void>
}

export function createInlineMachines(
  core: Pick<Core, 'env' | 'deployed'> & Partial<Pick<Core, 'settings'>>,
  client: SFNClient,
  uses: () => MachineUses,
): InlineMachines {
  const { authoring, tags = {} } = core.settings ?? {}
  const isClosed = authoring === 'deployed_only'
  const known = new Map<string, Promise<string>>()
  const deployedMachine = openDeployedMachines(core, client)
  return {
    async ensure(definition, hash, parts = []) {
      const deployed = await deployedMachine(hash)
      if (deployed !== undefined) return deployed
      if (isClosed) throw makesNone()
      const made = known.get(hash) ?? createAll({ client, env: core.env, uses, tags }, { definition, hash, parts })
      known.set(hash, made)
      made.catch(() => known.delete(hash))
      return made
    },
    async named(definition, hash, parts = []) {
      return (await deployedMachine(hash)) ?? writeMachineId(inlineMachineId(core.env, { definition, hash, parts }))
    },
    deployed: (hash) => deployedMachine(hash),
    forget(arn) {
      for (const [hash, made] of known)
        void made.then((its) => its === arn && known.delete(hash)).catch(() => undefined)
    },
    async use(arn) {
      const name = nameOfMachine(arn)
      // A deployed one is never removed from here.
      if (name.startsWith(prefixOf(core.env)) && !(await uses().use(name))) throw machineBeingRemovedFault()
    },
  }
}

/** Its roles may not either (infra/aws/grants.ts, stageRights). */
function makesNone(): Fault {
  const message =
    'Cannot make a machine for this document: it is not deployed (any more), and this stage has authoring: deployed_only in its settings, so that deployments alone make machines. Deploy the document, or start a new run of the deployed one.'
  return new Fault('NotFound', 'machine_unknown', message)
}

/** Enough of the hash that two documents never meet (80 bits), short enough for the name's quota of 80. */
const HASH_IN_NAME = 20
const HASH_OF_PARTS = 8

interface Document {
  readonly definition: string
  readonly hash: string
  readonly parts: readonly MachineText[]
}

interface Making {
  readonly client: SFNClient
  readonly env: FunctionEnvironment
  readonly uses: () => MachineUses
  /** The stage's own. */
  readonly tags: Readonly<Record<string, string>>
}

/**
 * Parts first, so that a machine that can be started finds them. Their names hold a hash of all texts: a run that began
 * on an older compiler's texts of this document still finds its own. Noted before it is made: what stands can be removed.
 */
async function createAll(making: Making, { definition, hash, parts }: Document): Promise<string> {
  const { env, uses } = making
  const functions = functionArns(env)
  const id = inlineMachineId(env, { definition, hash, parts })
  const arns = parts.map(({ key }, i) => [key, partArn(id, i + 1)] as const)
  const values = { ...functions, ...Object.fromEntries(arns) }
  const names = arns.map(([, arn]) => nameOfMachine(arn))
  if (!(await uses().note(nameOfMachine(id.arn), names))) throw machineBeingRemovedFault()
  for (const [i, { text }] of parts.entries()) {
    await create(making, { name: names[i] ?? '', definition: bindPlaceholders(text, values), hash })
  }
  const name = nameOfMachine(id.arn)
  const arn = await create(making, { name, definition: bindPlaceholders(definition, values), hash })
  return writeMachineId({ ...id, arn })
}

function prefixOf({ STAGE }: FunctionEnvironment): string {
  return `sluice-${STAGE}-x-`
}

function inlineMachineId(env: FunctionEnvironment, { definition, hash, parts }: Document): MachineId {
  const set = sha256(JSON.stringify([definition, ...parts.map(({ text }) => text)])).slice(0, HASH_OF_PARTS)
  const suffix = parts.length === 0 ? '' : `_${set}`
  return { arn: machineArn(env, `${prefixOf(env)}${hash.slice(0, HASH_IN_NAME)}`), parts: parts.length, suffix }
}

async function create(
  { client, env, tags: own }: Pick<Making, 'client' | 'env' | 'tags'>,
  { name, definition, hash }: { readonly name: string; readonly definition: string; readonly hash: string },
): Promise<string> {
  const machine = {
    definition,
    roleArn: requiredVariable(env, 'STATE_MACHINE_ROLE_ARN'),
    ...logging(env),
    tracingConfiguration: { enabled: true },
  }
  const tags = Object.entries({ ...own, 'sluice:stage': env.STAGE, 'sluice:kind': 'inline', 'sluice:dag_hash': hash })
  try {
    // Answers the same ARN when a machine of this name and definition is there.
    const created = await client.send(
      new CreateStateMachineCommand({ name, ...machine, tags: tags.map(([key, value]) => ({ key, value })) }),
    )
    return created.stateMachineArn ?? machineArn(env, name)
  } catch (error) {
    return await updateExisting(client, { ...machine, stateMachineArn: machineArn(env, name) }, error)
  }
}

/**
 * The name is taken by another text of the same document, one an older version compiled or bound to other functions:
 * it becomes this one. Running executions keep theirs. Who finds it being updated was not first, which is as good.
 */
async function updateExisting(
  client: SFNClient,
  update: ConstructorParameters<typeof UpdateStateMachineCommand>[0],
  error: unknown,
): Promise<string> {
  const arn = String(update.stateMachineArn)
  const name = error instanceof Error ? error.name : ''
  if (name === 'ConflictException') return arn
  if (name !== 'StateMachineAlreadyExists') throw refusal(error, name)
  try {
    await client.send(new UpdateStateMachineCommand(update))
  } catch (failed) {
    if (failed instanceof Error && failed.name === 'ConflictException') return arn
    throw refusal(failed, failed instanceof Error ? failed.name : '')
  }
  return arn
}

function refusal(error: unknown, name: string): Fault {
  if (name === 'StateMachineLimitExceeded') {
    const message =
      'Cannot make a machine for this document: the account has no room for another state machine (10,000 unless AWS raised it). Raise the quota or delete machines nobody uses; of inline documents those unused for a week are removed by themselves.'
    return new Fault('LimitExceeded', 'machine_limit', message, { cause: error })
  }
  if (name === 'StateMachineDeleting') return machineBeingRemovedFault(error)
  return sdkFault(error, { doing: 'make the machine of this document', action: 'states:CreateStateMachine' })
}

export function machineBeingRemovedFault(cause?: unknown): Fault {
  const message = 'Cannot start now: the machine of this document is being deleted. Try again in a minute.'
  return new Fault('Unavailable', 'machine_deleting', message, { cause })
}

function functionArns(env: FunctionEnvironment): Readonly<Record<string, string>> {
  const called = (placeholder: string, arn: string) =>
    env.DEPLOYED_RELEASE === undefined ? arn : versionedFunction(arn, placeholder)
  const lines = FUNCTIONS.flatMap(({ name, placeholder }) =>
    placeholder === undefined ? [] : [[placeholder, called(placeholder, functionArn(env, name))] as const],
  )
  return Object.fromEntries(lines)
}

function logging({ MACHINE_LOG_GROUP_ARN: logGroupArn }: FunctionEnvironment) {
  if (logGroupArn === undefined) return {}
  const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }]
  return { loggingConfiguration: { level: 'ALL' as const, includeExecutionData: false, destinations } }
}

/** Of an ARN, of a version or not, and of what is written with parts. */
function nameOfMachine(machine: string): string {
  return readMachineId(machine).arn.split(':')[6] ?? ''
}

/**
 * Machine id (below) of the deployed document of this hash, or of the research chain; undefined when it was not
 * deployed.
 */
type DeployedMachines = (dag_hash: string) => Promise<string | undefined>

/**
 * Each deployed document's machine has an alias named after the document's hash (infra/aws/dag-machine.ts), which says the
 * version: a function's environment has room for twenty, and no document is ever started on the machine of another text
 * of it. A process asks once for each. Fault Bug machine_not_deployed when the alias is not there.
 */
function openDeployedMachines({ deployed, env }: Pick<Core, 'deployed' | 'env'>, client: SFNClient): DeployedMachines {
  const research = { dag_hash: researchMachine().hash, machine: `sluice-${env.STAGE}-research`, parts: 0 }
  const all = new Map([research, ...Object.values(deployed)].map((one) => [one.dag_hash, one]))
  const known = new Map<string, Promise<string>>()
  return async (hash) => {
    const found = all.get(hash)
    if (found === undefined) return undefined
    const asked = known.get(hash) ?? readVersion(client, env, found)
    known.set(hash, asked)
    asked.catch(() => known.delete(hash))
    return asked
  }
}

async function readVersion(
  client: SFNClient,
  env: Core['env'],
  { machine, dag_hash, parts }: Omit<DeployedDocument, 'document'>,
): Promise<string> {
  const stateMachineAliasArn = `${machineArn(env, machine)}:${aliasOfDocument(dag_hash)}`
  try {
    const alias = await client.send(new DescribeStateMachineAliasCommand({ stateMachineAliasArn }))
    const arn = alias.routingConfiguration?.[0]?.stateMachineVersionArn
    if (arn !== undefined) return writeMachineId({ arn, parts, suffix: '' })
  } catch (error) {
    const isGone = error instanceof Error && GONE.has(error.name)
    if (!isGone) {
      throw sdkFault(error, { doing: 'find the machine of a deployed DAG', action: 'states:DescribeStateMachineAlias' })
    }
  }
  const message = `Cannot start a deployed DAG: its machine "${machine}" has no alias for this document. Deploy again.`
  throw new Fault('Bug', 'machine_not_deployed', message, { facts: { machine } })
}

const GONE = new Set(['ResourceNotFound', 'StateMachineDoesNotExist'])

/** Alias of the version that runs of a deployed document of this hash are started on. */
function aliasOfDocument(dag_hash: string): string {
  return `document-${dag_hash.slice(0, 40)}`
}
