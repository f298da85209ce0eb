import type { StartRunBody } from '../../shared/api/start-run.ts'
import { bindAgents } from '../../shared/dag/bind-agents.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { parseDagApart } from '../../shared/dag/parse.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { isolateFor } from '../../shared/isolate.ts'
import { bindTaskGates } from '../../shared/tasks/bind-task-gates.ts'
import type { World } from '../../shared/world.ts'

type DocumentText = NonNullable<StartRunBody['dag']>

/** What checking a document needs. */
export type DocumentWorld = Pick<World, 'providers' | 'settings' | 'isolate'>

export interface BoundDocument {
  readonly dag: Dag
  readonly dag_hash: string
}

/**
 * A document as text, parsed, checked and bound to the agents and task gates of this place; `dag_hash` is of the document
 * as written. InvalidInput invalid_dag lists every error with its place. What is dear is done in the isolate, in the turn
 * of the tenant that asks.
 */
export async function bindDocument(
  { providers, settings: routing, isolate }: DocumentWorld,
  tenant: string,
  text: DocumentText,
  name: string | undefined,
): Promise<BoundDocument> {
  const named = name === undefined ? {} : { name }
  const place = { ...named, providers: providers.names(), routing }
  const parsed = await parseDagApart(text, place, isolateFor(isolate, { tenant }))
  if (!parsed.ok)
    throw invalidDag(
      name,
      parsed.errors.map((error) => ({ ...error })),
    )
  const bound = bindAgents(parsed.dag, routing)
  const gated = bound.ok ? bindTaskGates(bound.dag, routing) : bound
  if (!gated.ok) throw invalidDag(name, gated.issues)
  return { dag: gated.dag, dag_hash: parsed.dag_hash }
}

function invalidDag(name: string | undefined, errors: readonly Issue[]): Fault {
  const many = errors.length === 1 ? 'an error' : `${errors.length} errors`
  const message = `Cannot start: the DAG${name === undefined ? '' : ` "${name}"`} has ${many}, listed with ${errors.length === 1 ? 'its place' : 'their places'}.`
  return new Fault('InvalidInput', 'invalid_dag', message, {
    issues: errors.slice(0, 20),
  })
}
