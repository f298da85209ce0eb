import { createRequire } from 'node:module'
import type { Machine, State } from '../../shared/compile/asl.ts'

type Validate = (definition: unknown) => { readonly isValid: boolean; errorsText(): string }
// The package has no types; its README gives this shape.
const validate = createRequire(import.meta.url)('asl-validator') as Validate

/** What an independent validator has against a machine; empty if it is valid. (It writes into what it is given.) */
export function aslErrors(machine: Machine): string {
  const answer = validate(structuredClone(machine))
  return answer.isValid ? '' : answer.errorsText()
}

/**
 * The same for many machines at once, as branches of one: the validator takes about 80 ms to begin and 1 ms a block.
 * Each branch gets a prefix to all its names, so that only a name used twice in one machine is found.
 */
export function aslErrorsOfAll(machines: readonly Machine[]): string {
  const Branches = machines.map((machine, i) => prefixed(machine, `m${i}/`))
  return aslErrors({
    QueryLanguage: 'JSONata',
    StartAt: 'all',
    States: { all: { Type: 'Parallel', Branches, Output: {}, End: true } },
  })
}

function prefixed({ StartAt, States }: Machine, prefix: string): Machine {
  const renamed = Object.entries(States).map(([name, state]) => [prefix + name, prefixedState(state, prefix)])
  return { StartAt: prefix + StartAt, States: Object.fromEntries(renamed) }
}

function prefixedState(state: State, prefix: string): State {
  const to = <T extends { readonly Next: string }>(item: T): T => ({ ...item, Next: prefix + item.Next })
  const next = 'Next' in state ? to(state) : state
  switch (next.Type) {
    case 'Choice':
      return { ...next, Choices: next.Choices.map(to), Default: `${prefix}${next.Default}` }
    case 'Parallel':
      return { ...next, Branches: next.Branches.map((branch) => prefixed(branch, prefix)) }
    case 'Map':
      return { ...next, ItemProcessor: prefixed(next.ItemProcessor, prefix) }
    case 'Task':
      return next.Catch === undefined ? next : { ...next, Catch: next.Catch.map(to) }
    default:
      return next
  }
}
