import type { Mutant } from '../mutant.ts'
import { isOfLeases, operationOf, sending, unguarded } from './rewriting.ts'

export const shardOverFull: Mutant = {
  name: 'shard-over-full',
  what: 'a shard of a pool takes a lease without looking whether it has room',
  client: sending((send) => (command) => {
    const isTaking = operationOf(command) === 'UpdateItem' && isOfLeases(command)
    return send(isTaking ? unguarded(command, (path) => path === 'most') : command)
  }),
}
