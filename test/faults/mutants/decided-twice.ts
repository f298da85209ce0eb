import type { Mutant } from '../mutant.ts'
import { type Command, isAppend, sending, unguarded } from './rewriting.ts'

export const decidedTwice: Mutant = {
  name: 'decided-twice',
  what: 'a decision does not look whether the question was decided already',
  client: sending((send) => (command) => send(decides(command) ? unguarded(command, isDecided) : command)),
}

/** An append that changes an approval. */
function decides(command: Command): boolean {
  return isAppend(command) && Object.values(command.input.ExpressionAttributeNames ?? {}).includes('approvals')
}

function isDecided(path: string): boolean {
  return path.startsWith('approvals.') || path.startsWith('lanes.a')
}
