import { holds } from '../../shared/auth/scope.ts'
import { Fault } from '../../shared/errors.ts'
import { type Principal, principalName } from '../../shared/principal.ts'
import type { Settings } from '../../shared/settings.ts'

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
  if (holds(principal.scopes, 'runs:author')) return
  const has = principal.scopes.join(', ') || 'none'
  const message = `Cannot take ${what} from ${principalName(principal)}: it needs the scope runs:author, and the credential has ${has}. Leave it out, or use a credential that has it.`
  throw new Fault('Rejected', 'missing_scope', message, { facts: { needed: 'runs:author' } })
}
