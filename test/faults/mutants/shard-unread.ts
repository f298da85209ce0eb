import type { Mutant } from '../mutant.ts'
import { operationOf, sending } from './rewriting.ts'

export const shardUnread: Mutant = {
  name: 'shard-unread',
  what: 'who looks for leases reads the first shard of a pool alone',
  client: sending((send) => async (command) => {
    const isOfShards = JSON.stringify(command.input.ExpressionAttributeValues ?? {}).includes('#LEASES#')
    const answer = await send(command)
    return operationOf(command) === 'Query' && isOfShards ? { ...answer, Items: [] } : answer
  }),
}
