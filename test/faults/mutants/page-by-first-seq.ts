import type { Mutant } from '../mutant.ts'
import { type Command, operationOf, sending, sortKeyOf, withInput } from './rewriting.ts'

export const pageByFirstSeq: Mutant = {
  name: 'page-by-first-seq',
  what: 'a page is keyed by the first seq in it',
  client: sending((send) => (command) => send(isPage(command) ? renamed(command) : command)),
}

function isPage(command: Command): boolean {
  return operationOf(command) === 'PutItem' && sortKeyOf(command).startsWith('P#')
}

function renamed(command: Command): Command {
  const { Item: item = {} } = command.input
  const first = Number(item.base?.N) + 1
  return withInput(command, { ...command.input, Item: { ...item, sk: { S: `P#${String(first).padStart(12, '0')}` } } })
}
