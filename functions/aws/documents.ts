import { Fault } from '../../shared/errors.ts'
import { researchMachine } from '../../shared/research/research-machine.ts'
import type { Documents } from '../../shared/world.ts'
import type { Core } from './world.ts'

/** What the deployment knows of one document: its text, its hash, and its machine's name. */
interface DeployedDocument {
  readonly document: string
  readonly dag_hash: string
  /** `sluice-<stage>-<slug>`, a key of MACHINE_ARNS; or an ARN. */
  readonly machine: string
}

/** The generated module of a deployment, by name of the document. */
export type DeployedDocuments = Readonly<Record<string, DeployedDocument>>

/** The Documents port on AWS: what was deployed. The package's examples are among them or nowhere. */
export function openDocuments({ deployed }: Pick<Core, 'deployed'>): Documents {
  return {
    names: () => Object.keys(deployed).sort(),
    read: async (name) => (Object.hasOwn(deployed, name) ? deployed[name]?.document : undefined),
  }
}

/** ARN of the deployed machine of this hash, a document's or the research chain's; undefined when it was not deployed. */
export function deployedMachine({ deployed, env }: Pick<Core, 'deployed' | 'env'>, hash: string): string | undefined {
  const research = { dag_hash: researchMachine().hash, machine: `sluice-${env.STAGE}-research` }
  const found = [...Object.values(deployed), research].find(({ dag_hash }) => dag_hash === hash)
  if (found === undefined || found.machine.startsWith('arn:')) return found?.machine
  const arn = Object.hasOwn(env.MACHINE_ARNS, found.machine) ? env.MACHINE_ARNS[found.machine] : undefined
  if (arn !== undefined) return arn
  const message = `Cannot start a deployed DAG: environment value MACHINE_ARNS does not name its machine "${found.machine}". Deploy again.`
  throw new Fault('Bug', 'setting_missing', message, { facts: { setting: 'MACHINE_ARNS' } })
}
