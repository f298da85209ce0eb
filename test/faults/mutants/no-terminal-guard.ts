import type { Mutant } from '../mutant.ts'
import { isAppend, sending, unguarded } from './rewriting.ts'

export const noTerminalGuard: Mutant = {
  name: 'no-terminal-guard',
  what: 'an append does not look whether the run has ended',
  client: sending((send) => (command) => {
    return send(isAppend(command) ? unguarded(command, (path) => path === 'state') : command)
  }),
}
