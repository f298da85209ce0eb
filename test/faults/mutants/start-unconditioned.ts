import type { Mutant } from '../mutant.ts'
import { type Command, operationOf, sending, sortKeyOf, unguarded } from './rewriting.ts'

export const startUnconditioned: Mutant = {
  name: 'start-unconditioned',
  what: 'a start writes HEAD, META and CTX whether or not they are there',
  client: sending((send) => (command) => send(isBirth(command) ? unguarded(command, () => true) : command)),
}

function isBirth(command: Command): boolean {
  return operationOf(command) === 'PutItem' && /^(HEAD|META|CTX)$/.test(sortKeyOf(command))
}
