import type { Mutant } from '../mutant.ts'
import { type Command, operationOf, type Send, sending, sortKeyOf } from './rewriting.ts'

export const trimFirst: Mutant = {
  name: 'trim-first',
  what: 'a spill trims HEAD first and writes the page then',
  client: sending((send) => {
    const held: Command[] = []
    return async (command) => {
      if (operationOf(command) === 'PutItem' && sortKeyOf(command).startsWith('P#')) {
        held.push(command)
        return {}
      }
      const answer = await send(command)
      if (isTrim(command)) await writeHeld(send, held, command)
      return answer
    }
  }),
}

function isTrim({ input }: Command): boolean {
  return (
    Object.values(input.ExpressionAttributeNames ?? {}).includes('base_hash') && input.UpdateExpression !== undefined
  )
}

async function writeHeld(send: Send, held: Command[], { input }: Command): Promise<void> {
  const at = held.findIndex((page) => page.input.Item?.pk?.S === input.Key?.pk?.S)
  const [page] = at === -1 ? [] : held.splice(at, 1)
  if (page !== undefined) await send(page)
}
