import { contextKeysOf } from '../../shared/approvals/decision-binding.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import { holdsScope } from '../../shared/auth/scopes.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings/settings.ts'

/** What a request brings besides what the document it starts declares. */
interface Given {
  readonly context?: object | undefined
  readonly overrides?: object | undefined
  readonly inputs?: object | undefined
  readonly goal_contract?: unknown
}

/** Names of what a request changes or adds to a deployed document (`dag`: whose inputs are declared), for a sentence. */
export function authoredParts(given: Given, dag: { readonly inputs: object }): readonly string[] {
  const names = (values: object = {}) => Object.keys(values)
  const undeclared = names(given.inputs).filter((name) => !Object.hasOwn(dag.inputs, name))
  return [
    ...told('overrides', names(given.overrides)),
    ...told('context', names(given.context)),
    ...told('inputs the document does not declare', undeclared),
    ...(given.goal_contract === undefined ? [] : ['a goal contract']),
  ]
}

/** Keys that come along from the run it continues, are read, and are not declared: whoever sets them there authors. */
export function carriedParts(
  dag: Dag,
  earlier: { readonly run_id: string; readonly values: object } | undefined,
  given: readonly string[],
): readonly string[] {
  if (earlier === undefined) return []
  const read = new Set(dag.blocks.flatMap((block) => contextKeysOf(dag, block, {})))
  // The task of a document that moves one is that of the run before it.
  const isTask = (key: string) => key === 'task' && dag.task_gates !== undefined
  const carried = Object.keys(earlier.values).filter((key) => {
    return read.has(key) && !(Object.hasOwn(dag.inputs, key) || given.includes(key) || isTask(key))
  })
  return told(`context that comes along from run ${earlier.run_id}`, carried)
}

/** It has the document, overrides and context of the run before it: where nobody authors, only of one that brought none. */
export function changesFromRetriedRun(
  { meta }: { readonly meta: Meta },
  dag_hash: string,
  { authoring }: Pick<Settings, 'authoring'>,
) {
  if (dag_hash !== meta.dag_hash) return ['another document than the run it retries']
  const isOpen = authoring === 'open'
  const isPlain = meta.edited === undefined && Object.keys(meta.overrides).length === 0 && meta.given === undefined
  if (isOpen || isPlain) return []
  return ['the document, overrides and context of the run before it, which were not those of a plain start']
}

function told(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return [`${what} (${names.slice(0, SHOWN).join(', ').slice(0, 200)}${more})`]
}

const SHOWN = 5

/**
 * Lets through what runs a deployed document as it is. The rest is authoring: Fault Rejected missing_scope without
 * `runs:author`, authoring_closed where the place runs deployed documents alone (docs/tokens.md, "Authoring").
 */
export function requireAuthor(
  { authoring }: Pick<Settings, 'authoring'>,
  principal: Principal,
  parts: readonly string[],
): void {
  if (parts.length === 0) return
  const what = parts.join('; ')
  if (authoring === 'deployed_only') {
    const message = `Cannot take ${what}: this place runs deployed documents as they are (authoring: deployed_only in its settings). Deploy the change, or leave it out.`
    throw new Fault('Rejected', 'authoring_closed', message)
  }
  if (holdsScope(principal.scopes, 'runs:author')) return
  const has = principal.scopes.join(', ') || 'none'
  const message = `Cannot take ${what} from ${principalName(principal)}: it needs the scope runs:author, and the credential has ${has}. Leave it out, or use a credential that has it.`
  throw new Fault('Rejected', 'missing_scope', message, { facts: { needed: 'runs:author' } })
}
