import { DescribeStateMachineAliasCommand, type SFNClient } from '@aws-sdk/client-sfn'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import { Fault } from '../../shared/errors.ts'
import type { Documents } from '../../shared/world.ts'
import { type AwsSettings, type Core, type DeployedDocument, requiredSetting } from './core.ts'
import { sdkFault } from './sdk.ts'

/** The Documents port on AWS: what was deployed. The package's examples are among them or nowhere. */
export function openDocuments({ deployed }: Pick<Core, 'deployed'>): Documents {
  return {
    names: () => Object.keys(deployed).sort(),
    read: async (name) => (Object.hasOwn(deployed, name) ? deployed[name]?.document : undefined),
  }
}

/**
 * Machine id (below) of the deployed document of this hash, or of the research chain; undefined when it was not
 * deployed.
 */
export type DeployedMachines = (dag_hash: string) => Promise<string | undefined>

/**
 * Each deployed document's machine has an alias named after the document's hash (infra/aws/dag-machine.ts), which says the
 * version: a function's environment has room for twenty, and no document is ever started on the machine of another text
 * of it. A process asks once for each. Fault Bug machine_not_deployed when the alias is not there.
 */
export function openDeployedMachines(
  { deployed, env }: Pick<Core, 'deployed' | 'env'>,
  client: SFNClient,
): DeployedMachines {
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

/**
 * What the Machine port calls a machine here: its ARN, of a version where there is one; with parts `+<how many>` behind
 * it, and `.<hash>` where the names of the parts end in one. So whoever stops a run knows every execution it may have.
 */
export interface MachineId {
  readonly arn: string
  readonly parts: number
  /** Behind the number in the names of parts. */
  readonly suffix: string
}

export function writeMachineId({ arn, parts, suffix }: MachineId): string {
  return parts === 0 ? arn : `${arn}+${parts}${suffix.replace('_', '.')}`
}

export function readMachineId(id: string): MachineId {
  const [, arn = id, parts = '0', hash] = /^(.+)\+(\d+)(?:\.(\w+))?$/.exec(id) ?? []
  return { arn, parts: Number(parts), suffix: hash === undefined ? '' : `_${hash}` }
}

/** ARN of part k: the machine's name, `_`, the number. No name of a whole machine holds a `_`. */
export function partArn({ arn, suffix }: MachineId, part: number): string {
  return `${arn.split(':').slice(0, 7).join(':')}_${part}${suffix}`
}

/** Alias of the version that runs of a deployed document of this hash are started on. */
function aliasOfDocument(dag_hash: string): string {
  return `document-${dag_hash.slice(0, 40)}`
}

/** ARN of a machine of this deployment, in the account of its role. */
export function machineArn(env: AwsSettings, name: string): string {
  const [, partition = '', , , account = ''] = requiredSetting(env, 'STATE_MACHINE_ROLE_ARN').split(':')
  return `arn:${partition}:states:${env.AWS_REGION}:${account}:stateMachine:${name}`
}
