import type { Mutant } from '../mutant.ts'
import { operationOf, sending } from './rewriting.ts'

export const erasedStillListed: Mutant = {
  name: 'erased-still-listed',
  what: 'a run that is erased stays in the lists of what it is found by',
  client: sending((send) => async (command) => {
    const isEntry = command.input.Key?.pk?.S?.includes('#TERM#') === true
    return operationOf(command) === 'DeleteItem' && isEntry ? { $metadata: {} } : send(command)
  }),
}
