import type { StartRunBody } from '../../shared/api/start-run.ts'
import { bindAgents } from '../../shared/dag/bind-agents.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { bindTaskGates } from '../../shared/tasks/bind-task-gates.ts'
import type { World } from '../../shared/world.ts'

/**
 * The document of a start request, parsed, checked and bound to the agents and task gates of this place; `dag_hash` is
 * of the document as written. InvalidInput invalid_dag lists every error with its place.
 */
export async function readDocument(
  world: Pick<World, 'documents' | 'providers' | 'settings'>,
  body: StartRunBody,
): Promise<{ readonly dag: Dag; readonly dag_hash: string }> {
  const { text, name } = await source(world, body)
  const { providers, settings: routing } = world
  const named = name === undefined ? {} : { name }
  const parsed = parseDag(text, { ...named, providers: providers.names(), routing })
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

async function source(world: Pick<World, 'documents'>, { example, name, dag }: StartRunBody) {
  if (dag !== undefined) return { text: dag, name }
  const from = example === undefined ? 'deployed' : 'example'
  const wanted = example ?? name ?? ''
  const text = await world.documents.read(wanted, from)
  if (text !== undefined) return { text, name: wanted }
  const known = world.documents.names().join(', ') || 'none'
  const message = `Cannot start: there is no ${from === 'example' ? 'example' : 'DAG'} "${wanted}". There are: ${known}.`
  throw new Fault('NotFound', 'unknown_dag', message)
}
