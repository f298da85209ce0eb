import type { Mutant } from '../mutant.ts'
import { type Command, operationOf, sending, sortKeyOf, unguarded } from './rewriting.ts'

export const projectionBackwards: Mutant = {
  name: 'projection-backwards',
  what: 'a late write of a projection takes the place of a newer one',
  client: sending((send) => (command) => send(isProjection(command) ? unguarded(command, () => true) : command)),
}

function isProjection(command: Command): boolean {
  return operationOf(command) === 'PutItem' && /^BI?#/.test(sortKeyOf(command))
}
