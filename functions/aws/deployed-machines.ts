import { DescribeStateMachineAliasCommand, type SFNClient } from '@aws-sdk/client-sfn'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import { Fault } from '../../shared/errors.ts'
import type { Core, DeployedDocument } from './core.ts'
import { machineArn, writeMachineId } from './machine-id.ts'
import { sdkFault } from './sdk.ts'

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

export async function readVersion(
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

export const GONE = new Set(['ResourceNotFound', 'StateMachineDoesNotExist'])

/** Alias of the version that runs of a deployed document of this hash are started on. */
export function aliasOfDocument(dag_hash: string): string {
  return `document-${dag_hash.slice(0, 40)}`
}
